"""Settings of the embedded mini web."""

from pydantic import Field, model_validator

from tasks.engine.settings import Settings, tuning

WORLD_TOPICS = 1_000_000  # titles are unique up to 6 kinds x the 172,032 names of a kind


class MiniwebSettings(Settings):
    """How large the generated world is, how it changes, and what goes wrong in its web."""

    topics: int = Field(400, ge=1, le=WORLD_TOPICS)
    """number of articles in week 0"""
    seed: int = 1
    """seed of the world: another seed gives other topics, facts and pages"""
    week: int = Field(0, ge=0, le=5200)
    """week of the world; each one adds new topics, edits and dead links"""
    growth: float = Field(0.01, ge=0, le=1)
    """new topics per week, as a share of `topics`"""
    edits: float = Field(0.02, ge=0, le=1)
    """share of topics whose lead is edited each week"""
    deaths: float = Field(0.01, ge=0, lt=1)
    """share of living pages that turn into dead links each week"""
    held_back: float = Field(0.3, ge=0, lt=1)
    """share of the forms of sentences, in leads and on pages, that only the articles of the test split and their pages
    show, and no others; 0 = all show all"""
    faults: float = Field(1.0, ge=0, le=4)
    """multiplies every rate of links.FAULT_RATES; 0 = a web without faults"""
    hosts: int = Field(12, ge=12, le=5000)
    """hosts that serve articles' pages, beside search, mirror and link hosts"""
    partition_topics: int = Field(1000, ge=1)
    """topics per partition of the source"""
    oversized_bytes: int = Field(24_000_000, ge=0)
    """decoded size of an oversized page, bytes"""
    slow_seconds: float = tuning(0.5, ge=0)
    """how long the server waits before it answers a slow page, seconds"""

    @model_validator(mode="after")
    def _within_the_world(self) -> "MiniwebSettings":
        if self.topics_now > WORLD_TOPICS:
            raise ValueError(f"week {self.week} would have {self.topics_now} topics, expected at most {WORLD_TOPICS}")
        return self

    @property
    def of_facts(self) -> "MiniwebSettings":
        """The settings that decide what is true of the topics; the others, of the web around them, have defaults."""
        names = ("topics", "seed", "held_back", *(("week", "growth", "edits") if self.week else ()))
        return MiniwebSettings.model_validate({name: getattr(self, name) for name in names})

    @property
    def topics_now(self) -> int:
        """Number of articles in the settings' week."""
        return self.topics + int(self.topics * self.growth * self.week)
