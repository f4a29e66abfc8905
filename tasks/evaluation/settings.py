"""Settings of the extractive baselines and of scoring."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tasks.engine.settings import Settings
from tasks.evaluation.judge_settings import JudgesSettings
from tasks.evaluation.registry import METRICS, deciding_metric, judges_of, known_metric

MetricName = Annotated[str, AfterValidator(known_metric)]
DecidingMetric = Annotated[str, AfterValidator(deciding_metric)]
EXTRACTOR = "bertsumext"
Baseline = Literal["bertsumext", "lead", "lexrank", "concepts", "filler", "greedy-rouge2", "ceiling"]


class BaselineSettings(Settings):
    """Which extractive systems are run, and how."""

    systems: tuple[Baseline, ...] = ("lead", "lexrank", "concepts", "greedy-rouge2")
    """lead and lexrank are the baselines of Liu & Lapata 2019, Table 2; concepts takes whole sentences that hold the
    names, numbers and words that leads are likely to have; filler writes the sentences of training leads with the
    values of the paragraphs; bertsumext takes the sentences that the encoder of BERTSUMEXTABS was first trained to
    choose, if that is the summarizer; greedy-rouge2, the papers' oracle, is shown the target and takes the paragraphs
    that raise ROUGE-2 most, one by one; ceiling is the target without what the paragraphs lack"""


def _metrics_at_hand(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, metric in METRICS.items() if metric.judge is None or given.get(metric.judge))


class ScoringSettings(JudgesSettings):
    """What is measured of each summary."""

    metrics: tuple[MetricName, ...] = Field(default_factory=_metrics_at_hand, min_length=1)
    """metrics: values-* (names, numbers and dates that input, sources and lead hold), said, supported and citation-*
    (sentences, by the paragraphs cited for them), facts-* (of the mini web alone), ROUGE (rougeL takes it as one line,
    as the released HT scorer does, rougeLsum sentence by sentence; -stem after Porter's), style (coverage, density,
    compression and so on), cds and own-document (attention to documents, while writing and while reading), and those of
    the judges that are set"""

    @model_validator(mode="after")
    def _judges_are_set(self) -> Self:
        for judge in judges_of(self.metrics):
            if getattr(self, judge) is None:
                named = ", ".join(name for name in self.metrics if METRICS[name].judge == judge)
                raise ValueError(f"scoring.metrics names {named}: expected scoring.{judge} to be set")
        return self
