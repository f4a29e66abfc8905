"""Articles from JSONL files: one object per line, read in byte ranges."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from tasks.sources.files import InputFile, blocks, digested, file_state, file_with, input_files, parsed, unzipped
from tasks.sources.settings import RecordsSettings
from tasks.sources.source import Article, ArticleReason, GivenDocument, Partition

FORMAT_VERSION = 1  # rises when the same bytes would give other articles
T = TypeVar("T")


def _numbered(value: object) -> object:
    return str(value) if type(value) is int else value


class Line(BaseModel):
    """The content of a line of a file; unknown fields are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class DocumentLine(Line):
    """A document of an article: its prose either as a text whose lines are paragraphs or as a list of paragraphs."""

    text: str | None = None
    paragraphs: tuple[str, ...] | None = None
    url: str | None = None
    title: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.text is None) == (self.paragraphs is None):
            raise ValueError("expected either field 'text' or 'paragraphs'")
        return self

    def document(self, number: int) -> GivenDocument:
        """Return the document; without URL it is named by its number."""
        texts = self.paragraphs or (self.text or "").split("\n")
        prose = tuple(" ".join(text.split()) for text in texts if text.strip())
        return GivenDocument(self.url or f"document:{number}", self.title, prose)


class ArticleLine(Line):
    """An article; without documents it has references."""

    title: str
    lead: str
    references: tuple[str, ...] | None = None
    search_results: tuple[str, ...] | None = None
    group: str | None = None
    split: Literal["train", "valid", "test"] | None = None
    revision: Annotated[str | None, BeforeValidator(_numbered)] = None
    licence: str | None = None
    page: Annotated[str | None, BeforeValidator(_numbered)] = None
    documents: tuple[DocumentLine, ...] | None = None

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        if self.references is None and not self.documents:
            raise ValueError("field 'references' is missing: expected a list of strings")
        return self

    def article(self) -> Article:
        """Return the article."""
        fields = {name: value for name, value in self if value is not None}
        documents = tuple(line.document(number) for number, line in enumerate(self.documents or (), 1))
        return Article(**{**fields, "documents": documents})


@dataclass(frozen=True)
class RecordsSource:
    """Articles of JSONL files. Partitions count bytes through all files in order, and none spans two files."""

    settings: RecordsSettings
    partition_bytes: int = 64_000_000  # a partition ends with the line that passes them; a .gz file is one
    setting: str = "source.records.paths"  # that of the files, for messages
    malformed: int = 0  # lines of a file that may be refused

    @property
    def gives_documents(self) -> bool:
        """Whether the first line of any file has documents."""
        return any(map(_gives_documents, self.files()))

    def partitions(self) -> list[Partition]:
        """Return byte ranges that begin and end with lines; a digest is the SHA-256 of the range's bytes."""
        return [
            part for file in self.files() for part in line_partitions(file, self.partition_bytes, file_state(file.path))
        ]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a byte range; malformed lines are refused (`malformed_line`), if it may have some. The
        errors also name field, value and what was expected; lines count from 1 through the whole file."""
        with_documents = _gives_documents(file_with(partition, self.files()))
        return self.parse(partition, _article_with_documents if with_documents else _article_without, refused_line)

    def parse(
        self, partition: Partition, parser: Callable[[bytes], T], refused: Callable[[str], T] | None = None
    ) -> Iterator[T]:
        """Yield the parsed lines of a byte range, without blank ones. `refused` returns the result for a malformed
        line, by its name; the parser raises `MalformedLineError` for one. Errors as of `read`."""
        file = file_with(partition, self.files())
        offset = partition.start - file.start
        lines = enumerate(lines_of(file, offset, partition.stop - partition.start), 1)

        @cache
        def before() -> int:  # lines that end before the range; slow, so only for error messages
            with file.path.open("rb") as stream:
                return sum(block.count(b"\n") for block in blocks(stream, offset))

        return parsed(
            ((number, line) for number, line in lines if line.strip()),
            parser,
            MalformedLineError,
            lambda number: f"{file.path}, line {before() + number}",
            refused=None if refused is None else lambda number: refused(f"{file.path.name}, line {before() + number}"),
            allowed=self.malformed,
            every=filter(bytes.strip, lines_of(file, 0, file.size)),
        )

    def files(self) -> list[InputFile]:
        """Return the files, as `input_files` does."""
        return input_files(self.settings.paths, self.setting, "JSONL")


@cache
def line_partitions(file: InputFile, size: int, _state: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return ranges of about `size` bytes, each ending after a newline, with their hashes. A process does this once per
    file until the file changes, because the checks before a run need it as well."""
    version = f"{FORMAT_VERSION}{'d' if _gives_documents(file) else ''}"
    return tuple(digested(file, _line_ranges(file, size), version.encode()))


def _line_ranges(file: InputFile, size: int) -> Iterator[tuple[int, int]]:
    start, limit = 0, file.size if file.path.suffix == ".gz" else size
    with file.path.open("rb") as stream:
        while start < file.size:
            stop = min(start + limit, file.size)
            if stop < file.size:
                stream.seek(stop - 1)
                stream.readline()
                stop = stream.tell()
            yield start, stop
            start = stop


class MalformedLineError(ValueError):
    """A line that is not a valid article."""


def _gives_documents(file: InputFile) -> bool:
    """Whether the first line that is not blank has documents; a malformed line is reported when it is read."""
    first = next((line for line in lines_of(file, 0, file.size) if line.strip()), b"")
    try:
        return "documents" in json.loads(first)
    except (ValueError, TypeError, RecursionError):
        return False


def lines_of(file: InputFile, offset: int, size: int) -> Iterator[bytes]:
    """Yield the lines of a byte range, or all lines of a gzip file, with one in memory at a time. Raises ValueError:
    the gzip file is damaged."""
    if file.path.suffix == ".gz":
        with unzipped(file.path) as stream:
            yield from stream
        return
    with file.path.open("rb") as plain:
        plain.seek(offset)
        while size > 0 and (line := plain.readline()):
            size -= len(line)
            yield line


def refused_line(name: str) -> Article:
    """Return the refused article of a malformed line."""
    return Article(name, drop_reason=ArticleReason.MALFORMED_LINE)


def _article_without(line: bytes) -> Article:
    """Return the article of a line in a file whose first line has no documents. Raises MalformedLineError: the line is
    not a valid article, or it has documents although the first one has none."""
    article = _article_with_documents(line)
    if article.documents:
        raise MalformedLineError("field 'documents': expected it in the first line of the file too, even if it is []")
    return article


def _article_with_documents(line: bytes) -> Article:
    return parse_line(ArticleLine, line).article()


LineType = TypeVar("LineType", bound=Line)


def parse_line(kind: type[LineType], line: bytes) -> LineType:
    """Return the content of a line. Raises MalformedLineError: it is not a JSON object of that kind: names the first
    wrong field and its value."""
    try:
        return kind.model_validate_json(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedLineError(f"expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        got = repr(first["input"])
        got = got if len(got) <= 80 else f"{got[:77]}..."
        raise MalformedLineError(f"{f'field {field!r}: ' if field else ''}{message}, got {got}") from error
