"""Settings of the report."""

from tasks.engine.settings import Settings, tuning
from tasks.evaluation.settings import DecidingMetric


class ReportSettings(Settings):
    """What the report shows."""

    headline: DecidingMetric = "values"
    """metric by which systems are sorted and compared"""
    tensorboard: str | None = tuning(None)
    """folder that gets curves, scores, tables and texts as TensorBoard files; needs the package tensorboard"""
