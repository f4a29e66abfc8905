"""The first stages: articles as read, and one table per shard without duplicates (Liu & Lapata 2019, sec. 4). The stage
`given` has documents that a source itself contains, in the same layout as those of the crawl.

Leads become plain prose, without captions and other text between the sentences of a copied page."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from models.sentences import first_sentence
from storage.recipes import TALLY, most_first
from storage.schemas import ARTICLES, GIVEN, INTAKE
from storage.tables import with_values
from tasks.engine.data_files import fill, read_data
from tasks.engine.hashing import article_id, shard_of, unit_interval
from tasks.rights.licences import licence_of
from tasks.rights.text_columns import text_columns
from tasks.sources.choice import open_source
from tasks.sources.dump.prose import mend
from tasks.sources.settings import SourceSettings
from tasks.sources.source import Article, ArticleReason, GivenDocument, GivenReason, Partition
from tasks.text.language import has_finite_verb

_DATA = read_data("tasks.articles", "lead_text.toml")
_PARTS = _DATA["parts"]
_CAPTIONS = [re.compile(fill(pattern, _PARTS)) for pattern in _DATA["captions"].values()]
_NOT_PROSE, _FRAGMENT, _HATNOTE, _SHARES = (re.compile(fill(pattern, _PARTS)) for pattern in _DATA["lines"].values())
_MARKS, _PAGES, _SENTENCE_END, _ABBREVIATION = (
    re.compile(fill(pattern, _PARTS)) for pattern in _DATA["inside"].values()
)
_LONGEST = 45  # words of the longest caption that we saw
_TEX = "{\\displaystyle"


def is_caption(line: str) -> bool:
    """Tell whether a line is the caption of a picture, although it ends in a full stop. The first sentence of a caption
    has no finite verb. It begins with a kind of picture ("Map of ..."), or says what somebody is seen doing ("Workers
    closing a lock."). Or it says when the picture was taken, where in it something is, or what a chart counts by. Only
    in English."""
    if len(line.split()) > _LONGEST:
        return False
    first = first_sentence(line)
    return not has_finite_verb(first) and any(pattern.search(first) for pattern in _CAPTIONS)


def target_of(article: Article) -> str:
    """Return the target of an article: its lead, cleaned unless it was published as a target."""
    return article.lead.strip() if article.published_target else clean_lead(article.lead)


def clean_lead(text: str) -> str:
    """Return the sentences of a lead, its paragraphs separated by line breaks.

    This removes edit links, table rows, footnote marks with their pages, editors' notes, pronunciation and the source
    of formulas. It also removes lines that send the reader to other pages, captions, lines in which no sentence ends
    (list items, table headings), and a line ending in a colon that introduces such lines. If no sentence ends in the
    whole lead, as in texts that have lost their full stops, its lines are kept."""
    written = (line for line in text.splitlines() if not _NOT_PROSE.fullmatch(line))
    without_marks = (_without_tex(_MARKS.sub("", _PAGES.sub(" ", line))) for line in written)
    plain = (mend(" ".join(line.split())) for line in without_marks)
    lines = [line for line in plain if line and not _HATNOTE.fullmatch(line)]
    if not any(map(_ends_a_sentence, lines)):
        return "\n".join(lines)
    prose = [_ends_a_sentence(line) and not _is_fragment(line) and not is_caption(line) for line in lines]
    kept: list[str] = []
    for line, is_prose, goes_on in zip(lines, prose, [*prose[1:], False], strict=True):
        if is_prose or (line.endswith(":") and goes_on):
            kept.append(line)
    return "\n".join(kept)


def _without_tex(line: str) -> str:
    """Return a line without the TeX that copies of a formula leave behind it: A>1{\\displaystyle A>1}."""
    while (start := line.find(_TEX)) >= 0:
        depths = accumulate((sign == "{") - (sign == "}") for sign in line[start:])
        length = next((length for length, depth in enumerate(depths, 1) if depth == 0), len(line))
        line = line[:start] + line[start + length :]
    return line


def _is_fragment(line: str) -> bool:
    return _FRAGMENT.fullmatch(line) is not None or (_SHARES.fullmatch(line) is not None and not has_finite_verb(line))


def _ends_a_sentence(line: str) -> bool:
    """Tell whether a sentence ends in a line; an abbreviation's full stop counts only at the end of the line."""
    return any(
        match.end() == len(line) or not _ABBREVIATION.search(line[: match.start()])
        for match in _SENTENCE_END.finditer(line)
    )


SPLITS = ("train", "valid", "test")
_AS_READ = ("title", "references", "search_results", "group", "revision", "licence", "page")
_NAMED, _NAME = 20, 60  # templates of a partition that are named, and characters of a name
_TRAIN, _VALID = 0.8, 0.1  # shares of the splits, where the source sets none; the rest is for tests


def read_articles(*, partition: Partition, source: SourceSettings, contact: str = "", **given: Any) -> pa.Table:
    """Return the INTAKE rows of one partition of a source; all else is given to `intake_articles`."""
    return intake_articles(open_source(source, contact).read(partition), **given)


def intake_articles(
    articles: Iterable[Article], source_name: str, *, article_shards: int, seed: int, search_will_follow: bool = False
) -> pa.Table:
    """Return INTAKE rows in the order of the articles, with clean lead, id, split, shard and, if refused, the reason.
    `seed` is that of the splits that the source does not set. `search_will_follow`: a web search will find sources, so
    an article need not have its own. The table's metadata count the templates left out of leads, also those of refused
    articles, and the commonest ones by name. Raises ValueError: a source names an unknown split."""
    rows = []
    left_out: Counter[str] = Counter()
    for article in articles:
        left_out.update(article.left_out)
        id_ = article_id(source_name, article.identity)
        lead = target_of(article)
        rows.append(
            {
                **{name: getattr(article, name) for name in _AS_READ},
                "article_id": id_,
                "lead": lead,
                "split": _split(article, seed),
                "source": source_name,
                "drop_reason": drop_reason(article, lead, search_will_follow=search_will_follow),
                "article_shard": shard_of(id_, article_shards),
            }
        )
    table = pa.Table.from_pylist(rows, schema=INTAKE.schema)
    if not left_out:
        return table
    tally = {"templates left out of leads": left_out.total()}
    tally |= {f"of {{{{{name[:_NAME]}}}}}": count for name, count in islice(most_first(left_out).items(), _NAMED)}
    return table.replace_schema_metadata({TALLY: json.dumps(tally)})


def merge_articles(parts: pa.Table, kept_out: pa.Table | None = None) -> pa.Table:
    """Return the ARTICLES of one shard, sorted by id. If several usable articles have one id, the first is kept, and
    the others get the reason `duplicate_title`. `parts` are INTAKE rows from every partition, in their order;
    `kept_out` ARTICLES rows that must not be used in training, with their reason (rows of the test split are kept)."""
    order = pc.sort_indices(
        parts.append_column("place", pa.array(range(parts.num_rows), pa.int64())),
        sort_keys=[("article_id", "ascending"), ("place", "ascending")],
    )
    merged = parts.take(order).select(ARTICLES.schema.names)
    seen: set[str] = set()
    reasons: list[Any] = []
    refused = {} if kept_out is None else {tuple(row[:-1]): row[-1] for row in _rows(kept_out)}
    for id_, lead, split, own_reason in _rows(merged):
        reason = own_reason or refused.get((id_, lead, split))
        duplicate = reason is None and id_ in seen
        reasons.append(ArticleReason.DUPLICATE_TITLE if duplicate else reason)
        if reason is None:
            seen.add(id_)
    return with_values(merged, "drop_reason", reasons).cast(ARTICLES.schema)


def _rows(articles: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield id, lead, split and reason of each row."""
    columns = ("article_id", "lead", "split", "drop_reason")
    return zip(*(articles[name].to_pylist() for name in columns), strict=True)


def drop_reason(article: Article, lead: str, *, search_will_follow: bool) -> str | None:
    """Return why an article with a clean lead cannot be used, or None; it needs sources unless a search will follow."""
    if article.drop_reason is not None:
        return article.drop_reason
    if not article.title.strip():
        return ArticleReason.EMPTY_TITLE
    if not lead:
        return ArticleReason.EMPTY_LEAD
    if not (article.references or article.search_results or article.documents or search_will_follow):
        return ArticleReason.NO_SOURCES
    return None


def _split(article: Article, seed: int) -> str:
    """Return the source's split, else one by a stable hash of the group, or of the identity of an article without a
    group."""
    if article.split is not None:
        if article.split not in SPLITS:
            raise ValueError(f"article {article.title!r}: split {article.split!r}, expected one of {', '.join(SPLITS)}")
        return article.split
    draw = unit_interval("split", seed, article.identity if article.group is None else article.group)
    if draw < _TRAIN:
        return "train"
    return "valid" if draw < _TRAIN + _VALID else "test"


_NO_DOCUMENT = GivenDocument("", None, ())


def read_given_documents(*, partition: Partition, source: SourceSettings, **given: Any) -> pa.Table:
    """Return the GIVEN rows of one partition of a source; all else is given to `given_documents`."""
    return given_documents(open_source(source).read(partition), **given)


def given_documents(
    articles: Iterable[Article], source_name: str, *, article_shards: int, search_will_follow: bool = False
) -> pa.Table:
    """Return GIVEN rows for the documents of usable articles, in order, as citations ranked by that order. The reasons:
    no_documents, in the single row of an article without documents; duplicate_url, for a document whose URL an earlier
    document of the article has; no_text. A document has the licence that the source gives its article."""
    rows = []
    for article in articles:
        if drop_reason(article, target_of(article), search_will_follow=search_will_follow) is not None:
            continue
        id_ = article_id(source_name, article.identity)
        urls: set[str] = set()
        for rank, document in enumerate(article.documents or (_NO_DOCUMENT,)):
            rows.append(
                {
                    "article_id": id_,
                    "article_shard": shard_of(id_, article_shards),
                    "url": document.url,
                    "provenance": "citation",
                    "rank": rank,
                    "title": document.title,
                    "paragraphs": document.paragraphs,
                    "boilerplate": [False] * len(document.paragraphs),
                    "engine": None,
                    "reason": _document_reason(document, urls),
                    "licence": article.licence and (licence_of(article.licence) or article.licence),
                    "licence_source": None if article.licence is None else "source",
                    "reservations": [],
                    **text_columns(document.paragraphs),
                }
            )
            urls.add(document.url)
    return pa.Table.from_pylist(rows, schema=GIVEN.schema)


def _document_reason(document: GivenDocument, urls: Collection[str]) -> str | None:
    if document is _NO_DOCUMENT:
        return GivenReason.NO_DOCUMENTS
    if document.url in urls:
        return GivenReason.DUPLICATE_URL
    return None if document.paragraphs else GivenReason.NO_TEXT
