"""The elements of a report, independent of the output format: sections of blocks, without markup. Every string may come
from a page of the web; the renderers (`page`, `markdown`, `text`) escape it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import ClassVar, ParamSpec
from urllib.parse import urlsplit

from tasks.engine.data_files import read_data

WORDS = read_data("tasks.reporting", "wording.toml")
NONE = "–"  # in a cell without a value

# Control characters, which terminals interpret, and direction marks, which change the order of the text around them.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_SHOWN_URL = 80  # characters


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    note: str = ""  # smaller text below or next to it, such as an interval
    strong: bool = False  # whether it is emphasised
    share: float | None = None  # 0-1, drawn as a bar in formats with pictures
    # which rows are behind it, as the query of the explorer's list: a link where the explorer shows the page
    rows: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph of the report's own."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Heading:
    """The heading of a part of a section; level 4 is a part of a part."""

    kind: ClassVar[str] = "heading"
    text: str
    level: int = 3


@dataclass(frozen=True)
class Figure:
    """A figure to be quoted, with its unit."""

    value: str
    name: str  # what it is
    note: str = ""  # its interval, and what it is compared with


@dataclass(frozen=True)
class Figures:
    """A few large figures."""

    kind: ClassVar[str] = "figures"
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Table:
    """A table."""

    kind: ClassVar[str] = "table"
    caption: str  # what it shows, with the unit of its numbers
    columns: Sequence[str]  # headings; the first column names the row
    rows: Sequence[Sequence[Cell]]  # the cells, one per column
    numeric: frozenset[int] = frozenset()  # indices of the columns with numbers


@dataclass(frozen=True)
class Picture:
    """A PNG picture with its caption, which is also its alternative text."""

    kind: ClassVar[str] = "picture"
    caption: str
    png: bytes = field(repr=False)
    wide: bool = False  # whether it needs the full width of a page to be legible


@dataclass(frozen=True)
class Quote:
    """A text from outside, and the number of its characters that are left out."""

    kind: ClassVar[str] = "quote"
    text: str
    left_out: int = 0


@dataclass(frozen=True)
class Citation:
    """A paragraph that is cited for a sentence."""

    rank: int  # 0-based rank of the paragraph
    url: str | None = None  # page of the paragraph, or None
    # The paragraph's share of the sentence's attention, 0-1; None for a system without attention
    share: float | None = None


@dataclass(frozen=True)
class SampleSentence:
    """A sentence of a summary."""

    text: str  # as the system wrote it
    citations: Sequence[Citation] = ()  # the paragraphs that support it, fully or in part
    doubt: str = ""  # a note on a sentence that no single paragraph says; empty if one does


@dataclass(frozen=True)
class AttendedPage:
    """A page and the share of all its paragraphs in the attention of a whole summary, 0-1."""

    url: str
    share: float


@dataclass(frozen=True)
class Cited:
    """A summary: its sentences with their citations, the pages with most attention, and the characters left out."""

    kind: ClassVar[str] = "cited"
    sentences: Sequence[SampleSentence]
    sources: Sequence[AttendedPage] = ()
    left_out: int = 0


@dataclass(frozen=True)
class Lines:
    """Text whose line breaks are kept, such as settings."""

    kind: ClassVar[str] = "lines"
    lines: Sequence[str]


@dataclass(frozen=True)
class Folded:
    """Blocks that are folded until a reader opens them, if the format can fold."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: Sequence["Block"]


Block = Text | Heading | Figures | Table | Picture | Quote | Cited | Lines | Folded


@dataclass(frozen=True)
class ReportSection:
    """A section of the report."""

    key: str  # short name, for links and files
    title: str
    blocks: Sequence[Block]
    folded: bool = False  # whether it is folded until a reader opens it, if the format can fold sections


Row = Sequence[Cell | str | int]
_Given = ParamSpec("_Given")


def table_of(caption: str, columns: Sequence[str], rows: Iterable[Row], numbers: range | None = None) -> Table:
    """Return a table, of cells, texts or whole numbers; `numbers`: the columns of numbers, None = all except the
    first."""
    cells = [
        [item if isinstance(item, Cell) else Cell(f"{item:,}" if isinstance(item, int) else item) for item in row]
        for row in rows
    ]
    return Table(caption, columns, cells, frozenset(range(1, len(columns)) if numbers is None else numbers))


def section(key: str, title: str) -> Callable[[Callable[_Given, Iterable[Block]]], Callable[_Given, ReportSection]]:
    """Make a function that yields blocks one that returns a section of them."""

    def of(blocks: Callable[_Given, Iterable[Block]]) -> Callable[_Given, ReportSection]:
        @wraps(blocks)
        def whole(*given: _Given.args, **named: _Given.kwargs) -> ReportSection:
            return ReportSection(key, title, list(blocks(*given, **named)))

        return whole

    return of


def share_cell(part: int, total: int, digits: int = 1) -> Cell:
    """Return the percentage of a part, drawn as a bar; no value where there is nothing."""
    return Cell(f"{100 * part / total:.{digits}f}", share=max(0.0, part / total)) if total else Cell(NONE)


def clean(text: str) -> str:
    """Return a text that can be shown safely: without control characters, white space collapsed."""
    return " ".join(_UNSHOWN.sub(" ", text).split())


def web_url(url: str | None) -> str | None:
    """Return the URL if it may become a link (http or https, with a host), else None."""
    if url is None or url != clean(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def shown_url(url: str) -> str:
    """Return a URL for display: without http(s)://, and shortened."""
    shown = re.sub(r"^https?://", "", clean(url))
    return shown if len(shown) <= _SHOWN_URL else f"{shown[: _SHOWN_URL - 1]}…"


def percent(share: float, digits: int = 0) -> str:
    """Return a share of 1 in percent."""
    return f"{100 * share:.{digits}f} %"
