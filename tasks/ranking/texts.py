"""The ranker's input: N texts as token ids, in batches of B texts of similar length, L tokens at most."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.vocabulary import Vocabulary
from tasks.ranking.candidates import Integers

_LENGTH_MULTIPLE = 8  # of padded lengths, so that fewer shapes occur


class Texts:
    """Token ids of many texts in one flat array."""

    def __init__(self, texts: Iterable[list[str]], vocabulary: Vocabulary, limit: int) -> None:
        """Encode chunks of texts, each text cut to its first `limit` tokens."""
        small = np.uint16 if vocabulary.size <= 2**16 else np.int32  # a shard has some 40 M tokens
        flat, lengths = [np.zeros(0, small)], [np.zeros(0, np.int64)]
        for chunk in texts:
            ids = [row[:limit] for row in vocabulary.encode_batch(chunk)]
            lengths.append(np.array([len(row) for row in ids], dtype=np.int64))
            flat.append(np.fromiter((id_ for row in ids for id_ in row), dtype=small, count=int(lengths[-1].sum())))
        self.lengths: Integers = np.concatenate(lengths)
        self._flat = np.concatenate(flat)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._pad = vocabulary.pad

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, indices: Integers) -> Tensor:
        """Return texts as [B, L] int64, padded on the right to a multiple of 8."""
        lengths = self.lengths[indices]
        width = max(-(-int(lengths.max(initial=1)) // _LENGTH_MULTIPLE), 1) * _LENGTH_MULTIPLE
        columns = np.arange(width)
        present = columns < lengths[:, None]
        ids = np.full((len(indices), width), self._pad, dtype=np.int64)
        ids[present] = self._flat[(self._starts[indices][:, None] + columns)[present]]
        return torch.from_numpy(ids)


def batches_by_length(lengths: Integers, tokens: int) -> Iterator[Integers]:
    """Yield indices of texts of similar length, longest first, at most `tokens` with padding (at least one text)."""
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = max(-(-int(lengths[order[start]]) // _LENGTH_MULTIPLE), 1) * _LENGTH_MULTIPLE
        end = start + max(tokens // width, 1)
        yield order[start:end]
        start = end


def shuffled_batches(lengths: Integers, keys: NDArray[np.uint64], size: int, window: int = 16) -> list[Integers]:
    """Return batches of `size` indices in an order given by `keys`, each of texts of similar length. Texts are
    shuffled, sorted by length within windows of `window` batches, and cut into batches, which are shuffled. So padding
    is small, and still each batch draws from all articles."""
    order = np.argsort(keys, kind="stable")
    batches: list[Integers] = []
    for start in range(0, len(order), size * window):
        window_order = order[start : start + size * window]
        window_order = window_order[np.argsort(lengths[window_order], kind="stable")]
        cut: Sequence[Integers] = [window_order[at : at + size] for at in range(0, len(window_order), size)]
        batches.extend(sorted(cut, key=lambda batch: int(keys[batch].min())))
    return batches
