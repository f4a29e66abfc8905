"""Sample articles of the test split: the systems' summaries, and the pages that support each sentence. Every sentence
is shown with its citations (`tasks/evaluation/citations.py`), and with a note if they do not support it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.evaluation.citations import CitedSentence, Citer
from tasks.evaluation.metrics import Summary
from tasks.reporting.attention import Floats, SummaryAttention, lay_out
from tasks.reporting.corpus_statistics import Words, count_words

SHOWN_CHARACTERS = 4000  # of a lead or a summary; a whole page taken for a lead must not fill the report
SHOWN_SOURCES = 5


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
class SampleSummary:
    """A system's summary."""

    system: str
    sentences: Sequence[SampleSentence]  # the summary, with its citations
    sources: Sequence[AttendedPage] = ()  # the pages with most attention; empty for a system without attention
    left_out: int = 0  # number of characters not shown
    attention: SummaryAttention | None = None  # its attention, token by token; None for a system without attention


@dataclass(frozen=True)
class Graph:
    """The two graphs over an article's ranked paragraphs."""

    nodes: int  # paragraphs; node i has rank i
    similarity: Sequence[tuple[int, int, float]]  # edges (i, j, weight) of the similarity graph
    discourse: Sequence[tuple[int, int, float]]  # likewise of the approximate discourse graph


@dataclass(frozen=True)
class Sample:
    """An article of the test split."""

    title: str  # of the article
    lead: str  # the shown part of its lead section, the target
    lead_left_out: int  # number of characters of the lead not shown
    written: Sequence[SampleSummary]  # the summaries, those of trained systems first
    graph: Graph | None = None  # over its ranked paragraphs, or None


@dataclass(frozen=True)
class Samples:
    """Sample articles and statistics of the summaries."""

    articles: Sequence[Sample]
    summary_words: Mapping[str, Words]  # system -> words of each of its summaries in the first shards


def read_samples(shards: Iterable[tuple[pa.Table, ...]], count: int, length_shards: int) -> Samples:
    """Return the first test articles with summaries; only the needed shards are read. A shard is (articles, ranked,
    baselines, summaries[, graphs[, summaries of further systems]]); lengths of summaries are taken from the first
    `length_shards`."""
    collected: list[Sample] = []
    words: dict[str, list[Words]] = {}
    for number, (articles, ranked, baselines, trained, *more) in enumerate(shards):
        if number < length_shards:
            for predictions in (trained, baselines, *more[1:]):
                for system in pc.unique(predictions["system"]).to_pylist():
                    predicted = predictions.filter(pc.equal(predictions["system"], system))
                    words.setdefault(system, []).append(count_words(predicted["summary"]))
        if len(collected) < count:
            collected += _samples(
                articles, ranked, pa.concat_tables([trained, baselines, *more[1:]]), more[:1], count - len(collected)
            )
        if len(collected) >= count and number + 1 >= length_shards:
            break
    return Samples(collected, {system: np.concatenate(counts) for system, counts in words.items()})


def _samples(
    articles: pa.Table, ranked: pa.Table, predictions: pa.Table, graphs: Sequence[pa.Table], count: int
) -> list[Sample]:
    written = pa.array(pc.unique(predictions["article_id"]).to_pylist(), pa.string())
    test = pc.and_(pc.equal(articles["split"], "test"), pc.is_in(articles["article_id"], written))
    chosen = articles.filter(pc.and_(test, pc.is_null(articles["drop_reason"]))).slice(0, count)
    return [
        _sample(
            article,
            _rows_of(ranked, article).sort_by("rank"),
            _rows_of(predictions, article).to_pylist(),
            _rows_of(graphs[0], article).to_pylist() if graphs else [],
        )
        for article in chosen.select(["article_id", "title", "lead"]).to_pylist()
    ]


def _rows_of(table: pa.Table, article: Mapping[str, Any]) -> pa.Table:
    return table.filter(pc.equal(table["article_id"], article["article_id"]))


def _sample(
    article: Mapping[str, Any], ranked: pa.Table, rows: list[dict[str, Any]], graphs: list[dict[str, Any]]
) -> Sample:
    lead, left_out = shorten(article["lead"])
    urls = ranked["url"].to_pylist()
    citer = Citer(article["title"], ranked["text"].to_pylist(), [article["lead"]])
    return Sample(
        title=article["title"],
        lead=lead,
        lead_left_out=left_out,
        written=[_written(row, urls, citer) for row in rows],
        graph=_graph(graphs[0]) if graphs else None,
    )


def _written(row: Mapping[str, Any], urls: list[str], citer: Citer) -> SampleSummary:
    weights = np.array(row["attention"] or [], np.float32)
    shown, left_out = shorten(row["summary"])
    cited = citer.cite(Summary(shown, tokens=row["tokens"], attention=weights))
    attention = lay_out(shown, row["tokens"], weights, urls, cited)
    sentences = [_sentence(citation, urls) for citation in cited]
    return SampleSummary(row["system"], sentences, sources(weights, urls), left_out, attention)


def _sentence(citation: CitedSentence, urls: Sequence[str]) -> SampleSentence:
    shares = citation.shares or [None] * len(citation.ranks)
    citations = [Citation(rank, urls[rank], share) for rank, share in zip(citation.ranks, shares, strict=True)]
    return SampleSentence(citation.sentence, citations, doubt(citation))


def doubt(citation: CitedSentence) -> str:
    """Return the note on a sentence that no single paragraph says; empty if one does."""
    if citation.verdict == "said":
        return ""
    if citation.verdict == "combined":
        return "put together from two paragraphs"
    if citation.verdict == "not judged":
        return "not checked: its script has no capitals"
    if citation.verdict == "partly":
        return f"supported in part, not: {', '.join(citation.missing) or 'what it says of its names and numbers'}"
    return f"not supported: {', '.join(citation.missing) or 'no paragraph has half of its words'}"


def _graph(row: Mapping[str, Any]) -> Graph:
    edges = [[(edge["i"], edge["j"], edge["weight"]) for edge in row[kind]] for kind in ("similarity", "discourse")]
    return Graph(row["nodes"], *edges)


def shorten(text: str, most: int = SHOWN_CHARACTERS) -> tuple[str, int]:
    """Return at most `most` characters of a text, cut between words, and the number of characters left out."""
    if len(text) <= most:
        return text, 0
    shown = text[:most]
    shown = shown.rsplit(maxsplit=1)[0] if " " in shown else shown
    return shown, len(text) - len(shown)


def sources(attention: Floats, urls: Sequence[str]) -> list[AttendedPage]:
    """Return the pages with most attention in a whole summary, highest first. `attention` is [T, P], of each token to
    each paragraph, or empty; `urls` are those of at least P paragraphs unless some are missing."""
    shares: dict[str, float] = {}
    if attention.size:
        for url, share in zip(urls, attention.mean(axis=0), strict=False):
            shares[url] = shares.get(url, 0.0) + float(share)
    best = sorted(shares.items(), key=lambda item: -item[1])[:SHOWN_SOURCES]
    return [AttendedPage(url, share) for url, share in best]
