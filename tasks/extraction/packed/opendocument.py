"""An OpenDocument file (text, table or slides) as the tree of a page, one a slide or sheet: what is shown, without
tracked deletions, hidden and struck-out text, comments and the marks of notes."""

from dataclasses import dataclass

from lxml import etree, html

from tasks.extraction.markup import names
from tasks.extraction.packed.archive import (
    Archive,
    PackedError,
    attribute,
    child,
    children,
    line,
    local,
    resolved,
    write,
)
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.titles import names_nothing

_SKIPPED = names(
    "tracked-changes annotation annotation-end note-citation notes forms title desc hidden-text script binary-data "
    "ruby-text covered-table-cell page-number page-count event-listeners shapes header footer date-time "
    "sequence-decls variable-decls user-field-decls content-validations calculation-settings"
)
_SIGNS = {"tab": " ", "line-break": "\n", "soft-page-break": ""}
_SHEETS = ("presentation", "spreadsheet", "drawing")


@dataclass(frozen=True)
class _Look:
    """The look that a style gives its text; None = unset."""

    hidden: bool | None = None
    struck: bool | None = None
    raised: str | None = None  # sup | sub | "" for neither


def _look(style: etree._Element) -> _Look:
    properties = child(style, "text-properties")
    display, strokes = (
        attribute(properties, "display"),
        [
            value
            for name in ("text-line-through-style", "text-line-through-type")
            if (value := attribute(properties, name)) is not None
        ],
    )
    position = attribute(properties, "text-position")
    return _Look(
        None if display is None else display == "none",
        any(value != "none" for value in strokes) if strokes else None,
        None if position is None else _raised(position),
    )


def _raised(position: str) -> str:
    first = (position.split() or [""])[0]
    if first in ("super", "sub"):
        return "sup" if first == "super" else "sub"
    return "sub" if first.startswith("-") else "sup" if first.strip("0%.") else ""


def read_opendocument(archive: Archive) -> tuple[str, list[html.HtmlElement]]:
    """Return the title and a tree: one, or one for each slide or sheet. Raises PackedError: it is damaged, encrypted or
    too large."""
    manifest = archive.xml("META-INF/manifest.xml")
    if manifest is not None and any(local(one) == "encryption-data" for one in manifest.iter()):
        raise PackedError(DocumentReason.ENCRYPTED)
    content = archive.xml("content.xml")
    document = next(children(body), None) if (body := child(content, "body")) is not None else None
    if content is None or document is None:
        raise PackedError(DocumentReason.EXTRACTION_FAILED)
    reader = _Reader(archive, content)
    bodies = []
    parted = local(document) in _SHEETS
    for part in children(document) if parted else (document,):
        tree = html.Element("body")
        if not parted:
            reader.blocks(part, tree)
        elif local(part) not in ("page", "table"):
            continue
        elif not reader.is_hidden(part):
            reader.block(part, tree)
        bodies.append(tree)
        for note in reader.notes:
            reader.blocks(note, tree)
        reader.notes.clear()
    title = line(child(archive.xml("meta.xml"), "meta", "title"))
    return reader.title if names_nothing(title) else title, bodies


class _Reader:
    def __init__(self, archive: Archive, content: etree._Element) -> None:
        self.title = ""
        self.notes: list[etree._Element] = []
        self._looks: dict[str, _Look] = {}
        self._parents: dict[str, str] = {}
        self._hidden = set[str]()  # styles of slides, sheets and sections that are not shown
        self._archive = archive
        for part in (archive.xml("styles.xml"), content):
            for style in [] if part is None else part.iter("{*}style"):
                name = attribute(style, "name") or ""
                self._looks[name] = _look(style)
                self._parents[name] = attribute(style, "parent-style-name") or ""
                drawn, sheet = child(style, "drawing-page-properties"), child(style, "table-properties")
                if attribute(drawn, "visibility") == "hidden" or attribute(sheet, "display") == "false":
                    self._hidden.add(name)

    def is_hidden(self, element: etree._Element) -> bool:
        """Tell whether a slide, sheet, section, row or paragraph is not shown."""
        return (
            (attribute(element, "style-name") or "") in self._hidden
            or attribute(element, "visibility") in ("collapse", "filter")
            or attribute(element, "display") == "none"
            or attribute(element, "is-hidden") == "true"
        )

    def blocks(self, element: etree._Element, parent: html.HtmlElement) -> None:
        """Append the paragraphs and tables below an element to a part of the page."""
        for below in children(element):
            self.block(below, parent)

    def block(self, element: etree._Element, parent: html.HtmlElement) -> None:
        """Append what an element holds."""
        name = local(element)
        if name in _SKIPPED or self.is_hidden(element):
            return
        if name in ("p", "h"):
            paragraph = etree.SubElement(parent, "p")
            boxes: list[etree._Element] = []
            self._inline(element, paragraph, self._of_style(element, _Look()), boxes)
            if not self.title and (name == "h" or attribute(element, "style-name") == "Title"):
                self.title = line(paragraph)
            for box in boxes:
                self.blocks(box, parent)
        else:
            tag = {"table": "table", "table-row": "tr", "table-cell": "td"}.get(name, "div")
            self.blocks(element, etree.SubElement(parent, tag))

    def _of_style(self, element: etree._Element, look: _Look) -> _Look:
        """Return the look of an element's text: its style and the parents of that style override the elements around
        it."""
        name, seen = attribute(element, "style-name") or "", set[str]()
        hidden, struck, raised = None, None, None
        while name and name not in seen:
            seen.add(name)
            style = self._looks.get(name, _Look())
            hidden = style.hidden if hidden is None else hidden
            struck = style.struck if struck is None else struck
            raised = style.raised if raised is None else raised
            name = self._parents.get(name, "")
        return _Look(
            look.hidden if hidden is None else hidden,
            look.struck if struck is None else struck,
            look.raised if raised is None else raised,
        )

    def _inline(
        self, element: etree._Element, paragraph: html.HtmlElement, look: _Look, boxes: list[etree._Element]
    ) -> None:
        self._write(paragraph, element.text, look)
        for below in children(element):
            name = local(below)
            if name == "note":
                self.notes += [body for body in children(below) if local(body) == "note-body"]
            elif (formula := self._formula(below)) is not None:
                _copy(formula, paragraph)
            elif name in ("frame", "text-box", "custom-shape"):
                boxes.append(below)
            elif name == "s":
                self._write(paragraph, " ", look)
            elif name in _SIGNS:
                self._write(paragraph, _SIGNS[name], look)
            elif name not in _SKIPPED and not self.is_hidden(below):
                self._inline(below, paragraph, self._of_style(below, look), boxes)
            self._write(paragraph, below.tail, look)

    def _formula(self, frame: etree._Element) -> etree._Element | None:
        """Return the formula that a frame shows, which is a part of its own; None if it shows something else."""
        name = attribute(child(frame, "object"), "href")
        root = self._archive.xml(f"{resolved('', name)}/content.xml") if name else None
        return root if root is not None and local(root) == "math" else None

    @staticmethod
    def _write(paragraph: html.HtmlElement, text: str | None, look: _Look) -> None:
        if text and not look.hidden and not look.struck:
            write(paragraph, text, look.raised or "")


def _copy(element: etree._Element, parent: html.HtmlElement) -> None:
    """Append an element and those below it to a part of the page, without namespaces."""
    made = etree.SubElement(parent, local(element))
    made.text = element.text
    for below in children(element):
        _copy(below, made)
