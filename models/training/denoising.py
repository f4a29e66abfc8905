"""The noise of denoising pre-training (Lewis et al. 2020, sec. 2.2): sentences in another order, spans hidden.

Shapes: S sentences, n tokens of a passage, k hidden spans, m tokens in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Tokens = NDArray[np.int32]


@dataclass(frozen=True)
class Noise:
    """The noise that a passage gets."""

    mask: int  # id that stands for a hidden span, whatever its length (text infilling)
    share: float = 0.3  # of the tokens that are hidden, 0-1 (Lewis et al. 2020, sec. 4: .3).
    # mean of the Poisson distribution of span lengths, in tokens (Lewis et al. 2020, sec. 2.2: 3); a span of length 0
    # adds a mask where nothing is missing
    span: float = 3.0
    permute: bool = True  # whether sentences come in random order

    def __call__(self, sentences: Sequence[Tokens], rng: np.random.Generator) -> Tokens:
        """Return the tokens of a passage with noise."""
        order = rng.permutation(len(sentences)) if self.permute else range(len(sentences))
        return self.infill(np.concatenate([sentences[number] for number in order]), rng)

    def infill(self, tokens: Tokens, rng: np.random.Generator) -> Tokens:
        """Hide spans: `share` of the tokens in all, rounded; every arrangement of the spans is equally likely."""
        lengths = self._spans(round(self.share * len(tokens)), rng)
        kept = len(tokens) - int(lengths.sum())
        items = kept + len(lengths)  # what the result consists of: kept tokens, and a mask for each span
        masks = np.zeros(items, dtype=bool)
        masks[rng.choice(items, len(lengths), replace=False)] = True
        hidden = np.zeros(items, dtype=np.int64)
        hidden[masks] = lengths
        noisy = np.full(items, self.mask, dtype=tokens.dtype)
        noisy[~masks] = tokens[np.arange(kept) + np.cumsum(hidden)[~masks]]
        return noisy

    def _spans(self, budget: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return lengths of spans that sum to `budget`; the last one is cut."""
        lengths: list[int] = []
        left = budget
        while left > 0:
            lengths.append(min(int(rng.poisson(self.span)), left))
            left -= lengths[-1]
        return np.array(lengths, dtype=np.int64)


@dataclass(frozen=True)
class Denoising:
    """Turns passages into examples: the source is a passage with noise, the target the passage."""

    noise: Noise  # see the class
    begin: tuple[int, ...]  # ids with which a target begins
    end: int  # id that ends it
    seed: int  # of the noise, which is new in every epoch

    def __call__(self, passages: pa.Table, epoch: int, shard: int) -> pa.Table:
        """Return the columns that batches read of examples, given the column `sentences` (list<list<int32>>) of a
        shard; another epoch has other noise."""
        rng = np.random.default_rng((self.seed, epoch, shard))
        sources: list[list[Any]] = []
        targets: list[Any] = []
        for row in passages.column("sentences"):
            sentences = [np.array(sentence, dtype=np.int32) for sentence in row.as_py()]
            sources.append([self.noise(sentences, rng)])
            targets.append(np.concatenate([np.array(self.begin, np.int32), *sentences, np.array([self.end], np.int32)]))
        tokens = pa.list_(pa.int32())
        return pa.table(
            {
                "title": pa.array([[]] * len(sources), tokens),
                "source": pa.array(sources, pa.list_(tokens)),
                "target": pa.array(targets, tokens),
            }
        )
