"""Export of a summarizer: weights, configuration, vocabulary, settings and a card, `README.md`. The card says what it
is, how true its summaries are, and how to load it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from models.exported import CONFIG, SEARCH, SETTINGS, VOCABULARY, WEIGHTS
from storage.builds import SUMMARIZER
from storage.directories import DirectoryRecord, find_directory
from storage.errors import CorruptShardError, StorageError
from storage.recipes import read_parts, whole
from storage.registry import read_champion, read_version
from storage.schemas import SCORES
from storage.store import Store
from tasks.engine.recipe import finished_build, finished_stage
from tasks.evaluation.metrics import METRICS, metric_name
from tasks.evaluation.significance import SIGNIFICANCE, summarise_scores
from tasks.exchange.folder import ExportFolder, markdown_table, render_card
from tasks.reporting.facts import flatten
from tasks.summarization.directory import BEST, weights_of
from tasks.summarization.settings import DecodingSettings

_UNITS = {"steps": "steps", "validation_nll": "nats per token on validation articles", "seconds": "seconds"}


@dataclass(frozen=True)
class ChosenModel:
    """A summarizer and its history."""

    name: str  # `version 3`, or `build NAME`
    build: str  # name of its build
    record: DirectoryRecord  # of its directory
    settings: Mapping[str, Any]  # the whole configuration it was made with
    # Metric -> system -> mean, truth before ROUGE; a version has one system, its own
    scores: Mapping[str, Mapping[str, float]]
    articles: int | None  # test articles it was scored on; None = not recorded
    created: str  # UTC time, ISO 8601


def choose_model(store: Store, which: str) -> ChosenModel:
    """Return the summarizer of a version (its number, or `champion`) or of a build (its name, or `latest`). Raises
    StorageError: it does not exist, or its files have been pruned; ValueError: the build trained no summarizer."""
    if which == "champion" or which.isdecimal():
        champion = read_champion(store) if which == "champion" else None
        if which == "champion" and champion is None:
            raise StorageError(f"root {store.root!r} has no champion: expected the number of a version, or a build")
        version = read_version(store, int(which) if champion is None else champion.version)
        record = _record(store, version.models, f"version {version.number}")
        scores = {metric: {"this model": value} for metric, value in version.scores.items()}
        created, settings, name, articles = version.created, version.settings, f"version {version.number}", None
        return ChosenModel(name, version.build, record, settings, _in_order(scores), articles, created)
    build = finished_build(store, None if which == "latest" else which, having=SUMMARIZER)
    record = _record(store, build.models, f"build {build.name}")
    tables = [
        read_parts(store, stage, map(whole, finished_stage(store, build, stage).in_order)).select(SCORES.schema.names)
        for stage in _STAGES
        if stage in build.stages
    ]
    result: dict[str, dict[str, float]] = {}
    articles = None
    if tables:
        for score in summarise_scores(pa.concat_tables(tables), SIGNIFICANCE, int(build.config.get("seed", 1))):
            result.setdefault(score.metric, {})[score.system] = score.value.mean
            articles = max(articles or 0, score.articles)
    return ChosenModel(
        f"build {build.name}", build.name, record, build.config, _in_order(result), articles, build.created
    )


def _record(store: Store, models: Mapping[str, str], owner: str) -> DirectoryRecord:
    if SUMMARIZER not in models:
        raise ValueError(f"{owner} has no summarizer, only {', '.join(sorted(models)) or 'no model'}")
    record = find_directory(store, models[SUMMARIZER])
    if record is None:
        raise StorageError(f"{models[SUMMARIZER]}, which {owner} names, is gone (pruned) below {store.root}")
    return record


def _in_order(scores: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    """Return the metrics in their order, truth first; those no longer known come last."""
    known: Sequence[str] = list(METRICS)
    return {name: scores[name] for name in (*known, *sorted(scores.keys() - set(known))) if name in scores}


def model_card(chosen: ChosenModel, config: Mapping[str, Any], guided: Sequence[str]) -> str:
    """Return the card as Markdown with a YAML header. `guided` are settings of its search that an export lacks."""
    metrics = chosen.record.metrics
    return render_card(
        "shared_model.md.j2",
        {"pipeline_tag": "summarization", "library_name": "wikisum", "tags": ["multi-document-summarization"]},
        chosen=chosen,
        config=config,
        guided=guided,
        source=chosen.settings.get("source", {}).get("kind", "unknown"),
        parameters=metrics.get("parameters", 0),
        scores=_scores(chosen),
        figures=", ".join(f"{metrics[name]:,.4g} {unit}" for name, unit in _UNITS.items() if name in metrics),
        settings=", ".join(f"`{name}: {value}`" for name, value in flatten(chosen.record.settings)),
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


# The parts of a configuration about the model; the rest names its maker's folders, contacts and machines.
_SHARED = ("seed", "words", "vocabulary", "ranking", "graphs", "examples", "summarizer", "training", "decoding")


def export_model(store: Store, target: Store, which: str, *, dry_run: bool = False) -> str:
    """Write a summarizer's folder, or with `dry_run` only say what it would hold; return what happened. Raises
    ValueError: the folder holds something else, or the build has no summarizer; StorageError: the version or build does
    not exist, or a file cannot be read or written."""
    chosen = choose_model(store, which)
    record = chosen.record
    folder = ExportFolder(target, {"format": 1, "kind": "model", "model": chosen.name, "directory": record.path})
    folder.check()
    if (done := folder.files) is not None:
        return f"{target.root} holds this export already: {len(done)} files"
    decoding = DecodingSettings.of_record(chosen.settings.get("decoding", {}))
    weights = WEIGHTS
    if decoding.checkpoint:
        weights = weights_of(record.path, json.loads(_read(store, chosen, BEST)), decoding.checkpoint)
    size = store.sizes(f"{record.path}/{weights}".rpartition("/")[0]).get(weights.rpartition("/")[2], 0)
    if dry_run:
        return f"dry run: {chosen.name}, {size / 1e6:,.1f} MB of weights; nothing was written to {target.root}"
    config = _config(json.loads(_read(store, chosen, CONFIG)), decoding)
    if config["model"].get("folder"):
        raise ValueError(
            f"{chosen.name} is adapters of the weights in {config['model']['folder']!r}, which are not ours to "
            "pass on: expected a summarizer with weights of its own (lora_rank 0 among summarizer.overrides)"
        )
    folder.begin()
    guidance = decoding.guidance
    used = {
        "alignment": guidance.alignment != "none",
        "coverage": guidance.coverage > 0,
        "compressed_paragraphs": guidance.kept is not None,
    }
    guided = [f"{name} {getattr(decoding, name)}" for name, given in used.items() if given]
    search = {"search": asdict(decoding.search()), "source_values": decoding.source_values}
    settings = {name: chosen.settings[name] for name in _SHARED if name in chosen.settings}
    texts = {
        CONFIG: _json(config),
        SEARCH: _json(search),
        SETTINGS: _json(settings),
        "README.md": model_card(chosen, config, guided),
    }
    files = {
        WEIGHTS: folder.copy(store, record, weights, WEIGHTS),
        VOCABULARY: folder.copy(store, record, VOCABULARY, VOCABULARY),
        **{name: folder.write(name, text.encode()) for name, text in texts.items()},
    }
    folder.finish(files)
    return f"{chosen.name} in {len(files)} files, {size / 1e6:,.1f} MB of weights, in {target.root}"


def _config(config: dict[str, Any], decoding: DecodingSettings) -> dict[str, Any]:
    """Return a configuration that reads as much of an article as the decoding did."""
    if decoding.max_source_tokens is not None and "source_tokens" in config["model"]:
        config["model"]["source_tokens"] = decoding.max_source_tokens
    return {**config, "layout": {**config["layout"], **decoding.lengths}}


def _read(store: Store, chosen: ChosenModel, file: str) -> bytes:
    path = f"{chosen.record.path}/{file}"
    try:
        return store.read_bytes(path)
    except FileNotFoundError as error:
        raise CorruptShardError(path, "the file is gone") from error


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


_STAGES = ("scores", "baseline_scores")
