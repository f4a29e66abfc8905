"""What people give to be summarized: web addresses, files, folders, standard input. Sizes are checked before reading. A
source that cannot be read stays in the list with its reason, so that the others are still summarized."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import IO

from tasks.extraction import pdf
from tasks.extraction.markup import MARKDOWN
from tasks.fetching.content import PACKED, advice, settled_type

STANDARD_INPUT = "-"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".pdf": pdf.MIME,
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".odt": f"{_OPEN}.text",
    ".odp": f"{_OPEN}.presentation",
    ".ods": f"{_OPEN}.spreadsheet",
    ".epub": "application/epub+zip",
}
SUFFIXES = tuple(_TYPES)
_READ = frozenset({*_TYPES.values(), *PACKED})
_EXPECTED = "HTML, PDF, Word (.docx), slides (.pptx), OpenDocument, EPUB, plain text or Markdown"
# Ends of names that people expect to be read, so that a folder does not ignore them silently.
_REFUSED = (
    ".doc",
    ".docm",
    ".ppt",
    ".pptm",
    ".xls",
    ".xlsx",
    ".xlsm",
    ".rtf",
    ".pages",
    ".key",
    ".mobi",
    ".azw3",
    ".djvu",
)
_GIVEN = frozenset({*_TYPES, *_REFUSED})


# The addresses in a saved page.
_HEAD = 262_144  # bytes; programs that save pages put style sheets before its links
_SAVED = re.compile(
    r"<!--\s{0,20}(?:saved from url=\(\d{1,5}\)|Page saved with SingleFile\s{1,20}url: {0,9})(https?://[^\s<>\"]{1,2000})"
)
_LINK = re.compile(r"<link\b[^<>]{1,2500}>", re.IGNORECASE)
_CANONICAL = re.compile(r"\brel\s?=\s?[\"']?canonical\b", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s?=\s?[\"']?(https?://[^\s<>\"']{1,2000})", re.IGNORECASE)


@dataclass(frozen=True)
class GivenSource:
    """A source as it was given."""

    name: str  # the URL as written, the address that a page was saved from, or the name of the file
    # bytes of a file; None for a URL, which is still to be fetched, and for a file that is not read
    body: bytes | None = None
    mime: str | None = None  # media type of the file
    charset: str | None = None  # declared character set, of a page that was fetched before
    reason: str | None = None  # why the file is not read, for people; None for one that is

    @property
    def is_url(self) -> bool:
        """Whether it has to be fetched."""
        return self.body is None and self.reason is None


def is_web_address(name: str) -> bool:
    """Tell whether something given is a URL rather than a file."""
    return name.lower().startswith(("http://", "https://"))


def file_source(name: str, body: bytes) -> GivenSource:
    """Return a file as a source; its type is decided by its bytes, and by its name where they leave it open."""
    if not body.strip():
        return GivenSource(name, reason="the file is empty")
    mime = settled_type(_TYPES.get(Path(name).suffix.lower()), body)
    if mime not in _READ:
        return GivenSource(name, reason=f"it is {advice(mime or 'of no known type')}; what is read: {_EXPECTED}")
    return GivenSource((mime == "text/html" and saved_from(body)) or name, body, mime)


def saved_from(body: bytes) -> str | None:
    """Return the address from which a browser saved a page: by the comment that browsers and SingleFile write, else by
    the page's canonical link; None if neither names one."""
    head = body[:_HEAD].decode("utf-8", "replace")
    if (comment := _SAVED.search(head)) is not None:
        return comment[1]
    for link in _LINK.findall(head):
        address = _HREF.search(link)
        if _CANONICAL.search(link) and address is not None:
            return unescape(address[1])
    return None


def too_large(name: str, size: int, limit: int) -> GivenSource:
    """Return a file that is not read because of its size in bytes."""
    return GivenSource(name, reason=f"it has {megabytes(size)}: expected at most {megabytes(limit)}")


def megabytes(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size:,} bytes" if size < 1_000_000 else f"{size / 1e6:,.0f} MB"


def read_sources(names: Iterable[str], limit: int, standard_input: IO[bytes]) -> list[GivenSource]:
    """Return everything that was named on a command line, in order; a folder gives its files of known types by name.
    `names`: URLs, files, folders, or `-` for the standard input; `limit`: bytes of a file, at most; `standard_input`:
    where `-` is read from. Raises FileNotFoundError: a name is neither a URL nor a file nor a folder."""
    return [given for name in names for given in _read(name, limit, standard_input)]


def _read(name: str, limit: int, standard_input: IO[bytes]) -> Iterator[GivenSource]:
    path = Path(name)
    if is_web_address(name):
        yield GivenSource(name)
    elif name == STANDARD_INPUT:
        body, name = standard_input.read(limit + 1), "standard input"
        yield too_large(name, len(body), limit) if len(body) > limit else file_source(name, body)
    elif path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _GIVEN and file.is_file()]
        if not files:
            yield GivenSource(
                name, reason=f"the folder has no file that can be read: expected one of {', '.join(SUFFIXES)}"
            )
        for file in files:
            yield _read_file(file, file.relative_to(path).as_posix(), limit)
    elif path.exists():
        yield _read_file(path, path.name, limit)
    else:
        raise FileNotFoundError(
            f"{name!r} is neither a web address (http:// or https://) nor an existing file or folder"
        )


def _read_file(path: Path, name: str, limit: int) -> GivenSource:
    try:
        size = path.stat().st_size
        return too_large(name, size, limit) if size > limit else file_source(name, path.read_bytes())
    except OSError as error:
        return GivenSource(name, reason=f"it cannot be read: {error.strerror}")
