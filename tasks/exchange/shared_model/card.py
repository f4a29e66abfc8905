"""`README.md` of a shared model: what it is, how true its summaries are, how to load it."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from tasks.evaluation.registry import METRICS, metric_name
from tasks.exchange.shared_model.chosen import ChosenModel
from tasks.reporting.facts import flatten

_START = """\
A summarizer of many documents: it reads a title and paragraphs, best first, and writes a summary. It was trained on a
WikiSum-like corpus, where the summary is the lead section of an article and the paragraphs come from the pages that it
cites ({source}). {parameters:,} weights, preset `{preset}`, graph `{graph}`.

```python
from models.exported import load_exported  # of the package wikisum; it needs torch and pyarrow, and no Prefect

summarizer = load_exported("{folder}")
print(summarizer.summarize("River Tavil", ["The River Tavil rises in the Stone Moors.", "It is 70 kilometres long."]))
```
"""
_GRAPH = """
The model reads the {graph} graph between paragraphs: give its edges as `edges`, else it sees none.
"""
_SENTENCES = """
The model sees sentences: give each paragraph as a list of its sentences.
"""
_GUIDED = """
**The scores below were reached with settings of the search that `load_exported` does not have: {settings}.**
"""
_SCORES = """\
Truth comes first: values are names, numbers and dates. ROUGE says how many words a summary shares with the lead, not
whether it is true. Means {over}.
"""
_LIMITS = """\
* It writes sentences that its sources do not support: read the share of right values above before you use it, and check
  every name, number and date of a summary.
* It knows the language and the kinds of text it was trained on, and reads no more of a source than the layout in
  `config.json` says.
* The corpus it learned from was not checked by hand.
"""


def model_card(chosen: ChosenModel, config: Mapping[str, Any], guided: Sequence[str]) -> str:
    """Return the card as Markdown with a YAML header.

    Args:
        chosen: the model.
        config: its `config.json`.
        guided: settings of its search that an export does not have.
    """
    header = yaml.safe_dump(
        {"pipeline_tag": "summarization", "library_name": "wikisum", "tags": ["multi-document-summarization"]},
        sort_keys=False,
    )
    source = str(chosen.settings.get("source", {}).get("kind", "unknown"))
    start = _START.format(
        source=f"source {source}, build {chosen.build}",
        parameters=chosen.record.metrics.get("parameters", 0),
        preset=config["preset"],
        graph=config["graph"],
        folder="path/of/this/folder",
    )
    if config["graph"] != "none":
        start += _GRAPH.format(graph=config["graph"])
    if config["model"].get("sentence_heads"):
        start += _SENTENCES
    if guided:
        start += _GUIDED.format(settings=", ".join(guided))
    title = f"# Summarizer {config['preset']}, {chosen.name}"
    sections = {"Scores": _scores(chosen), "Training": _training(chosen), "Known limits": _LIMITS}
    body = "\n\n".join([title, start.strip(), *(f"## {name}\n\n{text.strip()}" for name, text in sections.items())])
    return f"---\n{header}---\n\n{body}\n"


def _scores(chosen: ChosenModel) -> str:
    if not chosen.scores:
        return "None: the build ended before evaluation."
    systems = list(dict.fromkeys(system for values in chosen.scores.values() for system in values))
    over = "over the test split" if chosen.articles is None else f"over {chosen.articles:,} test articles"
    lines = [["metric", *systems, "meaning"], ["---"] * (2 + len(systems))]
    for metric, values in chosen.scores.items():
        scale = METRICS[metric].scale if metric in METRICS else 1
        unit = ", %" if scale == 100 else ""
        cells = [f"{scale * values[system]:.2f}" if system in values else "" for system in systems]
        meaning = METRICS[metric].meaning if metric in METRICS else ""
        lines.append([f"{metric_name(metric)}{unit}", *cells, meaning])
    return _SCORES.format(over=over) + "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _training(chosen: ChosenModel) -> str:
    """Return the recipe of the summarizer."""
    units = {"steps": "steps", "validation_nll": "nats per token on validation articles", "seconds": "seconds"}
    metrics = {name: value for name, value in chosen.record.metrics.items() if name in units}
    figures = ", ".join(f"{metrics[name]:,.4g} {unit}" for name, unit in units.items() if name in metrics)
    recipe = ", ".join(f"`{line}`" for line in flatten(chosen.record.settings))
    return f"Made {chosen.created}: {figures}.\n\nSettings: {recipe}. `settings.json` has those of the decoding too."
