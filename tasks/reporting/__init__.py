"""The report of a build: what was made, how well, and at what cost."""

from tasks.reporting.report import write_report
from tasks.reporting.settings import ReportSettings

__all__ = ["ReportSettings", "write_report"]
