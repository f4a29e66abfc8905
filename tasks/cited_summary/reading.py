"""The given sources as tables of the pipeline: URLs fetched by the crawl, files as pages that exist already, notes as
prose. Also a title for them, and the list of the sources, each with its text or the reason why it was not used."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from models.words import written_words
from storage.schemas import ARTICLES, DOCUMENTS, FRONTIER, PAGES
from tasks.cited_summary.cited import Paragraph, SummarySource
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, is_web_address
from tasks.crawl.crawl import crawl_batches
from tasks.crawl.frontier import build_frontier
from tasks.engine.data_files import read_data
from tasks.extractive.notes import is_jotted, statements
from tasks.extractive.pile import PilePassage
from tasks.fetching.http import Patience
from tasks.fetching.journal import Journal
from tasks.fetching.progress import CrawlProgress
from tasks.paragraphs.filter import ParagraphReason
from tasks.reporting.stages import meaning
from tasks.text.content_words import content_words
from tasks.text.language import has_finite_verb

# A person is waiting.
_PATIENCE = Patience(30.0, retries=1, max_backoff_seconds=5.0, read_seconds=10.0, longest_crawl_delay=10.0)
_ORIGIN = ("date", "author", "site")  # columns of DOCUMENTS
ARTICLE = "summary"  # id of the only article
# Of a title.
_READ = 20_000  # characters of a source, for its names
_LONGEST = 14  # words of a title
_SITE = re.compile(r"\s[|–—·»-]\s")  # before or behind the name of the site
_NO_NAME = "|".join(read_data("tasks.cited_summary", "words.toml")["no_name"].split())
_NAME = re.compile(rf"(?<![\w’'-])(?!(?:{_NO_NAME})\b)[A-Z][\w’'-]*(?: (?:of |of the |de |von )?[A-Z][\w’'-]*){{1,5}}")
_MOST_NAMES = 5  # of the texts, as titles to choose from
# Of notes.
NOTE_ENGINES = ("plain", "markdown", "word", "slides", "opendocument")  # of tasks/extraction/engines.py that read notes
_FEWEST = 4  # words of a line that states something
_MOST = 80  # words of a paragraph of notes
# Reasons against a paragraph of a page that say nothing against a line of a note.
_SHORT = frozenset({ParagraphReason.TOO_SHORT, ParagraphReason.NO_SENTENCE, ParagraphReason.MOSTLY_SYMBOLS})
_SHORT_NOTE = 40  # words of a note of which every line is read
_FEWEST_OF_NOTE = 3  # words that say something
_SHORT_SENTENCE = re.compile(r"[^\W\d_a-z].*[.!]", re.DOTALL)
_BULLET = re.compile(r"[-*•–] +(?=\w)")  # before an item of a list
_NUMBER = re.compile(r"(\d{1,3})[.)] +(?=\w)")
_STATES = re.compile(r"[A-Z0-9\"“(].*[\w)\"”%]", re.DOTALL)
_ASKS = re.compile(r"(?:How|What|When|Where|Which|Who|Why)\b")
_SUBJECT = r"(?:It|He|She|They|We|There|This|(?:The|An?|Its|His|Her|Our|Their|Each|Every)(?: [\w-]+){1,4})"
_PRESENT = re.compile(rf"{_SUBJECT} [a-z]+s\b(?! (?:of|in|at|from|by|and|for)\b)")


def article(title: str, urls: Sequence[str] = ()) -> pa.Table:
    """Return the ARTICLES row of a topic without a lead; in the split `test`, which decoding reads."""
    row: dict[str, Any] = dict.fromkeys(ARTICLES.schema.names)
    row |= {"article_id": ARTICLE, "title": title, "lead": "", "references": urls, "split": "test"}
    return pa.Table.from_pylist([row], schema=ARTICLES.schema)


def fetch(
    title: str,
    given: Sequence[GivenSource],
    settings: SummarySettings,
    *,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> tuple[pa.Table, pa.Table]:
    """Return the FRONTIER of all sources, in their order as ranks, and the PAGES of those that can be read.

    URLs are fetched under the crawl's own rules: public addresses, robots.txt, politeness, limits. A file is a page
    whose URL is its number and name, on a host of its own. `connect_to`: pattern of host -> `address:port` where its
    connections are made instead; `progress`: called about once a second while pages are fetched."""
    crawl = settings.crawl
    places = [index for index, source in enumerate(given) if source.is_url]
    frontier = build_frontier(
        article(title, [given[index].name for index in places]), None, crawl, article_shard=0, host_shards=1
    )
    rows = [{**row, "rank": places[row["rank"]]} for row in frontier.to_pylist()]
    pages: list[pa.RecordBatch] = []
    if places:
        with TemporaryDirectory(prefix="wikisum-") as folder, Journal(pafs.LocalFileSystem(), folder) as journal:
            pages += crawl_batches(
                frontier, None, crawl, journal=journal, connect_to=connect_to, progress=progress, patience=_PATIENCE
            )
    for index, source in enumerate(given):
        if (body := source.body) is None:
            continue
        url = file_url(index, source)
        row: dict[str, Any] = dict.fromkeys(PAGES.schema.names)
        address = source.name if is_web_address(source.name) else url
        row |= {
            "url": url,
            "host": url,
            "final_url": address,
            "mime": source.mime,
            "charset": source.charset,
            "body": body,
        }
        row |= {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest(), "fetched_at": datetime.now(UTC)}
        pages.append(pa.RecordBatch.from_pylist([row], schema=PAGES.schema))
        row = {"article_id": ARTICLE, "article_shard": 0, "url": url, "host": url, "host_shard": 0}
        rows.append(row | {"provenance": "citation", "rank": index, "drop_reason": None})
    return (pa.Table.from_pylist(rows, schema=FRONTIER.schema), pa.Table.from_batches(pages, schema=PAGES.schema))


def file_url(index: int, source: GivenSource) -> str:
    """Return the address under which a file is in the tables; no fetched page has such a one."""
    return f"file:{index}:{source.name}"


def read_notes(documents: pa.Table) -> pa.Table:
    """Return DOCUMENTS rows in which notes are prose. In plain text and Markdown, lines that state something without an
    end get a full stop, and lines that follow one another become one paragraph. So do neighbouring lines without a
    sentence if one of them has a value ("deadline 28 February"); they stay lines of it."""
    rows = documents.to_pylist()
    for row in rows:
        if row["engine"] not in NOTE_ENGINES:
            continue
        pages = row["page_numbers"] or [0] * len(row["paragraphs"])
        noted = [
            (text, page)
            for page, lines in groupby(zip(row["paragraphs"], pages, strict=True), key=itemgetter(1))
            for text in _joined(_jotted_together(_without_item_marks([line for line, _ in lines])))
        ]
        if (paragraphs := [text for text, _ in noted]) != row["paragraphs"]:
            # Repeated lines of a host are recognised by their original form, and among pages alone.
            row |= {"paragraphs": paragraphs, "boilerplate": [False] * len(paragraphs)}
            row["page_numbers"] = [page for _, page in noted if page]
    return pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)


def _without_item_marks(lines: Sequence[str]) -> list[str]:
    """Return lines without bullets, and without numbers that count the items of a list from 1: one alone, as in German
    "3. Mai", is a part of its line."""
    numbers = [int(match[1]) if (match := _NUMBER.match(line)) else 0 for line in lines]
    counts = [number for number in numbers if number]
    listed = len(counts) > 1 and counts == list(range(1, len(counts) + 1))
    return [
        line[match.end() :] if (match := (_NUMBER if listed and number else _BULLET).match(line)) else line
        for line, number in zip(lines, numbers, strict=True)
    ]


def _jotted_together(lines: Sequence[str]) -> list[str]:
    """Join neighbouring lines without a sentence, by line breaks, if one of them states a value."""
    result = list[str]()
    for jotted, group in groupby(lines, lambda line: is_jotted(line) and not _is_note(line, len(written_words(line)))):
        run = list(group)
        text = "\n".join(run)
        result += [text] if jotted and _states_value(text) else run
    return result


def _states_value(text: str) -> bool:
    return next(statements("", PilePassage(text, note=True)), None) is not None


def _joined(lines: Sequence[str]) -> list[str]:
    paragraphs = list[str]()
    room = 0  # words that the last paragraph of notes may still take
    for line in lines:
        words = len(written_words(line))
        if not _is_note(line, words):
            paragraphs.append(line)
            room = 0
        elif words <= room:
            paragraphs[-1] += f" {line}."
            room -= words
        else:
            paragraphs.append(f"{line}.")
            room = _MOST - words
    return paragraphs


def _is_note(line: str, words: int) -> bool:
    stated = words >= _FEWEST and _STATES.fullmatch(line) and not _ASKS.match(line)
    return bool(stated) and (has_finite_verb(line) or _PRESENT.match(line) is not None)


def keep_notes(paragraphs: pa.Table, documents: pa.Table) -> pa.Table:
    """Return PARAGRAPHS rows of which those of notes are kept that are only too short for a paragraph of a page:
    sentences and lines with a value, and all of a short note. `documents`: DOCUMENTS rows, by `read_notes`."""
    sizes = {
        row["url"]: sum(len(written_words(text)) for text in row["paragraphs"] or ())
        for row in documents.select(["url", "engine", "paragraphs"]).to_pylist()
        if row["engine"] in NOTE_ENGINES
    }
    rows = paragraphs.select(["url", "text", "drop_reason"]).to_pylist()
    known = {row["text"].casefold() for row in rows if row["drop_reason"] is None}
    reasons = list[str | None]()
    for row in rows:
        reason, text = row["drop_reason"], row["text"]
        if reason in _SHORT and row["url"] in sizes and _is_usable(text, sizes[row["url"]]):
            reason = ParagraphReason.DUPLICATE if text.casefold() in known else None
            known.add(text.casefold())
        reasons.append(reason)
    column = paragraphs.schema.get_field_index("drop_reason")
    return paragraphs.set_column(column, paragraphs.schema.field(column), pa.array(reasons, pa.string()))


def _is_usable(text: str, size: int) -> bool:
    """Tell whether a paragraph of a note of so many words says something."""
    words = len(written_words(text))
    said = size <= _SHORT_NOTE or _SHORT_SENTENCE.fullmatch(text) is not None
    return (words >= _FEWEST_OF_NOTE and said) or _states_value(text)


def suggest_title(documents: pa.Table, names: Sequence[str]) -> str:
    """Return a title for DOCUMENTS rows that were given without one: the title or name whose words most of them have;
    without any text, the name of the first source. `names`: of the sources."""
    titles, texts = list[str](), list[str]()
    for row in documents.select(["title", "paragraphs", "reason"]).to_pylist():
        if row["reason"] is None:
            first, *others = _SITE.split(row["title"] or "")
            titles.append((first if " " in first.strip() else max([first, *others], key=len)).strip())
            texts.append(f"{row['title'] or ''}\n{chr(10).join(row['paragraphs'])[:_READ]}")
    words = [content_words(text) for text in texts]
    counted = Counter(name for text in texts for name in _NAME.findall(text))
    candidates = [title for title in titles if title] + [name for name, _ in counted.most_common(_MOST_NAMES)]

    def shared(candidate: str) -> float:
        """The share of sources that have a word, added up over its words and divided by their number plus one."""
        own = content_words(candidate)
        return sum(word in item for word in own for item in words) / len(words) / (len(own) + 1)

    best = max(candidates, key=shared, default=PurePath(names[0]).stem.replace("_", " ") or names[0])
    return " ".join(best.split()[:_LONGEST])


def list_sources(
    given: Sequence[GivenSource], frontier: pa.Table, documents: pa.Table, paragraphs: pa.Table, language: str | None
) -> list[SummarySource]:
    """Return every source in the order given. `frontier`: FRONTIER rows, whose rank is the index of the source;
    `documents`: DOCUMENTS rows of the URLs that were fetched; `paragraphs`: PARAGRAPHS rows, kept and refused;
    `language`: that of the summary, if others are refused."""
    result = {row["rank"]: row for row in frontier.to_pylist()}
    read = {row["url"]: row for row in documents.select(["url", "title", "reason", *_ORIGIN]).to_pylist()}
    texts: dict[str, list[Paragraph]] = {}
    for row in paragraphs.select(["url", "text", "drop_reason"]).to_pylist():
        texts.setdefault(row["url"], []).append(Paragraph(row["text"], row["drop_reason"]))

    def listed(number: int, one: GivenSource) -> SummarySource:
        row = result.get(number - 1)
        if row is None:
            return SummarySource(number, one.name, refused=one.reason)
        if row["drop_reason"] is not None:
            return SummarySource(number, one.name, refused=meaning("frontier", row["drop_reason"]))
        document, own = read[row["url"]], tuple(texts.get(row["url"], ()))
        fetched = document["reason"] is None or bool(one.body)
        if document["reason"] is not None:
            refused: str | None = meaning("documents", document["reason"])
        else:
            refused = _nothing_kept(own, language)
        origin = {name: document[name] for name in _ORIGIN}
        return SummarySource(number, one.name, document["title"], refused, own, fetched, **origin)

    return [listed(number, one) for number, one in enumerate(given, 1)]


def _nothing_kept(paragraphs: Sequence[Paragraph], language: str | None) -> str | None:
    """Return why no paragraph is used, by the reason that refuses most of the text; None if one is used. Characters
    count, not paragraphs, because a heading is a paragraph too."""
    refused: Counter[str] = Counter()
    for paragraph in paragraphs:
        if paragraph.refused is None:
            return None
        refused[paragraph.refused] += len(paragraph.text)
    if "duplicate" in refused:  # headings and other text that is not prose may be most of a copied page
        return "it says nothing that an earlier source does not say: every usable paragraph is a repetition"
    reason = refused.most_common(1)[0][0]
    words = sum(len(written_words(paragraph.text)) for paragraph in paragraphs)
    if words < _FEWEST_OF_NOTE:
        return f"it has only {'one word' if words == 1 else f'{words} words'}: expected at least {_FEWEST_OF_NOTE}"
    if reason == "language":
        return f"its text is not in the language of the summary, {language!r}"
    count, total = sum(paragraph.refused == reason for paragraph in paragraphs), len(paragraphs)
    share = "its only paragraph" if total == 1 else f"{count} of its {total} paragraphs"
    return f"none of its text is prose that can be used; {share}: {meaning('paragraphs', reason)}"
