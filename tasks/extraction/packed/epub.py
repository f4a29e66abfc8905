"""An EPUB book as the trees of pages, one a chapter, in reading order."""

import posixpath
import re

from lxml import etree, html

from tasks.extraction.markup import decode, parse
from tasks.extraction.packed.archive import Archive, PackedError, attribute, child, children, line, resolved
from tasks.extraction.reasons import DocumentReason

_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_FONTS = re.compile(r"http://(?:www\.idpf\.org/2008/embedding|ns\.adobe\.com/pdf/enc#RC)$")  # hide fonts, not text
_CLOSED = re.compile(
    r"<(?!(?:br|hr|img|link|meta|input|col|wbr|area|base|source)\b)([A-Za-z][\w:-]{0,40})([^<>]{0,1000})/>"
)
_TYPES = "{http://www.idpf.org/2007/ops}type"
_LEFT_OUT = frozenset({"noteref", "pagebreak", "toc", "landmarks", "page-list"})  # types of elements


def read_epub(archive: Archive) -> tuple[str, list[html.HtmlElement]]:
    """Return the title and a tree for each chapter. Raises PackedError: it is damaged, encrypted or too large."""
    if _is_encrypted(archive):
        raise PackedError(DocumentReason.ENCRYPTED)
    name, package = package_of(archive)
    manifest, spine = child(package, "manifest"), child(package, "spine")
    if manifest is None or spine is None:
        raise PackedError(DocumentReason.EXTRACTION_FAILED)
    folder = posixpath.dirname(name)
    items = {item.get("id"): item for item in children(manifest)}
    bodies: list[html.HtmlElement] = []
    for reference in children(spine):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        tree = _chapter(archive, resolved(folder, item.get("href", "")))
        if tree is not None:
            bodies.append(tree)
    return line(child(package, "metadata", "title")), bodies


def package_of(archive: Archive) -> tuple[str, etree._Element | None]:
    """Return the name and the root of the part that lists a book's parts and properties."""
    name = attribute(child(archive.xml("META-INF/container.xml"), "rootfiles", "rootfile"), "full-path") or ""
    return name, archive.xml(name)


def _is_encrypted(archive: Archive) -> bool:
    encryption = archive.xml("META-INF/encryption.xml")
    methods = [] if encryption is None else encryption.iter("{*}EncryptionMethod")
    return any(not _FONTS.match(method.get("Algorithm", "")) for method in methods)


def _chapter(archive: Archive, name: str) -> html.HtmlElement | None:
    """Return the tree of a chapter with the style sheets that it links to, which may hide parts of it."""
    text = _CLOSED.sub(r"<\1\2></\1>", decode(archive.read(name), None))
    tree = parse(re.sub(r"\A\s*<\?xml[^>]*>", "", text))
    if tree is None:
        return None
    for link in list(tree.iter("link")):
        if "stylesheet" in (link.get("rel") or ""):
            etree.SubElement(tree, "style").text = decode(
                archive.read(resolved(posixpath.dirname(name), link.get("href", ""))), None
            )
    for element in list(tree.iter()):
        if not _LEFT_OUT.isdisjoint((element.get("epub:type") or element.get(_TYPES) or "").split()):
            element.drop_tree()
    return tree
