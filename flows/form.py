"""The form of a build in the Prefect UI: the usual settings, each by its full name, and one field for all others."""

from collections.abc import Callable, Mapping
from typing import Any

USUAL = (
    *("preset", "root", "name", "seed", "source.kind", "source.records.paths", "source.mediawiki.titles"),
    *("crawl.contact", "shards.articles", "ranking.method", "summarizer.preset", "summarizer.graph"),
    *("summarizer.pretrained", "training.steps", "engine.workers"),
)
OTHERS = "settings"  # the field of all others
_OTHERS = 'all other settings by their full names, as on the command line: {"decoding.beam": 8, "ranker.steps": 500}'
_EMPTY = "left empty: as the preset has it"


def form_schema(whole: Mapping[str, Any], resolved: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON schema of a form, made of that of all settings, whose references `resolved` follows. It holds no
    default: a form sends defaults back as if a person had chosen them, over those of the preset."""
    properties: dict[str, Any] = {}
    for position, name in enumerate(USUAL):
        field: dict[str, Any] = dict(whole)
        for part in name.split("."):
            field = resolved(field)["properties"][part]
        shown = {key: value for key, value in field.items() if key not in ("default", "tuning")}
        description = " ".join(f"{field['description']}{'' if position < 2 else f'; {_EMPTY}'}".split())
        properties[name] = {**shown, "title": name, "description": description, "position": position}
    properties[OTHERS] = {"type": "object", "title": OTHERS, "description": _OTHERS, "position": len(USUAL)}
    return {"type": "object", "title": whole["title"], "description": whole["description"], "properties": properties}
