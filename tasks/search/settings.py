"""Settings of the search for sources."""

from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from tasks.crawl.settings import WrittenUrl
from tasks.engine.settings import Settings, tuning
from tasks.search.interfaces import interfaces


class WebSearchSettings(Settings):
    """Which search provider is asked for an article's title, and how."""

    provider: Literal[
        "none", "recorded", "bm25", "searxng", "brave", "google", "mojeek", "exa", "meilisearch", "opensearch"
    ] = "none"
    """who is asked; articles whose source brings search results keep those and are never asked for"""
    results: int = Field(10, ge=1, le=20)
    """results kept for a title; WikiSum has 10 (Liu et al. 2018)"""
    recorded: str | None = None
    """JSONL file of `title` and `results` (a list of URLs), for provider recorded"""
    endpoint: WrittenUrl | None = None
    """base URL of a SearXNG instance with JSON switched on; for the others null = their own, or the usual port of this
    machine"""
    language: str = Field("en", pattern=r"^[a-z]{2,3}$")
    """language of the results, ISO 639-1"""
    engine: str | None = None
    """identifier (cx) of a Google Programmable Search engine; name of a Meilisearch or OpenSearch index of your own
    pages, with their `url`; for bm25 the root of a corpus, in whose pages is searched"""
    key: SecretStr | None = tuning(None)
    """key of the interface, for opensearch name:password in base64; not written to any record"""
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
        price = self.price_per_thousand
        if price is None:
            price = interfaces()[self.provider].price_per_thousand
        return None if price is None else price / 1000

    @model_validator(mode="after")
    def _complete(self) -> "WebSearchSettings":
        interface = interfaces()[self.provider]
        for name in interface.needs:
            if getattr(self, name) is None:
                raise ValueError(f"search.provider is {self.provider!r}: expected search.{name} to be set")
        if self.results > interface.most:
            raise ValueError(
                f"search.results is {self.results}: expected at most {interface.most}, which is what {self.provider} "
                "gives"
            )
        return self
