"""Export of a build's corpus to a folder that `datasets.load_dataset` opens: Parquet files, planned before any is
written (which shards go into which, how large, how long), a card, Croissant."""

import io
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from operator import add
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.builds import Build
from storage.store import Store
from storage.tables import by_size
from storage.writing import HashingSink
from tasks.engine.grouping import packed
from tasks.engine.recipe import finished_build, finished_stage
from tasks.exchange.folder import ExportFolder
from tasks.exchange.shared_corpus.card import corpus_card, croissant
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings
from tasks.exchange.shared_corpus.shards import (
    COUNTS,
    SPLITS,
    STAGES,
    CorpusShards,
    Counts,
    chosen_parts,
    shared_dataset,
)
from tasks.near_duplicates.refusals import compared_paragraphs


def write_splits(
    sinks: Mapping[str, IO[bytes]], shards: CorpusShards, numbers: Iterable[int]
) -> tuple[dict[str, dict[str, Any]], dict[str, Counts]]:
    """Write the rows of some shards to a file for each split, in row groups that end with the shard. Return split ->
    `rows`, `bytes` and `sha256` of its file, and split -> counts of its rows."""
    counts = {split: Counts() for split in sinks}
    hashing = {split: HashingSink(sink) for split, sink in sinks.items()}
    schema = shards.dataset.schema
    with ExitStack() as stack:
        writers = {
            split: stack.enter_context(pq.ParquetWriter(pa.PythonFile(sink, "w"), schema, compression="zstd"))
            for split, sink in hashing.items()
        }
        for number in numbers:
            gathered: dict[str, list[pa.RecordBatch]] = {}
            for split, rows in shards.batches(number):
                counts[split].add(rows)
                gathered.setdefault(split, []).append(pa.RecordBatch.from_pylist(rows, schema=schema))
            for split, some in gathered.items():
                for piece in by_size(some, shards.dataset):
                    if piece.num_rows:
                        writers[split].write_table(piece, row_group_size=piece.num_rows)
    files = {
        split: {"rows": counts[split].articles, "bytes": sink.bytes, "sha256": sink.digest.hexdigest()}
        for split, sink in hashing.items()
    }
    return files, counts


GROUP_BYTES = 256 << 20  # of shards that are written to the same files: hubs advise files of some hundred MB


FileGroup = tuple[Sequence[int], Mapping[str, str]]
"""Consecutive shards, by number; and split -> file they are written to, of splits of which they have an article."""


