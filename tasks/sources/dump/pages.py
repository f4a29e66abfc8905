"""Read pages from a stream of MediaWiki's XML export (schema export-0.3 and later)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat
from xml.sax.saxutils import unescape

from tasks.engine.data_files import read_data

FILE, CATEGORY, MEDIA = 6, 14, -2

# Names that MediaWiki knows in every language, besides a wiki's own names of namespaces.
_CANONICAL: Mapping[str, int] = read_data("tasks.sources.dump", "wikitext.toml")["namespaces"]

_ROOT = b"<mediawiki>"


@dataclass(frozen=True)
class DumpPage:
    """A page in one revision."""

    title: str  # title with its namespace, with spaces instead of underscores
    namespace: int  # number of the namespace; that of articles is 0
    redirect: bool  # whether the wiki says that the page is a redirect
    revision: str | None  # id of the revision, or None
    model: str  # content model; only `wikitext` can be read
    text: str  # its source
    id: str | None = None  # number of the page, which stays when it is moved to another title, or None


@dataclass(frozen=True)
class Site:
    """The metadata of a wiki."""

    url: str = "https://en.wikipedia.org/wiki/"  # URL of its pages, to which a title is appended
    # Lower-case name -> number
    namespaces: Mapping[str, int] = field(default_factory=lambda: MappingProxyType(_CANONICAL))

    @classmethod
    def named(cls, base: str, namespaces: Mapping[str, int]) -> "Site":
        """Return a site from the URL of any of its pages and its own names of namespaces."""
        own = {name.casefold(): number for name, number in namespaces.items() if name}
        return cls(base.rpartition("/")[0] + "/" if base else cls.url, MappingProxyType({**_CANONICAL, **own}))


def read_pages(blocks: Iterable[bytes], location: str, *, fragment: bool = False) -> Iterator[DumpPage]:
    """Yield the pages of an XML export; the last revision of each page. A `fragment` is a sequence of `<page>`
    elements, not a whole document. Raises ValueError: the XML is malformed, has a document type, or ends too soon."""
    reader = _Reader(location, fragment=fragment)
    if fragment:
        reader.parse(_ROOT)
    for block in blocks:
        reader.parse(block)
        yield from reader.found
        reader.found.clear()
    if not fragment:
        reader.parse(b"", last=True)
    elif len(reader.open) > 1:
        raise ValueError(f"{location}: ends inside <{reader.open[-1].tag}>: expected whole pages")


def read_site(blocks: Iterable[bytes], location: str) -> Site:
    """Return the metadata of the wiki in the head of an XML export; only the needed blocks are read. Raises ValueError:
    the XML is malformed."""
    reader = _Reader(location, fragment=False)
    for block in blocks:
        reader.parse(block)
        if reader.site is not None or reader.found:
            break
    return reader.site or Site()


class _Reader:
    """Makes an element of each page, and forgets it once it is read: a dump as a tree would not fit in memory. The same
    holds for other elements next to the pages."""

    def __init__(self, location: str, *, fragment: bool) -> None:
        self.site: Site | None = None
        self.found: list[DumpPage] = []
        self.open: list[Element] = []
        self._location = location
        self._before = len(_ROOT) if fragment else 0  # bytes parsed that no file has
        self._tree = TreeBuilder()
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.buffer_size = 1 << 16
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._tree.data
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def parse(self, block: bytes, *, last: bool = False) -> None:
        """Take a block; its pages are added to those `found`."""
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as error:
            where = f"byte {self._parser.ErrorByteIndex - self._before} of its XML, line {error.lineno}"
            raise ValueError(f"{self._location}: expected a MediaWiki export, but at {where}: {error}") from error

    def _refuse_doctype(self, *_: object) -> None:
        raise ValueError(f"{self._location}: expected a MediaWiki export, got XML with a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.open and name != "mediawiki":
            raise ValueError(f"{self._location}: expected a MediaWiki export, got <{name}>")
        self.open.append(self._tree.start(name, attributes))

    def _end(self, name: str) -> None:
        element = self._tree.end(name)
        self.open.pop()
        if name == "siteinfo":
            namespaces = {space.text or "": int(space.get("key", 0)) for space in element.iter("namespace")}
            self.site = Site.named(element.findtext("base", ""), namespaces)
        elif name == "revision":  # the last one counts
            for earlier in self.open[-1].findall("revision")[:-1]:
                self.open[-1].remove(earlier)
        elif name == "page":
            self.found.append(self._page(element))
        if len(self.open) == 1:  # a page, or what only other exports have, such as an entry of a log
            self.open[0].clear()

    def _page(self, page: Element) -> DumpPage:
        title = page.findtext("title")
        if not title:
            raise ValueError(f"{self._location}: a page ends at line {self._parser.CurrentLineNumber} without a title")
        return DumpPage(
            title,
            int(page.findtext("ns") or 0),
            page.find("redirect") is not None,
            page.findtext("revision/id"),
            page.findtext("revision/model", "wikitext"),
            _written(page.find("revision/text")),
            page.findtext("id"),
        )


def _written(text: Element | None) -> str:
    """Return the wikitext of an element. Tags that a faulty export left unescaped, such as `<br />`, are part of it."""
    if text is None:
        return ""
    return (text.text or "") + "".join(unescape(tostring(child, encoding="unicode")) for child in text)
