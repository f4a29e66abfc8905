"""Settings of retraining: how much is trained anew, how a challenger is judged, and what is kept."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from tasks.rouge import Metric
from tasks.settings import Settings
from tasks.significance import SignificanceSettings


class RetrainingSettings(Settings):
    """One run a period: take in what is new, train a challenger from the champion, and promote it if it is better."""

    week: str | None = Field(
        None,
        pattern=r"^\d{4}-W(0[1-9]|[1-4]\d|5[0-3])$",
        description="ISO week the run is for, such as 2026-W47: pages are asked for anew once a week, and a week that "
        "has its version is not retrained; None = the present one (UTC)",
    )
    vocabulary: Literal["champion", "new"] = Field(
        "champion", description="keep the champion's vocabulary, or estimate a new one and train both models afresh"
    )
    ranker_steps: int = Field(
        20_000, ge=1, description="most optimizer steps of a ranker that starts from the champion"
    )
    ranker_gain: float = Field(
        0.02,
        ge=0,
        lt=1,
        description="share of the champion's validation loss, above its floor, that a new ranker must save to be taken "
        "up; else the champion's goes on and unchanged articles need not be ranked again",
    )
    summarizer_steps: int = Field(50_000, ge=1, description="steps of a summarizer that starts from the champion")
    warmup: int = Field(1_000, ge=1, description="steps of warm-up of these (noam schedule)")
    restart: float = Field(
        0.3,
        gt=0,
        description="where their learning rate peaks, as a share of the peak of `training`; so is a constant one",
    )
    test_articles: int = Field(
        4_000, ge=2, description="articles of the frozen test split, at most; fixed with the first champion"
    )
    test_shards: int = Field(8, ge=1, description="shards of the frozen test split; fixed with the first champion")
    metric: Metric = Field("rougeL", description="metric (F1) that decides")
    margin: float = Field(0.0, ge=0, le=100, description="least gain in the metric to be promoted, points of 100")
    significance: float = Field(
        0.05, gt=0, lt=1, description="largest p-value (two-sided, approximate randomisation) to be promoted"
    )
    test: SignificanceSettings = SignificanceSettings()
    keep: int = Field(3, ge=1, description="builds, and model versions, kept beside the champion and the one before it")

    @property
    def period(self) -> str:
        """The week the run is for: the one given, or the present one."""
        if self.week is not None:
            return self.week
        year, week, _ = datetime.now(UTC).isocalendar()
        return f"{year}-W{week:02d}"
