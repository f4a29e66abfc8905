"""Settings of the extractive baselines, of scoring, and of the judges that it may ask."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from tasks.chat.settings import ChatSettings
from tasks.engine.settings import Settings, tuning
from tasks.evaluation.metrics import METRICS, Judge, deciding_metric, judges_of, known_metric

MetricName = Annotated[str, AfterValidator(known_metric)]
DecidingMetric = Annotated[str, AfterValidator(deciding_metric)]
EXTRACTOR = "bertsumext"
Baseline = Literal["bertsumext", "lead", "lexrank", "concepts", "filler", "greedy-rouge2", "ceiling", "reference"]


class BaselineSettings(Settings):
    """Which extractive systems are run, and how."""

    systems: tuple[Baseline, ...] = ("lead", "lexrank", "concepts", "greedy-rouge2")
    """lead and lexrank are the baselines of Liu & Lapata 2019, Table 2; concepts takes whole sentences that hold the
    names, numbers and words that leads are likely to have; filler writes the sentences of training leads with the
    values of the paragraphs; bertsumext takes the sentences that the encoder of BERTSUMEXTABS was first trained to
    choose, if that is the summarizer; greedy-rouge2, the papers' oracle, is shown the target and takes the paragraphs
    that raise ROUGE-2 most, one by one; ceiling is the target without what the paragraphs lack; reference is the target
    itself, which shows how often a metric of truth refuses what people wrote"""


class NliSettings(Settings):
    """A model that says whether one text entails another; the digest of its files is part of the recipe."""

    folder: str = tuning(...)
    """local folder of a sequence classification model in Hugging Face's layout: config.json with the labels entailment
    and contradiction, safetensors, tokenizer"""


class JudgeSettings(ChatSettings):
    """A language model that gives marks; the texts of articles and summaries are sent to it."""

    most_calls: int = Field(1_000, ge=1, le=10**9)
    """requests of one shard of articles; summaries beyond have no marks"""


def _metrics_at_hand(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, metric in METRICS.items() if metric.judge is None or given.get(metric.judge))


class ScoringSettings(Settings):
    """What is measured of each summary."""

    nli: NliSettings | None = None
    """SummaC, NED and citations by entailment; null = off"""
    judge: JudgeSettings | None = None
    """marks of a language model; null = off"""
    metrics: tuple[MetricName, ...] = Field(default_factory=_metrics_at_hand, min_length=1)
    """metrics: values-* (names, numbers and dates that input, sources and lead hold), said, supported and citation-*
    (sentences, by the paragraphs cited for them), facts-* (of the mini web alone), ROUGE (rougeL takes it as one line,
    as the released HT scorer does, rougeLsum sentence by sentence; -stem after Porter's), style (coverage, density,
    compression and so on), cds and own-document (attention to documents, while writing and while reading), and those of
    the judges that are set"""

    @property
    def judged(self) -> bool:
        """Whether a judge is asked, which takes a while."""
        return any(getattr(self, judge) is not None for judge in get_args(Judge))

    @model_validator(mode="after")
    def _judges_are_set(self) -> Self:
        for judge in judges_of(self.metrics):
            if getattr(self, judge) is None:
                named = ", ".join(name for name in self.metrics if METRICS[name].judge == judge)
                raise ValueError(f"scoring.metrics names {named}: expected scoring.{judge} to be set")
        return self
