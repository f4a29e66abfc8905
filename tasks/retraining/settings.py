"""Settings of retraining: how much is trained again, how a challenger is judged, and what is kept."""

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from tasks.engine.settings import MOST_STEPS, Settings, tuning
from tasks.evaluation.settings import DecidingMetric

WEEKS = 53  # that a year can have
RECENT_WEEKS = 8  # whose new test articles are the second test split, after the frozen one
FLIPS = 50_000  # random sign flips of the test that decides
# Weeks and three tests a week (two test splits, and both together) share the promotions out; with fewer, no p-value of
# so many flips is as small as a share.
LEAST_FALSE_PROMOTIONS = 3 * WEEKS / (FLIPS + 1)


class RetrainingSettings(Settings):
    """One run a period: take in what is new, train a challenger, and promote it if it is better than the champion."""

    week: str | None = Field(None, pattern=r"^\d{4}-W(0[1-9]|[1-4]\d|5[0-3])$")
    """ISO week the run is for, such as 2026-W47: pages are asked for again once a week, and a week that has its version
    is not retrained; null = the present one"""
    timezone: str = tuning("Etc/UTC")
    """time zone in which weeks begin, such as Europe/London: that of the schedule, or a run on Monday after midnight
    counts for another week"""
    vocabulary: Literal["champion", "new"] = "champion"
    """keep the champion's vocabulary, or estimate a new one and train both models from scratch"""
    ranker_steps: int = Field(20_000, ge=1, le=MOST_STEPS)
    """optimizer steps, at most, of a ranker that is trained further"""
    summarizer_steps: int = Field(50_000, ge=1, le=MOST_STEPS)
    """steps of a summarizer that is trained further"""
    warmup: int = Field(1_000, ge=1, le=MOST_STEPS)
    """steps of warm-up of that summarizer (noam schedule)"""
    test_articles: int = Field(4_000, ge=2, le=10_000_000)
    """articles of the frozen test split, at most; fixed with the first champion"""
    metric: DecidingMetric = "values"
    """metric in which a challenger must be better than the champion"""
    margin: float = Field(0.2, ge=0, le=100)
    """least gain in that metric, in points of 100"""
    guards: tuple[DecidingMetric, ...] = ("values-input", "said", "rougeL")
    """metrics that must not get worse, so that a challenger that invents more is refused"""
    false_promotions: float = Field(0.05, ge=LEAST_FALSE_PROMOTIONS, lt=1)
    """expected number of promotions a year, at most, of challengers that are not better than the champion; shared out
    over weeks and test splits, it sets the largest p-value (one-sided, approximate randomisation) at which a challenger
    is promoted"""
    keep: int = Field(3, ge=1, le=10_000)
    """how many model versions, and how many of their builds, are kept in addition to the champion and the one before
    it; builds of other runs are left alone"""

    @field_validator("timezone")
    @classmethod
    def _is_a_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, ZoneInfoNotFoundError) as error:
            raise ValueError(f"expected the name of a time zone such as Europe/London, got {value!r}") from error
        return value

    @property
    def period(self) -> str:
        """The week the run is for: the one given, or the present one."""
        if self.week is not None:
            return self.week
        year, week, _ = datetime.now(ZoneInfo(self.timezone)).isocalendar()
        return f"{year}-W{week:02d}"
