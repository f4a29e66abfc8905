"""The data of a corpus on one article: its URLs and why some failed, its paragraphs, its cited summaries."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.values import ValueIndex, find_values, missing
from storage.errors import StorageError
from tasks.cited_summary.cited import Passage, PassageNumbers, SummarySentence, place_of
from tasks.cited_summary.pipeline import SourcePage
from tasks.evaluation.metrics import Summary
from tasks.explorer.corpus import ExplorerCorpus
from tasks.near_duplicates.refusals import compared_paragraphs
from tasks.reporting.stages import meaning

Row = Mapping[str, Any]

_ARTICLE = ["article_id", "title", "lead", "split", "source", "revision", "licence", "drop_reason"]
_FRONTIER = ["url", "host_shard", "provenance", "rank", "drop_reason"]
_PAGE = ["url", "status", "reason", "mime", "bytes", "fetched_at"]
_DOCUMENT = ["url", "title", "date", "author", "site", "engine", "reason"]
_READERS = 8  # files of pages and documents read at the same time


@dataclass(frozen=True)
class Address:
    """A URL of an article."""

    url: str
    provenance: str
    host_shard: int | None  # None for a document that the source holds itself
    status: int | None = None  # of HTTP
    reason: str | None = None  # why it gives no text; None if it does
    meaning: str = ""  # the reason in words
    title: str | None = None  # of the page
    engine: str | None = None  # the extraction engine that read it
    fetched: bool = False  # whether its bytes are kept
    origin: str = ""  # author, site and date of publication, as far as the page states them


@dataclass(frozen=True)
class Candidate:
    """A paragraph with its label and similarity (features), rank and score, or the reason why it was refused."""

    paragraph_id: int
    url: str
    position: int
    text: str
    reason: str | None
    meaning: str
    label: float | None = None
    similarity: float | None = None
    rank: int | None = None
    score: float | None = None
    number: int | None = None  # of its URL, from 1
    passage: int | None = None  # its number, where it is cited
    cited_by: Sequence[str] = ()  # systems
    page: int | None = None  # of its file, from 1

    @property
    def place(self) -> str:
        """Its place in its page, for people."""
        return place_of(self.position, self.page)


@dataclass(frozen=True)
class StoredSummary:
    """A system's summary with its citations."""

    system: str
    text: str
    sentences: Sequence[SummarySentence]


@dataclass(frozen=True)
class ArticleView:
    """An article and the results of the build's stages; candidates by rank, then unranked, then refused."""

    article: Row
    addresses: Sequence[Address]
    candidates: Sequence[Candidate]
    written: Sequence[StoredSummary]
    passages: Sequence[Passage]


def read_article(corpus: ExplorerCorpus, shard: int, article_id: str) -> ArticleView:
    """Return an article of a shard. Raises StorageError: the article does not exist, or a file cannot be read."""
    this = [("article_id", "==", article_id)]
    result = corpus.rows("articles", shard, _ARTICLE, this).to_pylist()
    if not result:
        raise StorageError(f"shard {shard} of build {corpus.build.name} has no article {article_id!r}")
    article = result[0]
    rows = _paragraphs(corpus, shard, this)
    ranked = sorted((row for row in rows if row["rank"] is not None), key=lambda row: int(row["rank"]))
    addresses = _addresses(corpus, shard, article_id)
    numbers = {address.url: number for number, address in enumerate(addresses, 1)}
    places = [(numbers.get(row["url"], 0), row["position"]) for row in ranked]
    citations = PassageNumbers([row["text"] for row in ranked], places, [row["page"] for row in ranked])
    written = []
    predicted = [name for name in corpus.build.stages if name.startswith("predictions")]
    for stage in filter(corpus.has, (*predicted, "written", "baselines")):
        for row in corpus.rows(stage, shard, ["system", "summary", "tokens", "attention"], this).to_pylist():
            attention = np.array(row["attention"], np.float32)
            summary = Summary(row["summary"], None, row["tokens"], attention, by_model=stage == "written")
            written.append(StoredSummary(row["system"], row["summary"], citations.of(article["title"], summary)))
    passages = {(passage.source, passage.position): passage.number for passage in citations.passages}
    candidates = []
    for row in rows:
        number = numbers.get(row["url"], 0)
        passage = None if row["rank"] is None else passages.get((number, row["position"]))
        cited_by = [item.system for item in written if any(passage in each.passages for each in item.sentences)]
        candidates.append(Candidate(**row, number=number or None, passage=passage, cited_by=cited_by))
    return ArticleView(article, addresses, candidates, written, citations.passages)


def differing(text: str, other: str) -> list[tuple[str, bool]]:
    """Return a summary in words, spaces after them, each with whether it is of a value that the other does not have."""
    index = ValueIndex([other])
    values = find_values(text, ValueIndex([text, other]))
    names = {word for value in values if value.kind == "name" and value not in index for word in str(value).split()}

    def differs(word: str) -> bool:
        if any(letter.isdigit() for letter in word):
            return bool(missing(word, index))
        letters = [position for position, sign in enumerate(word) if sign.isalnum()]
        bare = word[letters[0] : letters[-1] + 1] if letters else ""
        return bare.removesuffix("'s").removesuffix("’s").casefold() in names

    return [(word, differs(word)) for word in re.findall(r"\S+\s*", text)]


