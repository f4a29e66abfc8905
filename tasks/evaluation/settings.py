"""Settings of the extractive baselines and of scoring."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from tasks.engine.settings import Settings
from tasks.evaluation.registry import METRICS, deciding_metric, known_metric

MetricName = Annotated[str, AfterValidator(known_metric)]
DecidingMetric = Annotated[str, AfterValidator(deciding_metric)]
Baseline = Literal["lead", "lexrank", "oracle"]


class BaselineSettings(Settings):
    """Which extractive systems are run, and how."""

    systems: tuple[Baseline, ...] = Field(
        ("lead", "lexrank", "oracle"),
        description="lead and lexrank are the baselines of Liu & Lapata 2019, Table 2; oracle, which sees the target, "
        "is the most that choosing whole paragraphs can reach in ROUGE-2",
    )
    split: Literal["train", "valid", "test"] = Field("test", description="split that is summarized")
    lexrank_cut: bool = Field(
        True, description="end the last paragraph at the length of the target, as Lead does, or keep it whole"
    )


class ScoringSettings(Settings):
    """What is measured of each summary."""

    metrics: tuple[MetricName, ...] = Field(
        tuple(METRICS),
        min_length=1,
        description="metrics: values-* (names, numbers and dates that input, sources and lead hold), supported and "
        "citation-* (sentences, by the paragraphs cited for them), facts-* (of the mini web alone), ROUGE (rougeL "
        "takes it as one line, as the released HT scorer does, rougeLsum sentence by sentence; -stem after Porter's), "
        "and style (coverage, density, compression and so on)",
    )
