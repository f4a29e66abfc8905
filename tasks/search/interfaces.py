"""What `providers.toml` says of search providers."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any


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
    optional: bool = False
    needs: tuple[str, ...] = ()
    most: int = 20
    price_per_thousand: float | None = None

    def urls(self, answer: Any) -> list[str]:
        """Return the URLs of an answer. Raises KeyError or TypeError: it is not of this shape."""
        try:
            entries = _at(answer, self.results)
        except KeyError:
            if self.optional and isinstance(answer, dict):
                return []
            raise
        urls = [_at(entry, self.url) for entry in entries]
        if not all(isinstance(url, str) for url in urls):
            raise TypeError("a result's URL is not a text")
        return urls


@cache
def interfaces() -> Mapping[str, Interface]:
    """Return the interface of each provider by its name."""
    tables = tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8"))
    return {name: Interface(**table) for name, table in tables.items()}


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with the values in place of their names; a value of None leaves out the field that has it."""
    if isinstance(template, str):
        name = template[1:-1]
        return values[name] if template == f"{{{name}}}" and name in values else template.format_map(values)
    if isinstance(template, Mapping):
        absent = [f"{{{name}}}" for name, value in values.items() if value is None]
        return {name: filled(of, values) for name, of in template.items() if not any(one in of for one in absent)}
    return template


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[name]
    return value