def plan_files(shards: CorpusShards, group_bytes: int = GROUP_BYTES) -> tuple[list[FileGroup], dict[str, int], str]:
    """Return the groups of files to write, in order; split -> articles; and a line for people on both, with bytes and
    time estimated from the first shard that has articles. Reads the splits of all articles, and of that shard
    everything. Raises ValueError: no article can be exported; CorruptShardError: a file is gone, cut short or
    changed."""
    counts = {shard: shards.splits(shard) for shard in shards.stages["articles"].shards}
    first = next((shard for shard, splits in counts.items() if sum(splits.values())), None)
    if first is None:
        raise ValueError("the build has no article that was not refused: there is nothing to export")
    names = {"articles", "paragraphs", "features", "ranked", "graphs"} & shards.stages.keys()

    def stored(shard: int) -> int:
        return sum(shards.stages[name].records[shard].written.bytes for name in names)

    groups = list(packed(counts, stored, group_bytes))
    used = [{split for shard in group for split, count in counts[shard].items() if count} for group in groups]
    totals = {split: sum(split in splits for splits in used) for split in SPLITS.values()}
    numbers = dict.fromkeys(totals, 0)
    planned: list[FileGroup] = []
    for group, result in zip(groups, used, strict=True):
        files = {}
        for split in (split for split in totals if split in result):
            files[split] = f"data/{split}-{numbers[split]:05d}-of-{totals[split]:05d}.parquet"
            numbers[split] += 1
        planned.append((group, files))
    articles = {split: sum(splits[split] for splits in counts.values()) for split in totals}
    share = sum(articles.values()) / sum(counts[first].values())
    started = time.monotonic()
    written, _ = write_splits({split: io.BytesIO() for split in SPLITS.values()}, shards, [first])
    seconds = share * (time.monotonic() - started)
    size = f"about {share * sum(file['bytes'] for file in written.values()) / 1e6:,.1f} MB"
    # Reading a first file takes seconds by itself, so for a small corpus the estimate would be far too high.
    duration = f"about {seconds / 60:,.0f} min" if seconds >= 90 else "a minute at most"
    splits = ", ".join(f"{split} {count:,} (files: {totals[split]})" for split, count in articles.items())
    return planned, articles, f"{sum(articles.values()):,} articles: {splits}; {size}, {duration}"


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

    Killed and started again, it ends with the same bytes; a shard is in memory at a time. `build`: None = the latest;
    `dry_run`: write nothing. `tell` gets a line on the plan, and one per group of files, which are of `group_bytes` of
    shards. Values of the summaries of some `looked_up` articles are looked up in their paragraphs. Raises ValueError:
    the folder holds something else, or the build lacks a chosen column or has no article; StorageError: the build does
    not exist, or a file cannot be read or written."""
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
    groups, articles, line = plan_files(shards, group_bytes)
    tell(line)
    if dry_run:
        return f"dry run: nothing was written to {target.root}"
    folder.begin()
    shards = replace(shards, measured=looked_up / max(looked_up, sum(articles.values())))
    files: dict[str, Any] = {}
    counts: dict[str, list[Counts]] = {split: [] for split in articles}
    for number, group in enumerate(groups):
        name = f"{number:05d}"
        record = folder.step(name)
        finished = record is not None
        if record is None:
            record = _write_group(shards, target, group)
            folder.finish_step(name, record)
        files |= record["files"]
        for split, fields in record["counts"].items():
            counts[split].append(COUNTS.validate_python(fields))
        size = sum(file["bytes"] for file in record["files"].values())
        tell(f"{number + 1} of {len(groups)}: {size / 1e6:,.1f} MB{', done before' if finished else ''}")
    totals = {split: reduce(add, some) for split, some in counts.items() if some}
    texts = {
        _CROISSANT: croissant(chosen, shards.dataset.schema, totals, files),
        _CARD: corpus_card(chosen, shards.dataset.schema, parts, settings.page_text, totals, files),
    }
    files |= {name: folder.write(name, text.encode()) for name, text in texts.items()}
    folder.finish(files, counts={split: COUNTS.dump_python(count, mode="json") for split, count in totals.items()})
    total = reduce(add, totals.values())
    size = sum(file["bytes"] for file in files.values())
    line = f"{total.articles:,} articles in {len(files)} files, {size / 1e6:,.1f} MB, in {target.root}"
    if total.texts == total.documents:
        return line
    return (
        f"{line}\nthe text of {total.documents - total.texts:,} of {total.documents:,} documents is left out, because "
        "no licence of it was found, or one that forbids it, or it was not asked for (--page-text)"
    )


def _stages(store: Store, build: Build, parts: tuple[str, ...]) -> dict[str, Any]:
    names = {"articles", *(stage for part, stages in STAGES.items() if part in parts for stage in stages)}
    if "paragraphs" in names:
        names |= {"documents", "given"} & build.stages.keys()
    made_by = {"paragraphs": compared_paragraphs(build.stages)}
    return {name: finished_stage(store, build, made_by.get(name, name)) for name in sorted(names)}


def _write_group(shards: CorpusShards, target: Store, group: FileGroup) -> Mapping[str, Any]:
    numbers, names = group
    with ExitStack() as stack:
        sinks = {split: stack.enter_context(target.writing(name)) for split, name in names.items()}
        files, counts = write_splits(sinks, shards, numbers)
    return {
        "files": {names[split]: written for split, written in files.items()},
        "counts": {split: COUNTS.dump_python(count, mode="json") for split, count in counts.items()},
    }
