"""Settings of the report."""

from pydantic import Field

from tasks.engine.settings import Settings
from tasks.evaluation.scoring import DecidingMetric
from tasks.evaluation.significance import SignificanceSettings


class ReportSettings(Settings):
    """What the report shows."""

    samples: int = Field(5, ge=0, description="test articles shown with their summaries and source URLs")
    headline: DecidingMetric = Field("values", description="metric that systems are sorted by and compared in")
    distribution_shards: int = Field(
        4, ge=1, description="article shards whose paragraphs, labels and summaries the histograms are drawn of; "
        "shards go by hash, so the first ones are a fair sample"
    )  # fmt: skip
    significance: SignificanceSettings = SignificanceSettings()
