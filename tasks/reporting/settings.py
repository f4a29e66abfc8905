"""Settings of the report."""

from tasks.engine.settings import Settings
from tasks.evaluation.settings import DecidingMetric


class ReportSettings(Settings):
    """What the report shows."""

    headline: DecidingMetric = "values"
    """metric that systems are sorted by and compared in"""
