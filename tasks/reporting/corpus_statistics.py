"""Size of a corpus as in Shen et al. 2023, Table 1: instances, documents of each, words of sources and targets."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Words = NDArray[np.int64]

SAMPLED_SHARDS = 4  # shards go by hash, so the first ones are a fair sample


@dataclass(frozen=True)
class Sources:
    """Means over articles."""

    documents: float  # number of documents with text
    words: float  # their words, separated by spaces


@dataclass(frozen=True)
class CorpusStatistics:
    """Means over the used articles of some shards."""

    articles: int  # how many were counted
    sources: Sources  # of all paragraphs, refused ones too, as the source published them
    kept: Sources  # of the paragraphs that became candidates
    target_words: float  # words of a target


class CorpusCounter:
    """Adds up the shards of a corpus."""

    def __init__(self) -> None:
        self._articles = self._target_words = 0
        self._totals = {"all": [0, 0], "kept": [0, 0]}  # documents, words

    def add(self, articles: pa.Table, paragraphs: pa.Table, words: Words) -> None:
        """Count the rows of ARTICLES and PARAGRAPHS of a shard, and the words of each paragraph."""
        used = pc.is_null(articles["drop_reason"]).to_numpy()
        self._articles += int(used.sum())
        self._target_words += int(count_words(articles["lead"])[used].sum())
        kept = pc.is_null(paragraphs["drop_reason"])
        pages = paragraphs.select(["article_id", "url"])
        for name, chosen in (("all", None), ("kept", kept)):
            documents = pages if chosen is None else pages.filter(chosen)
            self._totals[name][0] += documents.group_by(["article_id", "url"]).aggregate([]).num_rows
            self._totals[name][1] += int((words if chosen is None else words[chosen.to_numpy()]).sum())

    def statistics(self) -> CorpusStatistics:
        """Return the means; 0 where there is no article."""
        number = max(1, self._articles)
        sources, kept = (Sources(*(total / number for total in totals)) for totals in self._totals.values())
        return CorpusStatistics(self._articles, sources, kept, self._target_words / number)


def corpus_statistics(shards: Iterable[tuple[pa.Table, pa.Table]]) -> CorpusStatistics:
    """Return the statistics of (ARTICLES, PARAGRAPHS) of each shard, one in memory at a time."""
    counter = CorpusCounter()
    for articles, paragraphs in shards:
        counter.add(articles, paragraphs, count_words(paragraphs["text"]))
    return counter.statistics()


def count_words(texts: pa.ChunkedArray) -> Words:
    """Return for each text the number of words, separated by spaces."""
    counts = pc.count_substring_regex(texts, r"\S+").fill_null(0)
    return np.asarray(counts.to_numpy(), dtype=np.int64)
