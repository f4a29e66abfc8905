"""A MediaWiki dump as a source, and the article of a page: its lead and its citations, or the reason why it is none.
Wikimedia's multistream dumps are many consecutive bz2 streams of some hundred pages each, with an index of their
offsets. So a byte range that begins and ends with streams can be read without the bytes before it."""

import bz2
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tasks.sources.dump.markup import CitedUrls, lead_of, plain_heading, split_sections, without_comments
from tasks.sources.dump.pages import DumpPage, Site, read_pages, read_site
from tasks.sources.dump.prose import plain_prose
from tasks.sources.files import BLOCK, InputFile, blocks, digested, file_state, file_with, input_files, unzipped
from tasks.sources.settings import DumpSettings, WikitextSettings
from tasks.sources.source import Article, ArticleReason, Partition

MIN_LEAD_WORDS = 10  # white-space separated words; a lead with fewer is refused as `short_lead`
FORMAT_VERSION = 5  # rises when the same wikitext would give other articles

_REDIRECT = re.compile(r"\s*#\s*redirect", re.I)
_TEMPLATE_NAME = re.compile(r"\{\{\s*+(?:template\s*+:\s*+)?([^\s{}|](?:[^{}|\n]*[^\s{}|])?)\s*+(?=\||\}\})", re.I)
_CATEGORY_NAME = re.compile(r"\[\[[^\[\]|:]+:\s*+([^\s\[\]|](?:[^\[\]|]*[^\s\[\]|])?)\s*+(?=\||\]\])")


class PageRules:
    """The rules of one wiki's settings."""

    def __init__(self, settings: WikitextSettings) -> None:
        self._settings = settings
        self._templates = frozenset(settings.names["disambiguation_templates"])
        self._categories = frozenset(settings.names["disambiguation_categories"])

    def page_reason(self, title: str, templates: Iterable[str] = (), categories: Iterable[str] = ()) -> str | None:
        """Return why a page is not an article: list, disambiguation, or None. Names of templates and categories are
        without their namespace."""
        folded = title.casefold()
        if folded.startswith(self._settings.names["list_prefixes"]):
            return ArticleReason.LIST
        if (
            folded.endswith(self._settings.names["disambiguation_suffixes"])
            or any(_folded(name) in self._templates for name in templates)
            or any(_folded(name) in self._categories for name in categories)
        ):
            return ArticleReason.DISAMBIGUATION
        return None

    def lead_reason(self, lead: str) -> str | None:
        """Return why a lead is not a target: empty_lead, short_lead, or None."""
        if not lead.strip():
            return ArticleReason.EMPTY_LEAD
        return ArticleReason.SHORT_LEAD if len(lead.split()) < MIN_LEAD_WORDS else None


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()


