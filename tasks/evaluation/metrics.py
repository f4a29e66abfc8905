"""The interface of metrics: their description, their scores, and the texts they may read. A metric is one file with a
scorer, and its description in `metrics.toml`. Truth comes before ROUGE wherever metrics are listed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import read_data
from tasks.evaluation.judge_settings import Judge
from tasks.sources.miniweb.settings import MiniwebSettings

Floats = NDArray[np.floating]

Group = Literal["truth", "rouge", "similarity", "style"]
Better = Literal["higher", "lower", "neither"]
Unit = Literal["percent", "ratio"]


@dataclass(frozen=True)
class Metric:
    """A metric, for people and for comparisons."""

    name: str  # as in the `scores` dataset
    label: str  # heading of a column
    group: Group  # truth | rouge | similarity (to the lead, by a model) | style
    meaning: str  # one line on what its figure means
    better: Better = "higher"  # which of two figures is better; `neither` where a figure only describes
    unit: Unit = "percent"  # percent (0-1, shown times 100) | ratio
    judge: Judge | None = None  # section of `scoring` that must be set for it; None for a metric that needs none

    @property
    def scale(self) -> int:
        """What a figure is multiplied by to be shown."""
        return 100 if self.unit == "percent" else 1

    def best(self, figures: Collection[float]) -> float | None:
        """Return the best of some figures; None where there is none, or none is better than another."""
        if self.better == "neither" or not figures:
            return None
        return max(figures) if self.better == "higher" else min(figures)


def described(file: str) -> tuple[Metric, ...]:
    """Return the metrics that a file of this room scores, as `metrics.toml` describes them."""
    return tuple(Metric(name, **about) for name, about in read_data(__package__, "metrics.toml")[file].items())


@dataclass(frozen=True)
class Score:
    """A summary's score under one metric."""

    value: float  # the metric's figure; F1 for a metric with precision and recall
    precision: float | None = None  # 0-1, None for a metric that has none
    recall: float | None = None  # likewise

    @classmethod
    def of(cls, precision: float, recall: float) -> "Score":
        """Return the score with F1 as its figure."""
        total = precision + recall
        return cls(2 * precision * recall / total if total else 0.0, precision, recall)


@dataclass(frozen=True)
class Summary:
    """A summary written by a system.

    Attributes:
        text: the summary, one line.
        read: how many of the article's ranked paragraphs the system read; None = all of them.
        tokens: its T pieces; together, with SentencePiece's space marks, they spell the text; empty for a system
            without attention.
        attention: [T, P] of each piece to each of the first P ranked paragraphs, 0-1; None (or empty) without any.
        source_attention: [P, P] of the tokens of each of these paragraphs to those of each while they were encoded, all
            numbers together 1; None for a system that does not say it."""

    text: str
    read: int | None = None
    tokens: Sequence[str] = ()
    attention: Floats | None = field(default=None, compare=False)  # arrays do not compare as one
    source_attention: Floats | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ArticleTexts:
    """The texts of an article with which a summary is compared."""

    title: str  # given to every system
    lead: str  # the target
    ranked: Sequence[str]  # ranked paragraphs, best first; systems read the first of them
    sources: Sequence[str]  # all candidate paragraphs that were kept
    # the mini web of the article; None = another source, for which not all facts are known
    world: MiniwebSettings | None = None
    pages: Sequence[str] = ()  # the page of each ranked paragraph; empty if unknown


# Scores summaries of one article by the name of each metric; one that is not defined for a summary is left out.
SummaryScorer = Callable[[Summary], dict[str, Score]]
# Prepares an article once for all its summaries; the names are those of the requested metrics.
Prepare = Callable[[ArticleTexts, Collection[str]], SummaryScorer]
