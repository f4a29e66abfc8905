"""The parts of a file that is a ZIP archive, read within limits, because anyone may have made it."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import unquote, urldefrag

from lxml import etree, html

from tasks.extraction.reasons import DocumentReason

MAX_EXPANDED = 64_000_000  # bytes of all parts that are read; the XML of a book of a thousand pages has half of it
_MOST_PARTS = 20_000
_ENCRYPTED = 0x1  # flag of an entry
_BLOCK = 1 << 16
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


class PackedError(Exception):
    """A file that is not read, with its reason."""

    def __init__(self, reason: DocumentReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Archive:
    """The parts of a ZIP archive by their names."""

    def __init__(self, body: bytes) -> None:
        """Read its list of parts. Raises PackedError: it is damaged, encrypted, or has too many parts."""
        try:
            self._file = zipfile.ZipFile(BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise PackedError(DocumentReason.EXTRACTION_FAILED) from error
        entries = self._file.infolist()
        if len(entries) > _MOST_PARTS:
            raise PackedError(DocumentReason.EXPANDS_TOO_FAR)
        if any(entry.flag_bits & _ENCRYPTED for entry in entries):
            raise PackedError(DocumentReason.ENCRYPTED)
        self._names = {entry.filename.lower(): entry for entry in entries}
        self._left = MAX_EXPANDED

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names

    def read(self, name: str) -> bytes:
        """Return a part; empty if there is none. Raises PackedError: it is damaged, or all parts together expand to
        more than `MAX_EXPANDED`; the sizes in their headers are not trusted."""
        entry = self._names.get(name.lower())
        if entry is None:
            return b""
        blocks: list[bytes] = []
        try:
            with self._file.open(entry) as stream:
                while block := stream.read(min(_BLOCK, self._left + 1)):
                    self._left -= len(block)
                    if self._left < 0:
                        raise PackedError(DocumentReason.EXPANDS_TOO_FAR)
                    blocks.append(block)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
            raise PackedError(DocumentReason.EXTRACTION_FAILED) from error
        return b"".join(blocks)

    def xml(self, name: str) -> etree._Element | None:
        """Return the root of a part; None if it is missing. Raises PackedError: it is damaged, or it declares
        entities, which no program writes into such a file."""
        body = self.read(name)
        if not body:
            return None
        try:
            root = etree.fromstring(body, _PARSER)
        except etree.XMLSyntaxError as error:
            raise PackedError(DocumentReason.EXTRACTION_FAILED) from error
        declared = root.getroottree().docinfo.internalDTD
        if declared is not None and next(declared.iterentities(), None) is not None:
            raise PackedError(DocumentReason.EXTRACTION_FAILED)
        return root

    def targets(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the references of a part of an Office file: by id the last word of its type, and its name."""
        folder, file = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{file}.rels"))
        return {
            relation.get("Id", ""): (
                relation.get("Type", "").rpartition("/")[2],
                resolved(folder, relation.get("Target", "")),
            )
            for relation in ([] if root is None else children(root))
            if relation.get("TargetMode") != "External"
        }

    def main_part(self) -> str:
        """Return the name of the document in an Office file. Raises PackedError: it has none."""
        for kind, name in self.targets("").values():
            if kind == "officeDocument" and name in self:
                return name
        raise PackedError(DocumentReason.EXTRACTION_FAILED)

    def core_properties(self) -> etree._Element | None:
        """Return the properties of an Office file; None if it has none."""
        return self.xml(next((name for kind, name in self.targets("").values() if kind == "core-properties"), ""))


def resolved(folder: str, reference: str) -> str:
    """Return the name of a part that a part in a folder refers to."""
    path = unquote(urldefrag(reference)[0])
    return posixpath.normpath(path if path.startswith("/") else posixpath.join(folder, path)).lstrip("/")


def local(element: etree._Element) -> str:
    """Return an element's name without its namespace: files of the strict standard have other ones."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements directly below another, without comments."""
    return (child for child in element if isinstance(child.tag, str))


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """Return the first element below another along a path of names; None if there is none."""
    for name in names:
        if element is None:
            return None
        element = next((below for below in children(element) if local(below) == name), None)
    return element


def attribute(element: etree._Element | None, name: str) -> str | None:
    """Return an attribute by its name without namespace; None if there is none."""
    if element is None:
        return None
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), None)


def write(paragraph: html.HtmlElement, text: str, tag: str = "") -> None:
    """Append text to a paragraph of a page, within a tag where one is given."""
    last = paragraph[-1] if len(paragraph) else None
    if tag and last is not None and last.tag == tag and not last.tail:
        last.text = (last.text or "") + text
    elif tag:
        etree.SubElement(paragraph, tag).text = text
    elif last is not None:
        last.tail = (last.tail or "") + text
    else:
        paragraph.text = (paragraph.text or "") + text


def line(element: etree._Element | None) -> str:
    """Return the text of an element with single spaces; empty if there is none."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
