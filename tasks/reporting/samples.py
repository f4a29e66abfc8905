"""Sample articles of the test split: what the systems wrote, and which page each sentence was taken from.

The attention of a summarizer to its paragraphs says for every sentence which paragraph it looked at most; that
paragraph's page is the sentence's citation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.reporting.attention import Attention, Floats, lay_out, spans
from tasks.reporting.findings import Words, count_words
from tasks.sentences import split_sentences

SHOWN_CHARACTERS = 4000  # of a lead or a summary; one page taken for a lead must not become most of the report
SHOWN_SOURCES = 5


@dataclass(frozen=True)
class Citation:
    """A sentence of a summary and the paragraph it looked at most.

    Attributes:
        sentence: the sentence.
        rank: 0-based rank of the paragraph, or None for a system without attention.
        url: page the paragraph stands in, or None.
        share: the paragraph's share of the sentence's attention, 0-1.
    """

    sentence: str
    rank: int | None = None
    url: str | None = None
    share: float = 0.0


@dataclass(frozen=True)
class Source:
    """A page and its share of the attention of a whole summary, all its paragraphs together, 0-1."""

    url: str
    share: float


@dataclass(frozen=True)
class Written:
    """A system's summary.

    Attributes:
        system: name of the summarizer.
        sentences: the summary, cited where the system has attention.
        sources: the pages it looked at most; none for a system without attention.
        left_out: characters beyond what is shown.
        attention: what it looked at, token by token; None for a system without attention.
    """

    system: str
    sentences: Sequence[Citation]
    sources: Sequence[Source] = ()
    left_out: int = 0
    attention: Attention | None = None


@dataclass(frozen=True)
class Graph:
    """The two graphs over an article's ranked paragraphs.

    Attributes:
        nodes: paragraphs; node i has rank i.
        similarity: edges (i, j, weight) of the similarity graph.
        discourse: likewise of the approximate discourse graph.
    """

    nodes: int
    similarity: Sequence[tuple[int, int, float]]
    discourse: Sequence[tuple[int, int, float]]


@dataclass(frozen=True)
class Sample:
    """An article of the test split.

    Attributes:
        title: of the article.
        lead: its lead section, the target, as far as it is shown.
        lead_left_out: characters of it beyond that.
        written: the summaries, those of trained systems first.
        graph: over its ranked paragraphs, or None.
    """

    title: str
    lead: str
    lead_left_out: int
    written: Sequence[Written]
    graph: Graph | None = None


@dataclass(frozen=True)
class Samples:
    """What was found in the summaries.

    Attributes:
        articles: the sample articles.
        summary_words: system -> words of each of its summaries in the first shards.
    """

    articles: Sequence[Sample]
    summary_words: Mapping[str, Words]


def read_samples(shards: Iterable[tuple[pa.Table, ...]], count: int, length_shards: int) -> Samples:
    """Return the first test articles that have summaries; no shard is read beyond those that are needed.

    Args:
        shards: (articles, ranked, baselines, summaries[, graphs]) of each article shard.
        count: how many articles are wanted.
        length_shards: how many shards the lengths of summaries are taken from.
    """
    found: list[Sample] = []
    words: dict[str, list[Words]] = {}
    for number, (articles, ranked, baselines, trained, *graphs) in enumerate(shards):
        if number < length_shards:
            for predictions in (trained, baselines):
                for system in pc.unique(predictions["system"]).to_pylist():
                    own = predictions.filter(pc.equal(predictions["system"], system))
                    words.setdefault(system, []).append(count_words(own["summary"]))
        if len(found) < count:
            found += _samples(articles, ranked, pa.concat_tables([trained, baselines]), graphs, count - len(found))
        if len(found) >= count and number + 1 >= length_shards:
            break
    return Samples(found, {system: np.concatenate(counts) for system, counts in words.items()})


def _samples(
    articles: pa.Table, ranked: pa.Table, predictions: pa.Table, graphs: Sequence[pa.Table], count: int
) -> list[Sample]:
    written = pa.array(pc.unique(predictions["article_id"]).to_pylist(), pa.string())
    test = pc.and_(pc.equal(articles["split"], "test"), pc.is_in(articles["article_id"], written))
    chosen = articles.filter(pc.and_(test, pc.is_null(articles["drop_reason"]))).slice(0, count)
    return [
        _sample(
            article,
            _rows_of(ranked, article).sort_by("rank")["url"].to_pylist(),
            _rows_of(predictions, article).to_pylist(),
            _rows_of(graphs[0], article).to_pylist() if graphs else [],
        )
        for article in chosen.select(["article_id", "title", "lead"]).to_pylist()
    ]


def _rows_of(table: pa.Table, article: Mapping[str, Any]) -> pa.Table:
    return table.filter(pc.equal(table["article_id"], article["article_id"]))


def _sample(
    article: Mapping[str, Any], urls: list[str], rows: list[dict[str, Any]], graphs: list[dict[str, Any]]
) -> Sample:
    lead, left_out = shorten(article["lead"])
    return Sample(
        title=article["title"],
        lead=lead,
        lead_left_out=left_out,
        written=[_written(row, urls) for row in rows],
        graph=_graph(graphs[0]) if graphs else None,
    )


def _written(row: Mapping[str, Any], urls: list[str]) -> Written:
    weights = np.array(row["attention"] or [], np.float32)
    shown, left_out = shorten(row["summary"])
    attention = lay_out(shown, row["tokens"], weights, urls)
    cited = cite(shown, row["tokens"], weights, urls)
    return Written(row["system"], cited, sources(weights, urls), left_out, attention)


def _graph(row: Mapping[str, Any]) -> Graph:
    edges = [[(edge["i"], edge["j"], edge["weight"]) for edge in row[kind]] for kind in ("similarity", "discourse")]
    return Graph(row["nodes"], *edges)


def shorten(text: str, most: int = SHOWN_CHARACTERS) -> tuple[str, int]:
    """Return `most` characters of a text at most, cut between words, and the number of characters left out."""
    if len(text) <= most:
        return text, 0
    shown = text[:most]
    shown = shown.rsplit(maxsplit=1)[0] if " " in shown else shown
    return shown, len(text) - len(shown)


def sources(attention: Floats, urls: Sequence[str]) -> list[Source]:
    """Return the pages that a whole summary looked at most, most first.

    Args:
        attention: [T, P] of each token to each paragraph, or empty for a system without attention.
        urls: page of each ranked paragraph, at least P unless paragraphs are missing.
    """
    shares: dict[str, float] = {}
    if attention.size:
        for url, share in zip(urls, attention.mean(axis=0), strict=False):
            shares[url] = shares.get(url, 0.0) + float(share)
    best = sorted(shares.items(), key=lambda item: -item[1])[:SHOWN_SOURCES]
    return [Source(url, share) for url, share in best]


def cite(summary: str, tokens: Sequence[str], attention: Floats, urls: Sequence[str]) -> list[Citation]:
    """Split a summary into sentences, each with the paragraph that its tokens looked at most.

    Args:
        summary: the text.
        tokens: its T pieces; together, with SentencePiece's space marks, they spell the summary.
        attention: [T, P] of each token to each paragraph, or empty for a system without attention.
        urls: page of each ranked paragraph.
    """
    if not attention.size:
        return [Citation(sentence) for sentence in split_sentences(summary)]
    citations = []
    for span in spans(summary, tokens, attention):
        url = urls[span.rank] if span.rank is not None and span.rank < len(urls) else None
        citations.append(Citation(span.sentence, span.rank, url, span.share))
    return citations
