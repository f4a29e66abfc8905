"""Settings of the report."""

from pydantic import Field

from tasks.settings import Settings
from tasks.significance import SignificanceSettings


class ReportSettings(Settings):
    """What the report shows."""

    samples: int = Field(5, ge=0, description="test articles shown with their summaries and source URLs")
    headline: str = Field("rougeL", description="metric that systems are sorted by and compared in")
    significance: SignificanceSettings = SignificanceSettings()