class ArticleReader:
    """Turns pages of one wiki into articles."""

    def __init__(self, site: Site, settings: WikitextSettings) -> None:
        self.site = site
        self._settings = settings
        self._rules = PageRules(settings)

    def article(self, page: DumpPage) -> Article:
        """Return the article of a page; if it is not an article or its lead is too short, only title and reason. The
        reasons: other_namespace, redirect, not_wikitext, list, disambiguation, empty_lead, short_lead."""
        if reason := self.page_reason(page):
            return self._refused(page, reason)
        text = without_comments(page.text)
        left_out: Counter[str] = Counter()
        lead = plain_prose(lead_of(text), self.site, left_out)
        if reason := self._rules.lead_reason(lead):
            return replace(self._refused(page, reason, lead), left_out=left_out)
        references, licence = CitedUrls(text, self._settings).urls(), self._settings.licence
        return Article(
            page.title, lead, references, revision=page.revision, licence=licence, page=page.id, left_out=left_out
        )

    def sections(self, page: DumpPage) -> Iterator[tuple[str, Article]]:
        """Yield the path and article of each section except the lead; any other page gives a refused one. A section
        does not include its subsections or their citations; its title is that of the page and, in brackets, its path of
        headings; the sections of a page are a group. A further reason: apparatus, a section of references or links."""
        if reason := self.page_reason(page):
            yield "", self._refused(page, reason)
            return
        text = without_comments(page.text)
        citations = CitedUrls(text, self._settings)
        apparatus = {*self._settings.names["external_sections"], *self._settings.names["reference_sections"]}
        for section in split_sections(text)[1:]:
            path = " / ".join(plain_prose(name, self.site) for name in section.path)
            listing = not apparatus.isdisjoint(plain_heading(name) for name in section.path)
            prose = "" if listing else plain_prose(section.text, self.site)
            reason = ArticleReason.APPARATUS if listing else self._rules.lead_reason(prose)
            article = Article(
                title=f"{page.title} ({path})",
                lead=prose,
                references=() if reason else citations.section_urls(section),
                group=page.title,
                revision=page.revision,
                licence=self._settings.licence,
                page=page.id,
                drop_reason=reason,
            )
            yield path, article

    def page_reason(self, page: DumpPage) -> str | None:
        """Return why a page is not an article, or None."""
        if page.namespace != 0:
            return ArticleReason.OTHER_NAMESPACE
        if page.redirect or _REDIRECT.match(page.text):
            return ArticleReason.REDIRECT
        if page.model != "wikitext":
            return ArticleReason.NOT_WIKITEXT
        templates, categories = _TEMPLATE_NAME.findall(page.text), _CATEGORY_NAME.findall(page.text)
        magic_word = ArticleReason.DISAMBIGUATION if "__DISAMBIG__" in page.text else None
        return self._rules.page_reason(page.title, templates, categories) or magic_word

    def _refused(self, page: DumpPage, reason: str, lead: str = "") -> Article:
        licence = self._settings.licence
        return Article(page.title, lead, (), revision=page.revision, licence=licence, drop_reason=reason)


_DECOMPRESSED_BLOCK = 1 << 20
_MULTISTREAM_NAME = re.compile(r"(.*-multistream)(\d*)\.xml(-p\d+p\d+)?\.bz2")
_STREAM_HEAD = b"BZh"


@dataclass(frozen=True)
class DumpSource:
    """Articles of MediaWiki XML files; a multistream file with an index is read in byte ranges."""

    settings: DumpSettings
    wikitext: WikitextSettings
    partition_bytes: int = 32_000_000  # compressed; a partition ends with the bz2 stream that passes them
    gives_documents = False

    def partitions(self) -> list[Partition]:
        """Return byte ranges; a digest covers the bytes and the settings of wikitext. Raises ValueError also if an
        index does not fit its file."""
        recipe = json.dumps([FORMAT_VERSION, self.wikitext.recipe()], sort_keys=True).encode()
        parts: list[Partition] = []
        for file in self._files():
            states = map(file_state, filter(None, (file.path, file.index)))
            parts += _partitions(file, self.partition_bytes, recipe, *states)
        return parts

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield an article for each page of a partition, refused ones included."""
        reader, pages = self.open(partition)
        return (reader.article(page) for page in pages)

    def open(self, partition: Partition) -> tuple[ArticleReader, Iterator[DumpPage]]:
        """Return a reader for a partition's wiki, and the pages of the partition."""
        file = file_with(partition, self._files())
        site = read_site(_xml(file, 0, file.size), location=str(file.path))
        xml = _xml(file, partition.start - file.start, partition.stop - file.start)
        return ArticleReader(site, self.wikitext), read_pages(xml, partition.name, fragment=file.index is not None)

    def _files(self) -> list[InputFile]:
        """Return the files in the order of the settings, with their indexes. The index of a file is in the same folder,
        under Wikimedia's name for it. Raises FileNotFoundError: a file is missing, or nothing matches a pattern;
        ValueError: no path was given, or a file is of another kind."""
        files = input_files(self.settings.paths, "source.dump.paths", "MediaWiki XML")
        for number, file in enumerate(files):
            if file.path.suffix in (".7z", ".zst", ".xz", ".zip"):
                raise ValueError(f"{file.path}: expected a plain, .bz2 or .gz XML file, got {file.path.suffix}")
            if file.size == 0:
                raise ValueError(f"{file.path}: expected a MediaWiki export, got an empty file")
            files[number] = replace(file, index=_index_beside(file.path))
        return files


