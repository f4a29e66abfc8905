"""Candidate paragraphs: the kept ones of kept articles, their features, and the best of them by a score.

Shapes: N paragraphs of A articles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.engine.draws import draws
from tasks.engine.hashing import stable_hash

Split = Literal["train", "valid", "test"]
Integers = NDArray[np.int64]
_CHUNK = 4096  # texts that are Python strings at a time


@dataclass(frozen=True)
class Candidates:
    """The kept paragraphs of kept articles, article by article; texts stay where they are until they are asked for.

    Attributes:
        ids: A article ids.
        titles: A titles.
        article: [N] index into `ids`.
        number: [N] paragraph_id.
        paragraphs: the PARAGRAPHS table they are of.
        row: [N] row of that table.
    """

    ids: list[str]
    titles: list[str]
    article: Integers
    number: Integers
    paragraphs: pa.Table
    row: Integers

    def __len__(self) -> int:
        return len(self.number)

    def take(self, places: Integers) -> "Candidates":
        """Return some of the paragraphs, in the order of `places`; articles keep their indices."""
        return Candidates(
            self.ids, self.titles, self.article[places], self.number[places], self.paragraphs, self.row[places]
        )

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of PARAGRAPHS for the candidates, [N]."""
        return self.paragraphs[name].take(pa.array(self.row))

    def texts(self) -> Iterator[list[str]]:
        """Yield the texts in order, some thousand at a time."""
        text = self.paragraphs["text"]
        for start in range(0, len(self), _CHUNK):
            yield text.take(pa.array(self.row[start : start + _CHUNK])).to_pylist()

    def draw(self, seed: int, *names: str | int) -> NDArray[np.uint64]:
        """Return a seeded random key for each paragraph, [N], which depends on its article's id and its number
        alone.
        """
        bases = np.array([stable_hash(seed, *names, article) for article in self.ids], dtype=np.uint64)
        return draws(bases[self.article], self.number)

    def best(self, scores: NDArray[np.float32], keep: int) -> Integers:
        """Return the places of each article's `keep` highest scores, best first, equal ones by paragraph_id."""
        order = np.lexsort((self.number, -scores, self.article))
        return order[place_in_run(self.article[order]) < keep]

    def ranks(self) -> Integers:
        """Return each paragraph's place among those of its article, counted from 0, [N]."""
        return place_in_run(self.article)


def candidates(articles: pa.Table, paragraphs: pa.Table, split: Split | None = None) -> Candidates:
    """Return the kept paragraphs of kept articles.

    Args:
        articles: ARTICLES rows.
        paragraphs: PARAGRAPHS rows.
        split: only articles of this split; None = all.
    """
    chosen = pc.is_null(articles["drop_reason"])
    if split is not None:
        chosen = pc.and_(chosen, pc.equal(articles["split"], split))
    kept = articles.select(["article_id", "title"]).filter(chosen).sort_by("article_id")
    known = kept["article_id"].combine_chunks().cast(pa.string())
    ours = pc.index_in(paragraphs["article_id"], value_set=known)
    wanted = pc.and_(pc.is_valid(ours), pc.is_null(paragraphs["drop_reason"]))
    found = Candidates(
        ids=known.to_pylist(),
        titles=[title or "" for title in kept["title"].to_pylist()],
        article=ours.filter(wanted).to_numpy().astype(np.int64),
        number=paragraphs["paragraph_id"].filter(wanted).to_numpy().astype(np.int64),
        paragraphs=paragraphs,
        row=np.flatnonzero(wanted.to_numpy()),
    )
    return found.take(np.lexsort((found.number, found.article)))


def features_of(chosen: Candidates, features: pa.Table, column: str) -> NDArray[np.float32]:
    """Return one FEATURES column for the candidates, [N].

    Raises:
        ValueError: a candidate has no row in `features`.
    """
    article = pc.index_in(features["article_id"], value_set=pa.array(chosen.ids, pa.string())).fill_null(-1).to_numpy()
    number = features["paragraph_id"].to_numpy()
    order = np.lexsort((number, article))
    width = 1 + max(int(number.max(initial=0)), int(chosen.number.max(initial=0)))
    wanted = chosen.article * width + chosen.number
    have = (article.astype(np.int64) * width + number)[order]
    place = np.searchsorted(have, wanted)
    place[place == len(have)] = 0
    missing = np.flatnonzero(have[place] != wanted) if len(have) else np.arange(len(wanted))
    if len(missing):
        lost = missing[0]
        raise ValueError(
            f"paragraph {chosen.number[lost]} of article {chosen.ids[chosen.article[lost]]} has no features: "
            "expected a row for every kept paragraph"
        )
    values: NDArray[np.float32] = features[column].to_numpy()[order][place].astype(np.float32)
    return values


def place_in_run(values: Integers) -> Integers:
    """Return how far each element is from the start of its run of equal values."""
    places = np.arange(len(values))
    starts = np.flatnonzero(np.diff(values, prepend=values[:1] - 1)) if len(values) else places
    return places - starts[np.searchsorted(starts, places, side="right") - 1] if len(values) else places
