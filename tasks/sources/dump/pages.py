"""Read pages from a stream of MediaWiki's XML export (schema export-0.3 and later)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from xml.parsers import expat

from tasks.engine.data_files import read_data

FILE, CATEGORY, MEDIA = 6, 14, -2

# Names that MediaWiki knows in every language, besides a wiki's own names of namespaces.
_CANONICAL: Mapping[str, int] = read_data("tasks.sources.dump", "wikitext.toml")["namespaces"]

_PAGE_TEXTS = frozenset(
    [("page", "title"), ("page", "ns"), ("page", "id"), ("revision", "id"), ("revision", "model"), ("revision", "text")]
)
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


def read_pages(blocks: Iterable[bytes], *, location: str, fragment: bool = False) -> Iterator[DumpPage]:
    """Yield the pages of an XML export; the last revision of each page. A `fragment` is a sequence of `<page>`
    elements, not a whole document. Raises ValueError: the XML is malformed, has a document type, or ends too soon."""
    return _Reader(location, fragment=fragment).pages(blocks)


def read_site(blocks: Iterable[bytes], *, location: str) -> Site:
    """Return the metadata of the wiki in the head of an XML export; only the needed blocks are read. Raises ValueError:
    the XML is malformed."""
    reader = _Reader(location, fragment=False)
    for _ in reader.pages(blocks, only_head=True):
        break
    return reader.site


class _Reader:
    """One pass of a parser over an export."""

    def __init__(self, location: str, *, fragment: bool) -> None:
        self.site = Site()
        self._location = location
        self._fragment = fragment
        self._path: list[str] = []
        self._found: list[DumpPage] = []
        self._texts: list[str] = []
        self._page: dict[tuple[str, str], str] = {}
        self._redirect = False
        self._head_read = False
        self._base = ""
        self._namespaces: dict[str, int] = {}
        self._key = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.buffer_size = 1 << 16
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def pages(self, blocks: Iterable[bytes], *, only_head: bool = False) -> Iterator[DumpPage]:
        """Yield pages while blocks are read."""
        if self._fragment:
            self._parse(_ROOT)
        for block in blocks:
            self._parse(block)
            if only_head and (self._head_read or self._found):
                return
            yield from self._found
            self._found.clear()
        if not only_head:
            self._finish()

    def _parse(self, block: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as error:
            offset = self._parser.ErrorByteIndex - (len(_ROOT) if self._fragment else 0)
            where = f"byte {offset} of its XML, line {error.lineno}"
            raise ValueError(f"{self._location}: expected a MediaWiki export, but at {where}: {error}") from error

    def _finish(self) -> None:
        if not self._fragment:
            self._parse(b"", last=True)
        elif len(self._path) > 1:
            raise ValueError(f"{self._location}: ends inside <{self._path[-1]}>: expected whole pages")

    def _refuse_doctype(self, *_: object) -> None:
        raise ValueError(f"{self._location}: expected a MediaWiki export, got XML with a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._path[-1] if self._path else ""
        if not self._path and name != "mediawiki":
            raise ValueError(f"{self._location}: expected a MediaWiki export, got <{name}>")
        self._path.append(name)
        if (parent, name) in _PAGE_TEXTS or name in ("base", "namespace"):
            self._texts = []
            self._parser.CharacterDataHandler = self._texts.append
            if name == "namespace":
                self._key = int(attributes.get("key", 0))
        elif name == "page":
            self._page, self._redirect = {}, False
        elif name == "redirect":
            self._redirect = True

    def _end(self, name: str) -> None:
        self._path.pop()
        parent = self._path[-1] if self._path else ""
        if self._parser.CharacterDataHandler is not None:
            self._parser.CharacterDataHandler = None
            text = "".join(self._texts)
            if name == "base":
                self._base = text
            elif name == "namespace":
                self._namespaces[text] = self._key
            else:
                self._page[parent, name] = text
        if name == "siteinfo":
            self.site, self._head_read = Site.named(self._base, self._namespaces), True
        elif name == "page":
            self._found.append(self._whole_page())

    def _whole_page(self) -> DumpPage:
        page: dict[tuple[str, str], Any] = self._page
        title = page.get(("page", "title"))
        if not title:
            raise ValueError(f"{self._location}: a page ends at line {self._parser.CurrentLineNumber} without a title")
        return DumpPage(
            title=title,
            namespace=int(page.get(("page", "ns")) or 0),
            redirect=self._redirect,
            revision=page.get(("revision", "id")),
            model=page.get(("revision", "model"), "wikitext"),
            text=page.get(("revision", "text"), ""),
            id=page.get(("page", "id")),
        )
