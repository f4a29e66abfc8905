"""A Word file (.docx) as the tree of a page: what a reader sees of it, with tracked insertions and without tracked
deletions, hidden and struck-out text, comments, running heads and the marks of notes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lxml import etree, html

from tasks.extraction.markup import names
from tasks.extraction.packed.archive import Archive, attribute, child, children, line, local, write

_SKIPPED = names(
    "del moveFrom rPr pPr tblPr tblGrid tcPr trPr sectPr sdtPr instrText delText delInstrText annotationRef "
    "footnoteRef endnoteRef footnoteReference endnoteReference commentReference rt Fallback oMathParaPr ctrlPr"
)
_BLOCKS = frozenset({"p", "tbl"})
_SIGNS = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "rad": "√", "d": "("}
_AFTER = {"num": "/", "d": ")"}  # the stroke of a fraction in a formula, and its brackets
_OF_FORMULA = {"sup": "superscript", "sub": "subscript"}
_OFF = frozenset({"0", "false", "off", "none"})
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_RAISED = {"superscript": "sup", "subscript": "sub"}
# The characters of the font Symbol that values are written with; files have them in the private area or below it.
_SYMBOLS = dict(zip(b"\xb0\xb1\xb4\xb8\xa3\xb3\xb9\xbb\xd7\xa2\xb2-mW", "°±×÷≤≥≠≈·′″−μΩ", strict=True))


@dataclass(frozen=True)
class _Look:
    """The look that a style or a run gives its text; None = unset."""

    hidden: bool | None = None
    struck: bool | None = None
    raised: str | None = None  # the value of vertAlign

    def over(self, other: "_Look") -> "_Look":
        """Return the look, with unset properties taken from another one."""
        return _Look(
            other.hidden if self.hidden is None else self.hidden,
            other.struck if self.struck is None else self.struck,
            other.raised if self.raised is None else self.raised,
        )


_PLAIN = _Look()


def _switch(properties: etree._Element | None, *names: str) -> bool | None:
    """Return whether one of some properties is on; None if none is named."""
    found = [attribute(one, "val") for name in names if (one := child(properties, name)) is not None]
    return any((value or "").lower() not in _OFF for value in found) if found else None


def _look(properties: etree._Element | None) -> _Look:
    return _Look(
        _switch(properties, "vanish", "specVanish"),
        _switch(properties, "strike", "dstrike"),
        attribute(child(properties, "vertAlign"), "val"),
    )


def read_word(archive: Archive) -> tuple[str, list[html.HtmlElement]]:
    """Return the title and the tree. Raises PackedError: it is damaged, or expands too far."""
    name = archive.main_part()
    root = archive.xml(name)
    parts = dict(archive.targets(name).values())
    reader = _Reader(archive.xml(parts.get("styles", "")))
    body = html.Element("body")
    document = child(root, "body")
    if document is not None:
        reader.blocks(document, body)
    for reference, kind in _NOTES.items():
        wanted = reader.notes[reference]
        notes = archive.xml(parts.get(kind, ""))
        for note in [] if notes is None or not wanted else children(notes):
            if attribute(note, "id") in wanted:
                reader.blocks(note, body)
    return reader.title or line(child(archive.core_properties(), "title")), [body]


class _Reader:
    def __init__(self, styles: etree._Element | None) -> None:
        self.title = ""
        self.notes: dict[str, set[str | None]] = {reference: set() for reference in _NOTES}
        self._names = dict[str, str]()
        self._looks = dict[str, _Look]()
        self._bases = dict[str, str]()
        self._open: html.HtmlElement | None = None  # a paragraph without its end, which the next one continues
        self._fields: list[bool] = []  # of each open field, whether its instruction is being read
        for style in [] if styles is None else children(styles):
            name = attribute(style, "styleId") or ""
            self._names[name] = (attribute(child(style, "name"), "val") or "").lower()
            self._looks[name] = _look(child(style, "rPr"))
            self._bases[name] = attribute(child(style, "basedOn"), "val") or ""

    def _of_style(self, name: str | None) -> _Look:
        look, seen = _PLAIN, set[str]()
        while name and name not in seen:
            seen.add(name)
            look = look.over(self._looks.get(name, _PLAIN))
            name = self._bases.get(name)
        return look

    def blocks(self, element: etree._Element, parent: html.HtmlElement) -> None:
        """Append the paragraphs and tables below an element to a part of the page."""
        for below in children(element):
            name = local(below)
            if name == "p":
                self._paragraph(below, parent)
            elif name == "tbl":
                self._table(below, parent)
            elif name not in _SKIPPED:
                self.blocks(below, parent)

    def _table(self, table: etree._Element, parent: html.HtmlElement) -> None:
        made = etree.SubElement(parent, "table")
        for row in _rows(table, "tr"):
            if child(row, "trPr", "del") is not None or _switch(child(row, "trPr"), "hidden"):
                continue
            cells = etree.SubElement(made, "tr")
            for cell in _rows(row, "tc"):
                if child(cell, "tcPr", "cellDel") is None:
                    self.blocks(cell, etree.SubElement(cells, "td"))

    def _paragraph(self, element: etree._Element, parent: html.HtmlElement) -> None:
        properties = child(element, "pPr")
        style = attribute(child(properties, "pStyle"), "val")
        paragraph = self._open if self._open is not None else etree.SubElement(parent, "p")
        mark = child(properties, "rPr")
        joined = child(mark, "del") is not None or child(mark, "moveFrom") is not None
        self._open = paragraph if joined else None
        boxes: list[etree._Element] = []
        self._inline(element, paragraph, self._of_style(style), boxes)
        if not self.title and self._names.get(style or "") == "title":
            self.title = line(paragraph)
        for box in boxes:
            held, self._open = self._open, None
            self.blocks(box, parent)
            self._open = held

    def _inline(
        self, element: etree._Element, paragraph: html.HtmlElement, look: _Look, boxes: list[etree._Element]
    ) -> None:
        for below in children(element):
            name = local(below)
            if name in self.notes:
                self.notes[name].add(attribute(below, "id"))
            elif name == "r" and child(below, "rPr") is not None:
                self._inline(below, paragraph, self._of_run(child(below, "rPr"), look), boxes)
            elif name == "fldChar":
                self._field(attribute(below, "fldCharType"))
            elif name == "txbxContent":
                boxes.append(below)
            elif name in _OF_FORMULA:
                self._inline(below, paragraph, replace(look, raised=_OF_FORMULA[name]), boxes)
            elif name not in _SKIPPED:
                self._write(paragraph, _text(below, name), look)
                self._inline(below, paragraph, look, boxes)
                self._write(paragraph, _AFTER.get(name, ""), look)

    def _of_run(self, properties: etree._Element | None, paragraph: _Look) -> _Look:
        """Return the look of a run: its own style toggles hidden and struck-out (ECMA-376, 17.7.3)."""
        style = self._of_style(attribute(child(properties, "rStyle"), "val"))
        mixed = _Look(
            bool(style.hidden) != bool(paragraph.hidden),
            bool(style.struck) != bool(paragraph.struck),
            paragraph.raised if style.raised is None else style.raised,
        )
        return _look(properties).over(mixed)

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif self._fields and kind == "separate":
            self._fields[-1] = False
        elif self._fields and kind == "end":
            self._fields.pop()

    def _write(self, paragraph: html.HtmlElement, text: str, look: _Look) -> None:
        if text and not look.hidden and not look.struck and not any(self._fields):
            write(paragraph, text, _RAISED.get(look.raised or "", ""))


def _rows(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield the rows of a table, or the cells of a row, also those inside of controls and insertions."""
    for below in children(element):
        if local(below) == name:
            yield below
        elif local(below) not in _SKIPPED and local(below) not in _BLOCKS:
            yield from _rows(below, name)


def _text(element: etree._Element, name: str) -> str:
    """Return the characters that an element of a run stands for."""
    if name == "t":
        return element.text or ""
    if name == "sym":
        return _symbol(attribute(element, "font") or "", attribute(element, "char") or "")
    return _SIGNS.get(name, "")


def _symbol(font: str, code: str) -> str:
    """Return the character of a symbol, by its font and its hexadecimal code; nothing for an ornament."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if font == "Symbol":
        return _SYMBOLS.get(number & 0xFF, "")
    return chr(number) if 0x20 < number < 0xD800 else ""
