"""The properties of a packed file: its title, when it was made and by whom."""

from lxml import etree

from tasks.extraction.origin import Origin, file_origin
from tasks.extraction.packed.archive import Archive, attribute, child, children, line, local
from tasks.extraction.packed.epub import package_of

# The elements that state the day on which a file was made, and its authors, by format.
_STATED = {
    "word": ("created", "creator"),
    "slides": ("created", "creator"),
    "opendocument": ("creation-date", "initial-creator"),
    "epub": ("date", "creator"),
}
_CHANGED = "modification"  # event of a date in EPUB 2


def packed_origin(archive: Archive, kind: str) -> Origin:
    """Return when a file of a kind (word | slides | opendocument | epub) was made, and by whom. Raises PackedError: its
    properties are damaged."""
    day, author = _STATED[kind]
    properties = list(children(stated)) if (stated := _properties(archive, kind)) is not None else []
    days = [line(one) for one in properties if local(one) == day and attribute(one, "event") != _CHANGED]
    return file_origin(next(iter(days), ""), [line(one) for one in properties if local(one) == author])


def _properties(archive: Archive, kind: str) -> etree._Element | None:
    if kind == "opendocument":
        return child(archive.xml("meta.xml"), "meta")
    if kind == "epub":
        return child(package_of(archive)[1], "metadata")
    return archive.core_properties()
