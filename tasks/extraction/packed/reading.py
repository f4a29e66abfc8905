"""The text of a packed file: each format becomes the tree of a page, so that one pass keeps the values of all."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from lxml import etree, html

from tasks.extraction.blocks import read_page
from tasks.extraction.main_text import lines
from tasks.extraction.markup import clean
from tasks.extraction.origin import UNKNOWN, Origin, file_origin
from tasks.extraction.packed.archive import Archive, PackedError, attribute, child, children, line, local
from tasks.extraction.packed.epub import package_of, read_epub
from tasks.extraction.packed.opendocument import read_opendocument
from tasks.extraction.packed.slides import read_slides
from tasks.extraction.packed.word import read_word
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.titles import names_nothing
from tasks.extraction.visible import show
from tasks.fetching.content import PACKED

_Reader = Callable[[Archive], tuple[str, list[html.HtmlElement]]]
# By format: its reader, and the elements that state the day on which a file was made, and its authors.
_FORMATS: Mapping[str, tuple[_Reader, str, str]] = {
    "word": (read_word, "created", "creator"),
    "slides": (read_slides, "created", "creator"),
    "opendocument": (read_opendocument, "creation-date", "initial-creator"),
    "epub": (read_epub, "date", "creator"),
}
_CHANGED = "modification"  # event of a date in EPUB 2
_PAGED = ("presentation", "slideshow")  # in the media types of slides


class PackedText(NamedTuple):
    """The content of a packed file."""

    title: str | None
    origin: Origin  # when it was made and by whom
    paragraphs: list[str]
    pages: list[int]  # of each paragraph, the slide that shows it, from 1; empty for other files
    reason: DocumentReason | None  # why there are none


def read_packed(body: bytes, mime: str) -> PackedText:
    """Read a file of one of the media types in `PACKED`."""
    try:
        archive, kind = Archive(body), PACKED[mime]
        title, trees = _FORMATS[kind][0](archive)
        origin = _origin(archive, kind)
    except PackedError as error:
        return PackedText(None, UNKNOWN, [], [], error.reason)
    paragraphs: list[str] = []
    pages: list[int] = []
    for number, tree in enumerate(trees, 1):
        show(tree)
        page = read_page(tree)
        texts = lines(page, np.ones(len(page.blocks), dtype=bool))
        paragraphs += texts
        pages += [number] * len(texts)
    named = None if names_nothing(title) else clean(title)
    paged = any(word in mime for word in _PAGED)
    return PackedText(named, origin, paragraphs, pages if paged else [], None if paragraphs else DocumentReason.NO_TEXT)


def _origin(archive: Archive, kind: str) -> Origin:
    """Return when a file of a kind (word | slides | opendocument | epub) was made, and by whom. Raises PackedError: its
    properties are damaged."""
    _, day, author = _FORMATS[kind]
    properties = list(children(stated)) if (stated := _properties(archive, kind)) is not None else []
    days = [line(one) for one in properties if local(one) == day and attribute(one, "event") != _CHANGED]
    return file_origin(next(iter(days), ""), [line(one) for one in properties if local(one) == author])


def _properties(archive: Archive, kind: str) -> etree._Element | None:
    if kind == "opendocument":
        return child(archive.xml("meta.xml"), "meta")
    if kind == "epub":
        return child(package_of(archive)[1], "metadata")
    return archive.core_properties()