def _index_beside(path: Path) -> Path | None:
    match = _MULTISTREAM_NAME.fullmatch(path.name)
    if match is None:
        return None
    index = path.with_name(f"{match[1]}-index{match[2]}.txt{match[3] or ''}.bz2")
    return index if index.is_file() else None


@cache
def _partitions(file: InputFile, size: int, salt: bytes, *_states: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return ranges of about `size` bytes that begin and end with streams, or the whole file; once per process until
    the file changes. A digest is of `salt`, of the bytes before the first stream with pages, and of the range's bytes.
    Raises ValueError: the index is malformed or belongs to another file."""
    if file.index is None:
        return tuple(replace(whole, name=str(file.path)) for whole in digested(file, [(0, file.size)], salt))
    ranges = list(_ranges(file, file.index, size))
    with file.path.open("rb") as stream:
        salt += stream.read(min(ranges[0][0], BLOCK))
        for start, _ in ranges:
            stream.seek(start)
            if stream.read(len(_STREAM_HEAD)) != _STREAM_HEAD:
                raise ValueError(f"{file.index}: expected a bz2 stream at byte {start} of {file.path}, found none")
    return tuple(digested(file, ranges, salt))


def _ranges(file: InputFile, index: Path, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of bytes of the file, from the first stream with pages to the end."""
    start = None
    for offset in _stream_offsets(index):
        if offset >= file.size:
            raise ValueError(f"{index}: stream at byte {offset}, but {file.path} has only {file.size} bytes")
        if start is None:
            start = offset
        elif offset - start >= size:
            yield start, offset
            start = offset
    if start is None:
        raise ValueError(f"{index}: expected lines of offset:id:title, got none")
    yield start, file.size


def _stream_offsets(index: Path) -> Iterator[int]:
    """Yield the offsets of streams from lines of offset:id:title, ascending; one line is in memory at a time. Raises
    ValueError: a line is malformed, or the file damaged."""
    last, written = -1, b""
    with bz2.open(index, "rb") as lines:
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                offset = line[: line.find(b":")]
                if offset == written:
                    continue  # the pages of one stream have the same offset
                if not offset.isdigit() or line.count(b":") < 2 or int(offset) <= last:
                    raise ValueError(
                        f"{index}, line {number}: expected offset:id:title, offsets rising, got {line[:80]!r}"
                    )
                last, written = int(offset), offset
                yield last
        except (OSError, EOFError) as error:
            raise ValueError(f"{index}, line {number + 1}: expected a whole bz2 file, but {error}") from error


def _xml(file: InputFile, start: int, stop: int) -> Iterator[bytes]:
    """Yield the XML of a byte range in blocks. Raises ValueError: it is damaged or cut short."""
    if file.path.suffix == ".gz":
        with unzipped(file.path) as whole:
            while block := whole.read(_DECOMPRESSED_BLOCK):
                yield block
        return
    with file.path.open("rb") as stream:
        stream.seek(start)
        raw = blocks(stream, stop - start)
        location = f"{file.path} bytes {start}-{stop - 1}"
        yield from _from_bz2(raw, location) if file.path.suffix == ".bz2" else raw


def _from_bz2(raw: Iterator[bytes], location: str) -> Iterator[bytes]:
    decompressor = bz2.BZ2Decompressor()
    consumed = 0
    try:
        for block in raw:
            data = block
            while data or not (decompressor.needs_input or decompressor.eof):
                if decompressor.eof:
                    data = data.lstrip(b"\0")  # tapes and block devices pad files with zeros
                    if not data:
                        break
                    decompressor = bz2.BZ2Decompressor()
                yield decompressor.decompress(data, _DECOMPRESSED_BLOCK)
                data = decompressor.unused_data
            consumed += len(block)
    except OSError as error:
        raise ValueError(f"{location}: damaged bz2 stream near byte {consumed} of the range: {error}") from error
    if not decompressor.eof:
        raise ValueError(f"{location}: the bz2 stream is cut short after {consumed} bytes")
