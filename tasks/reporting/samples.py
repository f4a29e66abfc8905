"""Sample articles of the test split: the systems' summaries, and the pages that support each sentence. Every sentence
is shown with its citations (`tasks/evaluation/citations.py`), and with a note if they do not support it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from tasks.evaluation.citations import CitedSentence, Citer
from tasks.evaluation.metrics import Summary
from tasks.reporting import blocks
from tasks.reporting.attention import Floats, SummaryAttention, attention_picture, drawn_tokens, lay_out
from tasks.reporting.blocks import WORDS, AttendedPage, Block, Citation, SampleSentence, section
from tasks.reporting.corpus_size import Words, count_words
from tasks.reporting.plots import COLORS, INK, draw

SHOWN_CHARACTERS = 4000  # of a lead or a summary; a whole page taken for a lead must not fill the report
SHOWN_SOURCES = 5


@dataclass(frozen=True)
class SampleSummary(blocks.Cited):
    """A system's summary with its citations; `sources` are empty for a system without attention."""

    system: str = ""
    attention: SummaryAttention | None = None  # its attention, token by token; None for a system without attention


@dataclass(frozen=True)
class Sample:
    """An article of the test split."""

    title: str  # of the article
    lead: blocks.Quote  # its lead section, the target
    written: Sequence[SampleSummary]  # the summaries, those of trained systems first
    graph: Mapping[str, Any] | None = None  # the row of GRAPHS over its ranked paragraphs, or None


@dataclass(frozen=True)
class Samples:
    """Sample articles and statistics of the summaries."""

    articles: Sequence[Sample]
    summary_words: Mapping[str, Words]  # system -> words of each of its summaries in the first shards


def read_samples(
    samples: Iterable[tuple[pa.Table, pa.Table, pa.Table]],
    trained: Iterable[tuple[pa.Table, ...]],
    untrained: Iterable[tuple[pa.Table, ...]],
    *,
    count: int,
    length_shards: int,
) -> Samples:
    """Return the first test articles with summaries; only the needed shards are read. A shard of `samples` is
    (articles, ranked, graphs), one of `trained` and `untrained` the PREDICTIONS of systems with and without training
    here. Lengths are those of the first `length_shards`."""
    collected: list[Sample] = []
    words: dict[str, list[Words]] = {}
    for number, ((articles, ranked, graphs), *written) in enumerate(zip(samples, trained, untrained, strict=True)):
        predictions = pa.concat_tables(table for tables in written for table in tables)
        if number < length_shards:
            for system in pc.unique(predictions["system"]).to_pylist():
                predicted = predictions.filter(pc.equal(predictions["system"], system))
                words.setdefault(system, []).append(count_words(predicted["summary"]))
        collected += _samples(articles, ranked, graphs, predictions, count - len(collected))
        if len(collected) >= count and number + 1 >= length_shards:
            break
    return Samples(collected, {system: np.concatenate(counts) for system, counts in words.items()})


def _samples(
    articles: pa.Table, ranked: pa.Table, graphs: pa.Table, predictions: pa.Table, count: int
) -> Iterator[Sample]:
    written = pa.array(pc.unique(predictions["article_id"]).to_pylist(), pa.string())
    test = pc.and_(pc.equal(articles["split"], "test"), pc.is_in(articles["article_id"], written))
    chosen = articles.filter(pc.and_(test, pc.is_null(articles["drop_reason"]))).slice(0, count)
    for article in chosen.select(["article_id", "title", "lead"]).to_pylist():
        best, rows, graph = (
            some.filter(pc.equal(some["article_id"], article["article_id"])) for some in (ranked, predictions, graphs)
        )
        best = best.sort_by("rank")
        urls = best["url"].to_pylist()
        citer = Citer(article["title"], best["text"].to_pylist(), [article["lead"]])
        summaries = [_written(row, urls, citer) for row in rows.to_pylist()]
        lead = blocks.Quote(*shorten(article["lead"]))
        yield Sample(article["title"], lead, summaries, next(iter(graph.to_pylist()), None))


