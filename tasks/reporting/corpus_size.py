"""Size of a corpus as in Shen et al. 2023, Table 1: instances, documents of each, words of sources and targets; and a
corpus described in lines, stage by stage."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.builds import Build
from tasks.reporting.blocks import WORDS, Row, Table, table_of
from tasks.reporting.page import summary

Words = NDArray[np.int64]

SAMPLED_SHARDS = 4  # shards go by hash, so the first ones are a fair sample
# The rows of `intake` are those of `articles`, which count again; the others compare paragraphs, and `compared` counts.
_LEFT_OUT = ("intake", "lead_ngrams", "sketches", "twins", "twin_words", "overlaps")


@dataclass(frozen=True)
class CorpusStatistics:
    """Means over the used articles of some shards."""

    articles: int  # how many were counted
    documents: float  # documents with text, refused paragraphs too, as the source published them
    words: float  # their words, separated by spaces
    kept_documents: float  # documents with paragraphs that became candidates
    kept_words: float  # words of these paragraphs
    target_words: float  # words of a target


def corpus_statistics(shards: Iterable[tuple[pa.Table, pa.Table]]) -> CorpusStatistics:
    """Return the statistics of (ARTICLES, PARAGRAPHS) of each shard, one in memory at a time; 0 without articles."""
    return mean_sizes([shard_sizes(*shard, count_words(shard[1]["text"])) for shard in shards])


def shard_sizes(articles: pa.Table, paragraphs: pa.Table, words: Words) -> list[int]:
    """Return the used articles of a shard, the words of their targets, and documents and words of all paragraphs and of
    the kept ones. `words` are those of each paragraph."""
    used = pc.is_null(articles["drop_reason"]).to_numpy()
    kept = pc.is_null(paragraphs["drop_reason"])
    pages = paragraphs.select(["article_id", "url"])
    documents = [some.group_by(["article_id", "url"]).aggregate([]).num_rows for some in (pages, pages.filter(kept))]
    target_words = int(count_words(articles["lead"])[used].sum())
    kept_words = int(words[kept.to_numpy()].sum())
    return [int(used.sum()), target_words, documents[0], int(words.sum()), documents[1], kept_words]


def mean_sizes(shards: Iterable[list[int]]) -> CorpusStatistics:
    """Return the means of `shard_sizes` over all articles."""
    articles, *totals = map(sum, zip(*shards, [0] * 6, strict=True))
    target, documents, words, kept_documents, kept_words = (total / max(1, articles) for total in totals)
    return CorpusStatistics(articles, documents, words, kept_documents, kept_words, target)


def count_words(texts: pa.ChunkedArray) -> Words:
    """Return for each text the number of words, separated by spaces."""
    counts = pc.count_substring_regex(texts, r"\S+").fill_null(0)
    return np.asarray(counts.to_numpy(), dtype=np.int64)


def statistics_table(found: CorpusStatistics, instances: int, *, published: bool = True) -> Table:
    """Return the figures of this corpus, maybe means of a sample of `instances`, and below them `published` ones of
    Shen et al. 2023."""

    def row(name: str, instances: str, documents: float, source: float, target: float) -> Row:
        return [name, instances, f"{documents:.1f}", f"{source:,.0f}", f"{target:,.0f}"]

    kept = ("this one, kept paragraphs", found.kept_documents, found.kept_words)
    named = (("this one", found.documents, found.words), kept)
    rows = [row(name, f"{instances:,}", documents, words, found.target_words) for name, documents, words in named]
    others = WORDS["corpora"].items() if published else ()
    rows += [row(f"{name}, published", f"{some} K", *means) for name, (some, *means) in others]
    sample = "" if found.articles == instances else f"; means of {found.articles:,} articles"
    columns = ["corpus", "instances", "documents", "source, words", "target, words"]
    return table_of(f"Size of the corpus, as in Shen et al. 2023, Table 1{sample}", columns, rows)


def describe_corpus(build: Build, statistics: CorpusStatistics, root: str) -> str:
    """Return a line for each stage: rows kept, and rows refused by reason, most frequent first; then the size."""
    lines = [f"{'stage':<12} {'kept':>10}  refused"]
    kept = {stage: count["rows"] - sum(count["drops"].values()) for stage, count in build.counts.items()}
    for stage, count in build.counts.items():
        if stage not in _LEFT_OUT:
            refused = ", ".join(f"{reason} {rows:,}" for reason, rows in count["drops"].items())
            lines.append(f"{stage:<12} {kept[stage]:>10,}  {refused}".rstrip())
    size = summary([statistics_table(statistics, kept["articles"], published=False)])
    return "\n".join([*lines, "", size, f"build {build.name}: its files are named in {root}/builds/{build.name}.json"])
