"""What the ranker reads: candidate paragraphs and titles as token ids, in batches of like length.

Shapes: N paragraphs of A articles, B of them in a batch, L tokens at most.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.vocabulary import Vocabulary
from tasks.draws import draws
from tasks.hashing import stable_hash

Split = Literal["train", "valid", "test"]
Integers = NDArray[np.int64]
_CHUNK = 4096  # texts encoded at a time: their ids are Python objects until they are packed
_LENGTH_MULTIPLE = 8  # padded lengths, so that kernels meet few shapes


@dataclass(frozen=True)
class Candidates:
    """The kept paragraphs of kept articles, article by article.

    Attributes:
        ids: A article ids.
        titles: A titles.
        rows: N rows of PARAGRAPHS.
        article: [N] index into `ids`.
        number: [N] paragraph_id.
    """

    ids: list[str]
    titles: list[str]
    rows: pa.Table
    article: Integers
    number: Integers

    def __len__(self) -> int:
        return len(self.number)

    def take(self, places: Integers) -> "Candidates":
        """Return some of the paragraphs, in the order of `places`; articles keep their indices."""
        rows = self.rows.take(pa.array(places))
        return Candidates(self.ids, self.titles, rows, self.article[places], self.number[places])

    def draw(self, seed: int, *names: str | int) -> NDArray[np.uint64]:
        """Return a seeded random key for each paragraph, [N], which hangs on its article's id and its number alone."""
        bases = np.array([stable_hash(seed, "ranker", *names, article) for article in self.ids], dtype=np.uint64)
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
        rows=paragraphs.filter(wanted),
        article=ours.filter(wanted).to_numpy().astype(np.int64),
        number=paragraphs["paragraph_id"].filter(wanted).to_numpy().astype(np.int64),
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


class Texts:
    """Token ids of many texts in one flat array."""

    def __init__(self, texts: Iterable[list[str]], vocabulary: Vocabulary, limit: int, threads: int = 1) -> None:
        """Encode chunks of texts, each text cut to its first `limit` tokens."""
        flat, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for chunk in texts:
            ids = [row[:limit] for row in vocabulary.encode_batch(chunk, threads=threads)]
            lengths.append(np.array([len(row) for row in ids], dtype=np.int64))
            flat.append(np.fromiter((id_ for row in ids for id_ in row), dtype=np.int32, count=int(lengths[-1].sum())))
        self.lengths: Integers = np.concatenate(lengths)
        self._flat = np.concatenate(flat)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._pad = vocabulary.pad

    @classmethod
    def of_column(cls, column: pa.ChunkedArray, vocabulary: Vocabulary, limit: int, threads: int = 1) -> "Texts":
        """Encode a column of strings."""
        chunks = (column.slice(start, _CHUNK).to_pylist() for start in range(0, len(column), _CHUNK))
        return cls(chunks, vocabulary, limit, threads)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, places: Integers) -> Tensor:
        """Return texts as [B, L] int64, padded on the right to a multiple of 8."""
        lengths = self.lengths[places]
        width = max(-(-int(lengths.max(initial=1)) // _LENGTH_MULTIPLE), 1) * _LENGTH_MULTIPLE
        columns = np.arange(width)
        present = columns < lengths[:, None]
        ids = np.full((len(places), width), self._pad, dtype=np.int64)
        ids[present] = self._flat[(self._starts[places][:, None] + columns)[present]]
        return torch.from_numpy(ids)


def batches_by_length(lengths: Integers, tokens: int) -> Iterator[Integers]:
    """Yield places of texts of like length, longest first, at most `tokens` with padding (but one text at least)."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = max(-(-int(lengths[order[start]]) // _LENGTH_MULTIPLE), 1) * _LENGTH_MULTIPLE
        end = start + max(tokens // width, 1)
        yield order[start:end]
        start = end


def shuffled_batches(lengths: Integers, keys: NDArray[np.uint64], size: int, window: int = 16) -> list[Integers]:
    """Return batches of `size` places in an order given by `keys`, each of texts of like length.

    Texts are shuffled, sorted by length within windows of `window` batches, cut into batches, and these are shuffled:
    little padding, and yet each batch draws from all articles.
    """
    order = np.argsort(keys, kind="stable")
    batches: list[Integers] = []
    for start in range(0, len(order), size * window):
        near = order[start : start + size * window]
        near = near[np.argsort(lengths[near], kind="stable")]
        cut: Sequence[Integers] = [near[at : at + size] for at in range(0, len(near), size)]
        batches.extend(sorted(cut, key=lambda batch: int(keys[batch].min())))
    return batches