def _written(row: Mapping[str, Any], urls: list[str], citer: Citer) -> SampleSummary:
    weights = np.array(row["attention"] or [], np.float32)
    shown, left_out = shorten(row["summary"])
    cited = citer.cite(Summary(shown, tokens=row["tokens"], attention=weights))
    attention = lay_out(shown, row["tokens"], weights, urls, cited)
    sentences = []
    for item in cited:
        shares = item.shares or [None] * len(item.ranks)
        citations = [Citation(rank, urls[rank], share) for rank, share in zip(item.ranks, shares, strict=True)]
        sentences.append(SampleSentence(item.sentence, citations, doubt(item)))
    return SampleSummary(sentences, sources(weights, urls), left_out, row["system"], attention)


def doubt(citation: CitedSentence) -> str:
    """Return the note on a sentence that no single paragraph says; empty if one does."""
    note, otherwise = WORDS["doubts"][citation.verdict]
    return note.format(missing=", ".join(citation.missing) or otherwise)  # type: ignore[no-any-return]


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


@section("samples", "Sample summaries")
def samples_section(samples: Samples) -> Iterator[Block]:
    """Articles of the test split with the systems' summaries."""
    if not samples.articles:
        yield blocks.Text("No article of the test split has a summary to show.")
        return
    yield blocks.Text(WORDS["legends"]["samples"])
    for article in samples.articles:
        yield blocks.Heading(article.title)
        yield blocks.Heading("Lead section (the target)", 4)
        yield article.lead
        first, *others = article.written
        yield from _shown(first)
        if others:
            title = f"Summaries by {', '.join(one.system for one in others)}"
            yield blocks.Folded(title, [block for item in others for block in _shown(item)])


def _shown(written: SampleSummary) -> Iterator[Block]:
    yield blocks.Heading(f"Summary by {written.system}", 4)
    yield written if written.sentences else blocks.Text("An empty summary.")


@section("attention", "Attention of the summaries")
def attention_section(samples: Samples) -> Iterator[Block]:
    """Paragraph attention over time of every sample summary whose system has attention."""
    pictures: list[Block] = []
    for article in samples.articles:
        drawn = [(item.system, item.attention) for item in article.written if item.attention is not None]
        if drawn:
            pictures.append(blocks.Heading(article.title))
        for system, attention in drawn:
            tokens, shown = len(attention.tokens), drawn_tokens(attention)
            caption = f"Paragraph attention of {system} while it wrote about “{article.title}”"
            caption += f", the first {shown:,} of {tokens:,} tokens" if shown < tokens else f", {tokens:,} tokens"
            pictures.append(blocks.Picture(caption, attention_picture(attention), wide=True))
    yield blocks.Text(WORDS["legends"]["attention"] if pictures else "No system with attention has a summary to show.")
    yield from pictures


@section("graphs", "Paragraph graphs")
def graphs_section(samples: Samples) -> Iterator[Block]:
    """The similarity graph and the discourse graph of the first sample article that has them."""
    for article in samples.articles:
        if article.graph is not None:
            yield blocks.Text(WORDS["legends"]["graphs"])
            caption = f"Graphs over the ranked paragraphs of “{article.title}”, numbered by rank"
            yield blocks.Picture(caption, graph_picture(article.graph))
            return
    yield blocks.Text("No sample article has a graph.")


def graph_picture(graph: Mapping[str, Any]) -> bytes:
    """Draw both graphs of a row of GRAPHS side by side, paragraphs on a circle in order of rank."""
    nodes = graph["nodes"]
    angles = np.pi / 2 - 2 * np.pi * np.arange(nodes) / max(nodes, 1)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def circle(kind: str) -> Callable[[Axes], None]:
        def panel(axes: Axes) -> None:
            edges = [(edge["i"], edge["j"], edge["weight"]) for edge in graph[kind]]
            top = max((weight for _, _, weight in edges), default=1.0) or 1.0
            lines = [points[[i, j]] for i, j, _ in edges]
            colors = [(COLORS[0], 0.15 + 0.75 * max(weight, 0.0) / top) for _, _, weight in edges]
            if lines:
                axes.add_collection(LineCollection(lines, colors=colors, linewidths=1.0))
            axes.scatter(points[:, 0], points[:, 1], s=130, color="white", edgecolor=INK, linewidth=0.8, zorder=2)
            for rank, (x, y) in enumerate(points):
                axes.text(x, y, str(rank + 1), fontsize=6, ha="center", va="center", color=INK, zorder=3)
            axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.4), aspect="equal")
            axes.text(0, 1.25, f"{kind}: {len(edges):,} edges", fontsize=10, ha="center")
            axes.axis("off")

        return panel

    return draw(circle("similarity"), circle("discourse"), width=7.2, height=4.0)
