"""Settings of the search for sources, and what `providers.toml` says of search providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from tasks.engine.data_files import read_data
from tasks.engine.settings import Settings, tuning
from tasks.fetching.settings import WrittenUrl


@dataclass(frozen=True)
class Interface:
    """How a provider is asked, and where its answer has the URLs."""

    results: str = ""
    url: str = "url"
    endpoint: str = ""
    path: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    without_results: str = ""
    whole: Mapping[str, Any] = field(default_factory=dict)
    silent: str = ""
    needs: tuple[str, ...] = ()
    most: int = 20
    price_per_thousand: float | None = None

    def urls(self, answer: Any) -> list[str]:
        """Return the URLs of an answer, none only where it says that there are none. Raises KeyError, TypeError or
        ValueError: it is an error, is cut short, or is not of this shape."""
        if not isinstance(answer, dict) or answer.get("error"):
            raise TypeError("the answer is an error or no object")
        for path, expected in self.whole.items():
            if _at(answer, path, expected) != expected:
                raise ValueError(f"{path} is not {expected!r}")
        entries = _at(answer, self.results, [] if self.without_results in answer else None)
        if not isinstance(entries, list):
            raise TypeError(f"{self.results} is not a list")
        if not entries and answer.get(self.silent):
            raise ValueError(f"there are {self.silent}")
        urls = [_at(entry, self.url) for entry in entries]
        if not all(isinstance(url, str) for url in urls):
            raise TypeError("a result's URL is not a text")
        return urls


@cache
def interfaces() -> Mapping[str, Interface]:
    """Return the interface of each provider by its name."""
    return {name: Interface(**table) for name, table in read_data("tasks.search", "providers.toml").items()}


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with names replaced by their values; a value of None leaves out the field that has it."""
    if isinstance(template, str):
        name = template[1:-1]
        return values[name] if template == f"{{{name}}}" and name in values else template.format_map(values)
    if isinstance(template, Mapping):
        absent = [f"{{{name}}}" for name, value in values.items() if value is None]
        return {name: filled(of, values) for name, of in template.items() if not any(item in of for item in absent)}
    return template


def _at(value: Any, path: str, otherwise: Any = None) -> Any:
    """Return the value at a path. If a name is missing, return `otherwise`, or raise KeyError if that is None.
    Raises TypeError: a value on the path has no names."""
    for name in path.split("."):
        if otherwise is not None and isinstance(value, dict) and name not in value:
            return otherwise
        value = value[name]
    return value


class WebSearchSettings(Settings):
    """Which search provider is asked for an article's title, and how."""

    provider: Literal[
        "none", "recorded", "bm25", "searxng", "brave", "google", "mojeek", "exa", "meilisearch", "opensearch"
    ] = "none"
    """which provider is asked; articles that have search results keep them, and no query is sent for them"""
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
    pages, with their `url`; for bm25 the root of a corpus, whose pages are searched"""
    key: SecretStr | None = tuning(None)
    """key of the interface, for opensearch name:password in base64; not written to any record"""
    delay_seconds: float = tuning(1.0, ge=0, le=86_400)
    """between the starts of two queries of one shard, in seconds"""
    price_per_thousand: float | None = tuning(None, ge=0, le=1e6)
    """US dollars for a thousand queries, for the estimate of --dry-run; null = 5 for google, else none known"""

    def recipe(self) -> dict[str, Any]:
        """Return the fields that decide the results; without a provider, only that there is none."""
        fields = super().recipe()
        return fields if self.provider != "none" else {"provider": "none"}

    @property
    def query_price(self) -> float | None:
        """US dollars for one query, or None where it is not known; your own instance and a file are free."""
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