def read_page(corpus: ExplorerCorpus, host_shard: int, url: str) -> SourcePage | None:
    """Return a page as it was fetched, or None if its bytes are not kept; StorageError if they cannot be read."""
    rows = corpus.rows("pages", host_shard, ["mime", "charset", "body"], [("url", "==", url)]).to_pylist()
    if not rows or rows[0]["body"] is None:
        return None
    return SourcePage(rows[0]["mime"], rows[0]["charset"], rows[0]["body"])


def _paragraphs(corpus: ExplorerCorpus, shard: int, this: list[tuple[str, str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of the candidates, without citations, in their order."""
    features = _by_paragraph(corpus, "features", shard, ["rouge2_recall", "title_similarity"], this)
    ranked = _by_paragraph(corpus, "ranked", shard, ["rank", "score"], this)
    stage = compared_paragraphs(corpus.build.stages)
    if not corpus.has(stage):
        return []
    rows: list[dict[str, Any]] = corpus.rows(
        stage, shard, ["paragraph_id", "url", "position", "page", "text", "drop_reason"], this
    ).to_pylist()
    for row in rows:
        row["reason"] = row.pop("drop_reason")
        row["meaning"] = meaning(stage, row["reason"] or "")
        feature, place = features.get(row["paragraph_id"], {}), ranked.get(row["paragraph_id"], {})
        row |= {"label": feature.get("rouge2_recall"), "similarity": feature.get("title_similarity")}
        row |= {"rank": place.get("rank"), "score": place.get("score")}
    rows.sort(key=lambda row: (row["reason"] is not None, row["rank"] is None, row["rank"] or 0, row["paragraph_id"]))
    return rows


def _by_paragraph(
    corpus: ExplorerCorpus, stage: str, shard: int, columns: list[str], this: list[tuple[str, str, Any]]
) -> dict[int, Row]:
    if not corpus.has(stage):
        return {}
    rows: list[dict[str, Any]] = corpus.rows(stage, shard, ["paragraph_id", *columns], this).to_pylist()
    return {row["paragraph_id"]: row for row in rows}


def _addresses(corpus: ExplorerCorpus, shard: int, article_id: str) -> list[Address]:
    """Return the URLs of an article, citations first, then the documents that the source holds itself."""
    this = [("article_id", "==", article_id)]
    rows = corpus.rows("frontier", shard, _FRONTIER, this).to_pylist() if corpus.has("frontier") else []
    rows.sort(key=lambda row: (row["provenance"], row["rank"]))
    fetched: dict[int, list[str]] = {}
    for row in rows:
        if row["drop_reason"] is None:
            fetched.setdefault(row["host_shard"], []).append(row["url"])
    with ThreadPoolExecutor(_READERS, thread_name_prefix="explorer") as pool:
        parts = pool.map(lambda part: _fetched(corpus, shard, article_id, *part), fetched.items())
        known = {url: columns for part in parts for url, columns in part.items()}
    return [_address(row, known.get(row["url"], {})) for row in rows] + _given(corpus, shard, article_id)


def _fetched(corpus: ExplorerCorpus, shard: int, article_id: str, host_shard: int, urls: list[str]) -> dict[str, Row]:
    """Return the columns of pages and documents for URLs of one host shard."""
    pages = corpus.rows("pages", host_shard, _PAGE, [("url", "in", urls)]).to_pylist() if corpus.has("pages") else []
    known = {page["url"]: page for page in pages}
    if corpus.has("documents"):
        filters = [("article_shard", "==", shard), ("article_id", "==", article_id)]
        for document in corpus.rows("documents", host_shard, _DOCUMENT, filters).to_pylist():
            reason = known.get(document["url"], {}).get("reason") or document["reason"]
            known[document["url"]] = {**known.get(document["url"], {}), **document, "reason": reason}
    return known


def _address(row: Row, page: Row) -> Address:
    if (refused := row["drop_reason"]) is not None:
        return Address(row["url"], row["provenance"], None, reason=refused, meaning=meaning("frontier", refused))
    reason = page.get("reason")
    unfetched = meaning("pages", reason or "")
    return Address(
        row["url"],
        row["provenance"],
        row["host_shard"],
        page.get("status"),
        reason,
        unfetched or meaning("documents", reason or ""),
        page.get("title"),
        page.get("engine"),
        fetched=bool(page.get("bytes")) and not unfetched,
        origin=", ".join(filter(None, map(page.get, ("author", "site", "date")))),
    )


def _given(corpus: ExplorerCorpus, shard: int, article_id: str) -> list[Address]:
    if not corpus.has("given"):
        return []
    filters = [("article_shard", "==", shard), ("article_id", "==", article_id)]
    rows = [
        row
        for part in corpus.build.stages["given"]
        for row in corpus.rows("given", int(part), ["url", "title", "reason"], filters).to_pylist()
    ]
    return [
        Address(row["url"], "given", None, None, row["reason"], meaning("given", row["reason"] or ""), row["title"])
        for row in rows
    ]
