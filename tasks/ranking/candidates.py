"""Candidate paragraphs, N of A articles: the kept ones of kept articles, their features, the best by a score."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.engine.hashing import draws, stable_hash

Split = Literal["train", "valid", "test"]
Integers = NDArray[np.int64]
_CHUNK = 4096  # texts that are Python strings at a time


@dataclass(frozen=True)
class Candidates:
    """The kept paragraphs of kept articles, article by article; texts are read only on request."""

    ids: list[str]  # A article ids
    titles: list[str]  # A titles
    article: Integers  # [N] index into `ids`
    number: Integers  # [N] paragraph_id
    paragraphs: pa.Table  # their PARAGRAPHS table
    row: Integers  # [N] row of that table

    def __len__(self) -> int:
        return len(self.number)

    def take(self, indices: Integers) -> "Candidates":
        """Return some of the paragraphs, in the order of `indices`; articles keep their indices."""
        return Candidates(
            self.ids, self.titles, self.article[indices], self.number[indices], self.paragraphs, self.row[indices]
        )

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of PARAGRAPHS for the candidates, [N]."""
        return self.paragraphs[name].take(pa.array(self.row))

    def texts(self) -> Iterator[list[str]]:
        """Yield the texts in order, in chunks of some thousand."""
        text = self.paragraphs["text"]
        for start in range(0, len(self), _CHUNK):
            yield text.take(pa.array(self.row[start : start + _CHUNK])).to_pylist()

    def draw(self, seed: int, *names: str | int) -> NDArray[np.uint64]:
        """Return a seeded random key for each paragraph, [N], which depends only on its article's id and its number."""
        bases = np.array([stable_hash(seed, *names, article) for article in self.ids], dtype=np.uint64)
        return draws(bases[self.article], self.number)

    def best(self, scores: NDArray[np.float32], keep: int) -> Integers:
        """Return the indices of each article's `keep` highest scores, best first, ties by paragraph_id."""
        order = np.lexsort((self.number, -scores, self.article))
        return order[place_in_run(self.article[order]) < keep]


def candidates(articles: pa.Table, paragraphs: pa.Table, split: Split | None = None) -> Candidates:
    """Return the kept paragraphs of kept articles of a split; None = of all."""
    chosen = pc.is_null(articles["drop_reason"])
    if split is not None:
        chosen = pc.and_(chosen, pc.equal(articles["split"], split))
    kept = articles.select(["article_id", "title"]).filter(chosen).sort_by("article_id")
    kept_ids = kept["article_id"].combine_chunks().cast(pa.string())
    article = pc.index_in(paragraphs["article_id"], value_set=kept_ids)
    wanted = pc.and_(pc.is_valid(article), pc.is_null(paragraphs["drop_reason"]))
    all_kept = Candidates(
        ids=kept_ids.to_pylist(),
        titles=[title or "" for title in kept["title"].to_pylist()],
        article=article.filter(wanted).to_numpy().astype(np.int64),
        number=paragraphs["paragraph_id"].filter(wanted).to_numpy().astype(np.int64),
        paragraphs=paragraphs,
        row=np.flatnonzero(wanted.to_numpy()),
    )
    return all_kept.take(np.lexsort((all_kept.number, all_kept.article)))


def features_of(chosen: Candidates, features: pa.Table, column: str) -> NDArray[np.float32]:
    """Return one FEATURES column for the candidates, [N]. Raises ValueError: a candidate has no row in `features`."""
    article = pc.index_in(features["article_id"], value_set=pa.array(chosen.ids, pa.string())).fill_null(-1).to_numpy()
    number = features["paragraph_id"].to_numpy()
    order = np.lexsort((number, article))
    width = 1 + max(int(number.max(initial=0)), int(chosen.number.max(initial=0)))
    wanted = chosen.article * width + chosen.number
    available = (article.astype(np.int64) * width + number)[order]
    index = np.searchsorted(available, wanted)
    index[index == len(available)] = 0
    missing = np.flatnonzero(available[index] != wanted) if len(available) else np.arange(len(wanted))
    if len(missing):
        lost = missing[0]
        raise ValueError(
            f"paragraph {chosen.number[lost]} of article {chosen.ids[chosen.article[lost]]} has no features: "
            "expected a row for every kept paragraph"
        )
    values: NDArray[np.float32] = features[column].to_numpy()[order][index].astype(np.float32)
    return values


def place_in_run(values: Integers) -> Integers:
    """Return how far each element is from the start of its run of equal values."""
    indices = np.arange(len(values))
    starts = np.flatnonzero(np.diff(values, prepend=values[:1] - 1)) if len(values) else indices
    return indices - starts[np.searchsorted(starts, indices, side="right") - 1] if len(values) else indices
