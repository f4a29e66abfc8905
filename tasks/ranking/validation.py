"""Validate a ranker on articles outside the training split: its loss, and the recall of its best paragraphs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.vocabulary import Vocabulary
from tasks.engine.inputs import ReadableShards
from tasks.ranking.batches import NOTHING_TO_LEARN, BatchRules, Drawn, draw_paragraphs
from tasks.ranking.candidates import Split
from tasks.ranking.directory import TrainedRanker
from tasks.ranking.ranking import score_paragraphs


@dataclass(frozen=True)
class RankerValidation:
    """Result of a validation; recalls are means over articles of the mean ROUGE-2 recall of the top paragraphs."""

    loss: float  # binary cross entropy of scores and labels, nats a paragraph
    loss_floor: float  # loss of scores equal to the labels, the lowest possible
    recall: float  # of the ranker's top paragraphs
    similarity_recall: float  # of the top paragraphs by tf-idf similarity with the title
    gold_recall: float  # of the top paragraphs by label, the highest possible
    articles: int  # number of articles
    split: str  # their split; `train` if the valid split has no paragraphs


class ValidationSet:
    """Articles for validating a ranker."""

    def __init__(self, parts: list[Drawn], split: Split) -> None:
        self._parts = parts
        self._split = split

    def judge(self, ranker: TrainedRanker, top: int, batch_tokens: int = 16_384) -> RankerValidation:
        """Score every paragraph and judge the scores; recalls are those of the `top` paragraphs of an article."""
        losses, floors = [], []
        recalls: dict[str, list[NDArray[np.float64]]] = {"ranker": [], "similarity": [], "gold": []}
        for part in self._parts:
            scores = score_paragraphs(ranker, part.texts, part.titles, part.chosen.article, batch_tokens)
            losses.append(_cross_entropy(part.labels, scores))
            floors.append(_cross_entropy(part.labels, part.labels))
            for name, order in (("ranker", scores), ("similarity", part.similarity), ("gold", part.labels)):
                recalls[name].append(_top_mean(part, order, top))
        means = {name: float(np.concatenate(values).mean()) for name, values in recalls.items()}
        return RankerValidation(
            float(np.concatenate(losses).mean()),
            float(np.concatenate(floors).mean()),
            means["ranker"],
            means["similarity"],
            means["gold"],
            sum(map(len, recalls["gold"])),
            self._split,
        )


def collect_validation(
    shards: ReadableShards, vocabulary: Vocabulary, rules: BatchRules, *, articles: int
) -> ValidationSet:
    """Draw a validation set from the first shards that have enough articles of the valid split. A corpus without any is
    validated on training articles. `articles` is the minimum, if there are so many: whole shards are added. `rules` say
    how paragraphs are drawn, `per_article` of each article. Raises ValueError: no article has a paragraph."""
    for split in ("valid", "train"):
        parts: list[Drawn] = []
        count = 0
        for shard in range(len(shards)):
            drawn = draw_paragraphs(shards.read(shard), split, vocabulary, rules, round_=-1)
            if len(drawn):
                parts.append(drawn)
                count += len(np.unique(drawn.chosen.article))
            if count >= articles:
                break
        if parts:
            return ValidationSet(parts, split)
    raise ValueError(NOTHING_TO_LEARN)


def _cross_entropy(labels: NDArray[np.float32], scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the binary cross entropy of each score, with logarithms limited to -100 as in PyTorch."""
    wanted, wide = labels.astype(np.float64), scores.astype(np.float64)
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(wide), -100), np.maximum(np.log1p(-wide), -100)
    result: NDArray[np.float64] = -(wanted * yes + (1 - wanted) * no)
    return result


def _top_mean(part: Drawn, scores: NDArray[np.float32], top: int) -> NDArray[np.float64]:
    """Return for each article with paragraphs the mean label of its `top` best paragraphs by score."""
    best = part.chosen.best(scores, top)
    article = part.chosen.article[best]
    sums = np.bincount(article, weights=part.labels[best])
    counts = np.bincount(article)
    means: NDArray[np.float64] = sums[counts > 0] / counts[counts > 0]
    return means
