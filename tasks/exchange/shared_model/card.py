"""`README.md` of a shared model: what it is, how true its summaries are, how to load it."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.evaluation.registry import METRICS, metric_name
from tasks.exchange.cards import markdown_table, render_card
from tasks.exchange.shared_model.model_choice import ChosenModel
from tasks.reporting.facts import flatten

_UNITS = {"steps": "steps", "validation_nll": "nats per token on validation articles", "seconds": "seconds"}


def model_card(chosen: ChosenModel, config: Mapping[str, Any], guided: Sequence[str]) -> str:
    """Return the card as Markdown with a YAML header. `guided` are settings of its search that an export does not
    have."""
    metrics = chosen.record.metrics
    return render_card(
        "shared_model/card.md.j2",
        {"pipeline_tag": "summarization", "library_name": "wikisum", "tags": ["multi-document-summarization"]},
        chosen=chosen,
        config=config,
        guided=guided,
        source=chosen.settings.get("source", {}).get("kind", "unknown"),
        parameters=metrics.get("parameters", 0),
        scores=_scores(chosen),
        figures=", ".join(f"{metrics[name]:,.4g} {unit}" for name, unit in _UNITS.items() if name in metrics),
        settings=", ".join(f"`{line}`" for line in flatten(chosen.record.settings)),
    )


def _scores(chosen: ChosenModel) -> str:
    """Return a row a metric and a column a system; an empty text without scores."""
    systems = list(dict.fromkeys(system for values in chosen.scores.values() for system in values))
    rows = []
    for metric, values in chosen.scores.items():
        scale = METRICS[metric].scale if metric in METRICS else 1
        name = f"{metric_name(metric)}{', %' if scale == 100 else ''}"
        cells = [f"{scale * values[system]:.2f}" if system in values else "" for system in systems]
        rows.append([name, *cells, METRICS[metric].meaning if metric in METRICS else ""])
    return markdown_table(["metric", *systems, "meaning"], rows) if rows else ""
