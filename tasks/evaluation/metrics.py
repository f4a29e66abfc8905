"""All metrics, as `metrics.toml` describes them, their scores, and the texts they may read. Truth comes before ROUGE
wherever metrics are listed. What computes the metrics of a section of that file is its `prepare` (`scoring.py`)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import read_data
from tasks.sources.settings import MiniwebSettings
from tasks.text.ngrams import split_words

Floats = NDArray[np.floating]

Group = Literal["truth", "rouge", "style"]
Better = Literal["higher", "lower", "neither"]
Unit = Literal["percent", "ratio"]
Judge = Literal["nli", "judge"]  # sections of `scoring`, each null if its judge is not asked


@dataclass(frozen=True)
class Metric:
    """A metric, for people and for comparisons."""

    name: str  # as in the `scores` dataset
    label: str  # heading of a column
    group: Group  # truth | rouge | style
    meaning: str  # one line on what its figure means
    better: Better = "higher"  # which of two figures is better; `neither` where a figure only describes
    unit: Unit = "percent"  # percent (0-1, shown times 100) | ratio
    judge: Judge | None = None  # section of `scoring` that must be set for it; None for a metric that needs none

    @property
    def scale(self) -> int:
        """What a figure is multiplied by to be shown."""
        return 100 if self.unit == "percent" else 1

    def best(self, figures: Collection[float]) -> float | None:
        """Return the best of some figures; None if there is none, or none is better than another."""
        if self.better == "neither" or not figures:
            return None
        return max(figures) if self.better == "higher" else min(figures)


_SECTIONS = {
    section: [Metric(name, **about) for name, about in metrics.items()]
    for section, metrics in read_data(__package__, "metrics.toml").items()
}
_EVERY = sorted(chain.from_iterable(_SECTIONS.values()), key=lambda metric: get_args(Group).index(metric.group))
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _EVERY}
# What computes metrics -> their names, as `metrics.toml` lists them.
COMPUTED = {section: [metric.name for metric in metrics] for section, metrics in _SECTIONS.items()}


def first_times(sentences: Sequence[str]) -> list[bool]:
    """Return for each sentence whether its words, in this order, are in no sentence before it."""
    words = [tuple(split_words(sentence, "unicode")) for sentence in sentences]
    return [item not in words[:number] for number, item in enumerate(words)]


def known_metric(name: str) -> str:
    """Return the name of a metric. Raises ValueError: the name is unknown."""
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}, expected one of: {', '.join(METRICS)}")
    return name


def deciding_metric(name: str) -> str:
    """Return the name of a metric by which systems and versions can be ranked: a share, higher is better. Raises
    ValueError: the name is unknown, its figure only describes, or lower is better."""
    fit = [item.name for item in METRICS.values() if (item.better, item.unit) == ("higher", "percent")]
    if known_metric(name) not in fit:
        raise ValueError(f"{name!r} cannot decide which of two systems is better, expected one of: {', '.join(fit)}")
    return name


def metric_name(name: str) -> str:
    """Return a metric's name for people; an unknown name is returned unchanged."""
    return METRICS[name].label if name in METRICS else name


def judges_of(wanted: Collection[str]) -> list[Judge]:
    """Return the judges that the requested metrics need, in the order of `METRICS`."""
    needed = (metric.judge for metric in METRICS.values() if metric.name in wanted)
    return list(dict.fromkeys(judge for judge in needed if judge is not None))


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
    """A summary written by a system; equality ignores the attention, because arrays compare element by element."""

    text: str  # the summary, one line
    read: int | None = None  # how many of the article's ranked paragraphs the system read; None = all of them
    # Its T pieces: together, with SentencePiece's space marks, they spell the text; empty without attention.
    tokens: Sequence[str] = ()
    # [T, P] of each piece to each of the first P ranked paragraphs, 0-1; None (or empty) without any.
    attention: Floats | None = field(default=None, compare=False)
    # [P, P] of the tokens of each of these paragraphs to those of each while they were encoded, all numbers together 1.
    source_attention: Floats | None = field(default=None, compare=False)
    by_model: bool = False  # whether a language model wrote it, whose sentences the verifier checks more strictly


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
