"""Builds of a root side by side: settings that differ, scores with intervals and paired tests, curves of training over
one another, and summaries that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from storage.builds import Build, read_build
from storage.recipes import read_parts, whole
from storage.store import Store
from tasks.engine.recipe import finished_stage
from tasks.reporting import plots
from tasks.reporting.blocks import NONE, Block, Heading, Picture, Quote, ReportSection, Text, section, table_of
from tasks.reporting.curves import Curve, Points, curve_picture, stored_curves
from tasks.reporting.facts import flatten
from tasks.reporting.samples import shorten
from tasks.reporting.scores import rank_systems, scores_section
from tasks.reporting.settings import ReportSettings

_MOST = len(plots.COLORS)  # a curve of each fits in one picture
_SAMPLES = 5  # articles whose summaries changed
_MODELS = ("ranker", "summarizer")


def compared_builds(store: Store, names: Sequence[str], seed: int = 1) -> list[ReportSection]:
    """Return the sections. `seed` decides the resamples of intervals and tests. Raises ValueError: there are fewer than
    two names or more than six, or one is there twice; StorageError: a build is missing or damaged."""
    if not 2 <= len(set(names)) == len(names) <= _MOST:
        raise ValueError(f"builds are {', '.join(names) or 'none'}: expected 2 to {_MOST} different names")
    builds = {chr(ord("A") + index): read_build(store, name) for index, name in enumerate(names)}
    return [_settings(builds), _scores(store, builds, seed), _curves(store, builds), _changed(store, builds)]


@section("settings", "Builds")
def _settings(builds: dict[str, Build]) -> Iterator[Block]:
    given = {letter: dict(flatten(build.config)) for letter, build in builds.items()}
    names = sorted({name for settings in given.values() for name in settings})
    rows = [[name, *(settings.get(name, NONE) for settings in given.values())] for name in names]
    different = [row for row in rows if len(set(row[1:])) > 1]
    yield Text(f"{'; '.join(f'{letter} is build {build.name}' for letter, build in builds.items())}.")
    if different:
        yield table_of("Settings that differ", ["setting", *given], different, range(0))
    else:
        yield Text("All settings are equal.")


def _scores(store: Store, builds: dict[str, Build], seed: int) -> ReportSection:
    """Return the scores of the trained systems; a system's name begins with the letter of its build."""
    tables = []
    for letter, build in builds.items():
        table = _read(store, build, "scores")
        names = pc.binary_join_element_wise(letter, table["system"], " ")
        tables.append(table.set_column(table.schema.get_field_index("system"), "system", names))
    headline = ReportSettings.model_validate(next(iter(builds.values())).config.get("report", {}))
    ranking = rank_systems(tables[0], pa.concat_tables(tables[1:]), headline, seed)
    return scores_section(ranking)


@section("training", "Training")
def _curves(store: Store, builds: dict[str, Build]) -> Iterator[Block]:
    """Yield a picture of each quantity with a line of each build: that of the validation, or else the first."""
    for model in _MODELS:
        result: dict[str, tuple[Curve, dict[str, Points]]] = {}
        for letter, build in builds.items():
            path = build.models.get(f"models/{model}")
            for curve in stored_curves(store, model, path) if path else ():
                lines = {name: points for name, points in curve.series.items() if points}
                result.setdefault(curve.name, (curve, {}))[1][letter] = lines.get("validation") or next(
                    iter(lines.values())
                )
        for curve, series in result.values():
            yield Picture(curve.title, curve_picture(replace(curve, series=series)))


@section("samples", "Summaries that changed")
def _changed(store: Store, builds: dict[str, Build]) -> Iterator[Block]:
    """Return test articles of which the builds' own systems wrote different summaries."""
    written: dict[str, dict[str, str]] = {}
    for letter, build in builds.items():
        table = _read(store, build, "predictions")
        for row in table.select(["article_id", "system", "summary"]).to_pylist():
            written.setdefault(row["article_id"], {})[f"{letter} {row['system']}"] = row["summary"]
    common = {id_: texts for id_, texts in written.items() if len({name[0] for name in texts}) == len(builds)}
    changed = {id_: texts for id_, texts in common.items() if len(set(texts.values())) > 1}
    articles = _read(store, next(iter(builds.values())), "articles").select(["article_id", "title"]).to_pylist()
    titles = {row["article_id"]: row["title"] for row in articles}
    yield Text(f"{len(changed):,} of {len(common):,} summaries of common test articles changed.")
    for id_, texts in list(changed.items())[:_SAMPLES]:
        yield Heading(titles.get(id_, id_))
        for name, text in texts.items():
            yield Heading(name, 4)
            yield Quote(*shorten(text))


def _read(store: Store, build: Build, stage: str) -> pa.Table:
    """Return all rows of a stage; none if the build does not have it."""
    shards = finished_stage(store, build, stage).in_order if stage in build.stages else ()
    return read_parts(store, stage, map(whole, shards))
