"""The ranker's training batches: an endless enough walk over shards that can be taken up at any place.

What a batch holds depends on the seed and its place alone. Memory holds one shard and the paragraphs drawn from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from models.training.batches import Position
from models.vocabulary import Vocabulary
from tasks.engine.draws import draws
from tasks.engine.hashing import stable_hash
from tasks.ranking.candidates import Candidates, Split, candidates, features_of, place_in_run
from tasks.ranking.texts import Texts, shuffled_batches

NOTHING_TO_LEARN = "no paragraph to train the ranker on: the training split has no kept paragraphs"


class RankerShards(Protocol):
    """Shards of (ARTICLES, PARAGRAPHS, FEATURES) tables of the same articles, read when asked for."""

    def __len__(self) -> int: ...

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        """Return the three tables of a shard."""
        ...


@dataclass(frozen=True)
class RankerBatch:
    """What one step learns from.

    Attributes:
        paragraphs: [B, L] int64 token ids.
        titles: [A, Lt] int64 token ids of the articles in the batch, each once.
        title: [B] int64 row of `titles` for each paragraph.
        labels: [B] float32 ROUGE-2 recall.
        source_tokens: tokens of the paragraphs without padding.
        padded_tokens: with padding, B x L.
        following: where the data stands after it.
        share: of all epochs that lies behind it, 0-1; what is left of a shard counts as if paragraphs were even.
    """

    paragraphs: Tensor
    titles: Tensor
    title: Tensor
    labels: Tensor
    source_tokens: int
    padded_tokens: int
    following: Position
    share: float


@dataclass(frozen=True)
class BatchRules:
    """How batches are drawn.

    Attributes:
        seed: of every choice.
        epochs: passes over the training split.
        size: paragraphs a batch.
        per_article: most paragraphs drawn of an article in an epoch.
        title_tokens: tokens of a title that are read.
        paragraph_tokens: tokens of a paragraph that are read.
    """

    seed: int
    epochs: int
    size: int
    per_article: int
    title_tokens: int
    paragraph_tokens: int


@dataclass(frozen=True)
class Drawn:
    """Paragraphs drawn of one split of a shard, encoded.

    Attributes:
        chosen: the paragraphs and their articles.
        texts: N encoded paragraphs.
        titles: A encoded titles.
        labels: [N] ROUGE-2 recall.
        similarity: [N] tf-idf similarity with the title.
    """

    chosen: Candidates
    texts: Texts
    titles: Texts
    labels: np.ndarray
    similarity: np.ndarray

    def __len__(self) -> int:
        return len(self.chosen)


def draw_paragraphs(
    tables: tuple[pa.Table, ...], split: Split, vocabulary: Vocabulary, rules: BatchRules, *, round_: int
) -> Drawn:
    """Draw at most `per_article` paragraphs of each article of a split; another `round_` draws again."""
    articles, paragraphs, features = tables
    found = candidates(articles, paragraphs, split)
    keys = found.draw(rules.seed, "ranker", "paragraphs", round_)
    order = np.lexsort((keys, found.article))
    few = np.sort(order[place_in_run(found.article[order]) < rules.per_article])
    chosen = found.take(few)
    return Drawn(
        chosen,
        Texts(chosen.texts(), vocabulary, rules.paragraph_tokens),
        Texts([chosen.titles], vocabulary, rules.title_tokens),
        features_of(chosen, features, "rouge2_recall"),
        features_of(chosen, features, "title_similarity"),
    )


def training_batches(
    shards: RankerShards, vocabulary: Vocabulary, rules: BatchRules, start: Position
) -> Iterator[RankerBatch]:
    """Yield the batches from `start` to the end of the last epoch.

    Raises:
        ValueError: the training split has no paragraphs.
    """
    for epoch in range(start.epoch, rules.epochs):
        turns = draws(stable_hash(rules.seed, "ranker", "shards", epoch), np.arange(len(shards)))
        any_batch = False
        for turn, shard in enumerate(np.argsort(turns, kind="stable").tolist()):
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


def _batch(drawn: Drawn, places: np.ndarray, following: Position, share: float) -> RankerBatch:
    paragraphs = drawn.texts.padded(places)
    articles, title = np.unique(drawn.chosen.article[places], return_inverse=True)
    return RankerBatch(
        paragraphs,
        drawn.titles.padded(articles),
        torch.from_numpy(title),
        torch.from_numpy(drawn.labels[places]),
        int(drawn.texts.lengths[places].sum()),
        paragraphs.numel(),
        following,
        share,
    )
