"""Settings of the search for sources."""

from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from tasks.crawl.settings import WrittenUrl
from tasks.engine.settings import Settings, tuning


class WebSearchSettings(Settings):
    """Which search provider is asked for an article's title, and how."""

    provider: Literal["none", "recorded", "searxng", "brave", "google"] = "none"
    """who is asked; articles whose source brings search results keep those and are never asked for"""
    results: int = Field(10, ge=1, le=20)
    """results kept for a title; WikiSum has 10 (Liu et al. 2018)"""
    recorded: str | None = None
    """JSONL file of `title` and `results` (a list of URLs), for provider recorded"""
    endpoint: WrittenUrl | None = None
    """base URL of a SearXNG instance with JSON switched on; for brave and google null = their own"""
    language: str = Field("en", pattern=r"^[a-z]{2,3}$")
    """language of the results, ISO 639-1"""
    engine: str | None = None
    """identifier (cx) of a Google Programmable Search engine"""
    key: SecretStr | None = tuning(None)
    """key of the Brave or Google interface; not written to any record"""
    delay_seconds: float = tuning(1.0, ge=0, le=86_400)
    """between the starts of two queries of one shard, in seconds"""
    price_per_thousand: float | None = tuning(None, ge=0)
    """US dollars for a thousand queries, for the estimate of --dry-run; null = 5 for google, else none known"""

    def recipe(self) -> dict[str, Any]:
        """Return the fields that decide the results; without a provider, only that there is none."""
        fields = super().recipe()
        return fields if self.provider != "none" else {"provider": "none"}

    @property
    def query_price(self) -> float | None:
        """US dollars for one query, or None where it is not known; an instance of one's own and a file are free."""
        if self.price_per_thousand is not None:
            return self.price_per_thousand / 1000
        return {"none": 0.0, "recorded": 0.0, "searxng": 0.0, "google": 0.005}.get(self.provider)

    @model_validator(mode="after")
    def _complete(self) -> "WebSearchSettings":
        needed = {"recorded": ("recorded",), "searxng": ("endpoint",), "brave": ("key",), "google": ("key", "engine")}
        for name in needed.get(self.provider, ()):
            if getattr(self, name) is None:
                raise ValueError(f"search.provider is {self.provider!r}: expected search.{name} to be set")
        if self.provider == "google" and self.results > 10:
            raise ValueError(f"search.results is {self.results}: expected at most 10, which is what google gives")
        return self
