"""The ranker's training batches: several epochs over the shards, which can be resumed at any position. The content of a
batch depends only on the seed and its position. One shard and the paragraphs drawn from it are in memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.training.batches import Position, TrainingBatch
from models.vocabulary import Vocabulary
from tasks.engine.hashing import draws, stable_hash
from tasks.engine.recipe import Shards
from tasks.ranking.candidates import Candidates, Integers, Split, candidates, features_of, place_in_run

_LENGTH_MULTIPLE = 8  # of padded lengths, so that fewer shapes occur


class Texts:
    """Token ids of many texts in one flat array."""

    def __init__(self, texts: Iterable[list[str]], vocabulary: Vocabulary, limit: int) -> None:
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


NOTHING_TO_LEARN = "no paragraph to train the ranker on: expected kept paragraphs in the training split"


@dataclass(frozen=True)
class RankerBatch(TrainingBatch):
    """A training batch."""

    paragraphs: Tensor  # [B, L] int64 token ids
    titles: Tensor  # [A, Lt] int64 token ids of the articles in the batch, each once
    title: Tensor  # [B] int64 row of `titles` for each paragraph
    labels: Tensor  # [B] float32 ROUGE-2 recall
    source_tokens: int  # tokens of the paragraphs without padding
    padded_tokens: int  # with padding, B x L
    following: Position  # position in the data after it
    share: float  # of all epochs read after it, 0-1, as if all shards had equally many paragraphs


@dataclass(frozen=True)
class BatchRules:
    """How batches are drawn."""

    seed: int  # of every choice
    epochs: int  # passes over the training split
    size: int  # paragraphs a batch
    per_article: int  # maximum number of paragraphs drawn from an article in an epoch
    title_tokens: int  # tokens of a title that are read
    paragraph_tokens: int  # tokens of a paragraph that are read


@dataclass(frozen=True)
class Drawn:
    """Paragraphs drawn from one split of a shard, encoded."""

    chosen: Candidates  # the paragraphs and their articles
    texts: Texts  # N encoded paragraphs
    titles: Texts  # A encoded titles
    labels: np.ndarray  # [N] ROUGE-2 recall
    similarity: np.ndarray  # [N] tf-idf similarity with the title

    def __len__(self) -> int:
        return len(self.chosen)


def draw_paragraphs(
    tables: tuple[pa.Table, ...], split: Split, vocabulary: Vocabulary, rules: BatchRules, *, round_: int
) -> Drawn:
    """Draw at most `per_article` paragraphs from each article of a split; another `round_` draws others."""
    articles, paragraphs, features = tables
    everything = candidates(articles, paragraphs, split)
    keys = everything.draw(rules.seed, "ranker", "paragraphs", round_)
    order = np.lexsort((keys, everything.article))
    few = np.sort(order[place_in_run(everything.article[order]) < rules.per_article])
    chosen = everything.take(few)
    return Drawn(
        chosen,
        Texts(chosen.texts(), vocabulary, rules.paragraph_tokens),
        Texts([chosen.titles], vocabulary, rules.title_tokens),
        features_of(chosen, features, "rouge2_recall"),
        features_of(chosen, features, "title_similarity"),
    )


def training_batches(
    shards: Shards, vocabulary: Vocabulary, rules: BatchRules, start: Position
) -> Iterator[RankerBatch]:
    """Yield the batches from `start` to the last epoch's end. Raises ValueError: there is nothing to train on."""
    for epoch in range(start.epoch, rules.epochs):
        keys_of_shards = draws(stable_hash(rules.seed, "ranker", "shards", epoch), np.arange(len(shards)))
        any_batch = False
        for turn, shard in enumerate(np.argsort(keys_of_shards, kind="stable").tolist()):
            if epoch == start.epoch and turn < start.shard:
                any_batch = True
                continue
            skip = start.batch if (epoch, turn) == (start.epoch, start.shard) else 0
            drawn = draw_paragraphs(shards.read(shard), "train", vocabulary, rules, round_=epoch)
            keys = drawn.chosen.draw(rules.seed, "ranker", "batches", epoch)
            batches = shuffled_batches(drawn.texts.lengths, keys, rules.size)
            any_batch = any_batch or bool(batches)
            for number in range(skip, len(batches)):
                turns_done = turn + (number + 1) / len(batches)
                share = (epoch + turns_done / len(shards)) / rules.epochs
                yield _batch(drawn, batches[number], Position(epoch, turn, number + 1), share)
        if not any_batch:
            raise ValueError(NOTHING_TO_LEARN)


def _batch(drawn: Drawn, indices: np.ndarray, following: Position, share: float) -> RankerBatch:
    paragraphs = drawn.texts.padded(indices)
    articles, title = np.unique(drawn.chosen.article[indices], return_inverse=True)
    return RankerBatch(
        paragraphs,
        drawn.titles.padded(articles),
        torch.from_numpy(title),
        torch.from_numpy(drawn.labels[indices]),
        int(drawn.texts.lengths[indices].sum()),
        paragraphs.numel(),
        following,
        share,
    )
