"""Export of a build's corpus to a folder that `datasets.load_dataset` opens: Parquet files, a card, Croissant."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from storage.builds import Build
from storage.store import Store
from tasks.across.refusals import compared_paragraphs
from tasks.engine.recipe import finished_build, finished_stage
from tasks.exchange.folder import ExportFolder
from tasks.exchange.shared_corpus.card import corpus_card
from tasks.exchange.shared_corpus.columns import STAGES, chosen_parts, shared_dataset
from tasks.exchange.shared_corpus.croissant import croissant
from tasks.exchange.shared_corpus.plan import GROUP_BYTES, FileGroup, SplitFiles, plan_files
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings
from tasks.exchange.shared_corpus.shards import CorpusShards
from tasks.exchange.shared_corpus.statistics import COUNTS, Counts

_CARD, _CROISSANT = "README.md", "croissant.json"
LOOKED_UP = 300  # articles whose values are looked up: at two tenths of a second, a minute


def export_corpus(
    store: Store,
    target: Store,
    settings: SharedCorpusSettings,
    *,
    build: str | None = None,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    group_bytes: int = GROUP_BYTES,
    looked_up: int = LOOKED_UP,
) -> str:
    """Write the missing files of a shared corpus; return what it holds, or with `dry_run` what it would.

    Killed and started again, it ends with the same bytes; a shard is in memory at a time. Without `build` it is the
    latest; with `dry_run` nothing is written. `tell` gets a line on the plan, and one per group of files, which are of
    `group_bytes` of shards. Values of the summaries of some `looked_up` articles are looked up in their paragraphs.
    Raises ValueError: the folder holds something else, or the build lacks a chosen column or has no article;
    StorageError: there is no such build, or a file cannot be read or written."""
    chosen = finished_build(store, build)
    if chosen.config.get("imported"):
        raise ValueError(
            f"build {chosen.name} has ranked shards that were imported, no corpus of its own: expected another build, "
            "or `python -m tasks.exchange.ranked_wikisum`"
        )
    parts = chosen_parts(settings, chosen.stages)
    shards = CorpusShards(store, _stages(store, chosen, parts), settings.page_text, shared_dataset(parts))
    description = {"kind": "corpus", "build": chosen.name, "columns": list(parts), "page_text": settings.page_text}
    folder = ExportFolder(target, {"format": 1, **description})
    folder.check()
    if (done := folder.files) is not None:
        return f"{target.root} holds this export already: {len(done)} files"
    plan = plan_files(shards, group_bytes)
    tell(str(plan))
    if dry_run:
        return f"dry run: nothing was written to {target.root}"
    folder.begin()
    shards = replace(shards, measured=looked_up / max(looked_up, sum(plan.articles.values())))
    files: dict[str, Any] = {}
    counts: dict[str, list[Counts]] = {split: [] for split in plan.articles}
    for group in plan.groups:
        name = f"{group.number:05d}"
        record = folder.step(name)
        finished = record is not None
        if record is None:
            record = _write_group(shards, target, group)
            folder.finish_step(name, record)
        files |= record["files"]
        for split, fields in record["counts"].items():
            counts[split].append(COUNTS.validate_python(fields))
        size = sum(file["bytes"] for file in record["files"].values())
        tell(f"{group.number + 1} of {len(plan.groups)}: {size / 1e6:,.1f} MB{', done before' if finished else ''}")
    totals = {split: reduce(add, some) for split, some in counts.items() if some}
    texts = {
        _CROISSANT: croissant(chosen, shards.dataset.schema, totals, files),
        _CARD: corpus_card(chosen, shards.dataset.schema, parts, settings.page_text, totals, files),
    }
    files |= {name: folder.write(name, text.encode()) for name, text in texts.items()}
    folder.finish(files, counts={split: COUNTS.dump_python(count, mode="json") for split, count in totals.items()})
    return _summary(target, totals, files)


def _stages(store: Store, build: Build, parts: tuple[str, ...]) -> dict[str, Any]:
    names = {"articles", *(stage for part, stages in STAGES.items() if part in parts for stage in stages)}
    if "paragraphs" in names:
        names |= {"documents", "given"} & build.stages.keys()
    made_by = {"paragraphs": compared_paragraphs(build.stages)}
    return {name: finished_stage(store, build, made_by.get(name, name)) for name in sorted(names)}


def _write_group(shards: CorpusShards, target: Store, group: FileGroup) -> Mapping[str, Any]:
    with ExitStack() as stack:
        sinks = {split: stack.enter_context(target.writing(name)) for split, name in group.files.items()}
        with SplitFiles(sinks, shards.dataset) as files:
            for shard in group.shards:
                files.add(shards.batches(shard))
    return {
        "files": {group.files[split]: written for split, written in files.written.items()},
        "counts": {split: COUNTS.dump_python(count, mode="json") for split, count in files.counts.items()},
    }


def _summary(target: Store, totals: Mapping[str, Counts], files: Mapping[str, Any]) -> str:
    total = reduce(add, totals.values())
    size = sum(file["bytes"] for file in files.values())
    lines = [f"{total.articles:,} articles in {len(files)} files, {size / 1e6:,.1f} MB, in {target.root}"]
    if total.texts < total.documents:
        lines.append(
            f"the text of {total.documents - total.texts:,} of {total.documents:,} documents is left out, because "
            "no licence of it was found, or one that forbids it, or it was not asked for (--page-text)"
        )
    return "\n".join(lines)
