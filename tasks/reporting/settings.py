"""Settings of the report."""

from pydantic import Field

from tasks.engine.settings import Settings
from tasks.evaluation.settings import DecidingMetric


class ReportSettings(Settings):
    """What the report shows."""

    samples: int = Field(5, ge=0, description="test articles shown with their summaries and source URLs")
    headline: DecidingMetric = Field("values", description="metric that systems are sorted by and compared in")
