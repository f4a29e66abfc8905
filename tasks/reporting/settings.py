"""Settings of the report."""

from tasks.engine.settings import Settings, tuning
from tasks.evaluation.settings import DecidingMetric


class ReportSettings(Settings):
    """What the report shows."""

    headline: DecidingMetric = "values"
    """metric that systems are sorted by and compared in"""
    tensorboard: str | None = tuning(None)
    """folder that gets curves, scores, tables and texts as TensorBoard files; needs the extra `trackers`"""
    mlflow: str | None = tuning(None, pattern=r"^https?://[^/@]+(/[^@]*)?$")
    """URL of an MLflow server that gets the same, with settings and report; its MLFLOW_TRACKING_ variables hold what it
    asks for, such as a password"""
