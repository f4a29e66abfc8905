"""Import ranked WikiSum or GraphSum shards into a root, or export a root's corpus to them.

Run the same command again to continue: finished shards are skipped.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from pydantic import ValidationError

from storage.builds import Build, latest_build
from storage.errors import StorageError
from storage.lock import root_lock
from storage.recipes import ShardRecord
from storage.root_format import check_root, prepare_root
from storage.store import Store
from tasks.engine.finished import finished_build, finished_stage
from tasks.engine.inputs import StageResult
from tasks.engine.settings import Settings
from tasks.engine.shard import Job
from tasks.engine.stage import InlineExecutor, Outcome, Run, StageFailedError, StagePlan
from tasks.exchange.ranked_wikisum.exporting import VOCABULARY_FILE, Exported, export_corpus
from tasks.exchange.ranked_wikisum.importing import SOURCE, import_corpus
from tasks.exchange.ranked_wikisum.settings import ExportSettings, ImportSettings

_PROGRAM = "python -m tasks.exchange.ranked_wikisum"


class TellingExecutor(InlineExecutor):
    """Runs jobs in some processes and writes a line for each as it ends."""

    def __init__(self, workers: int) -> None:
        """Set how many shards are processed at the same time."""
        self._workers = workers

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Outcome]:
        """Return job name -> record, or the exception it ended with."""
        outcomes: dict[str, Outcome] = {}
        for job, outcome in self._outcomes(make, jobs):
            outcomes[job.name] = outcome
            became = (
                f"{outcome.written.rows:,} rows, {outcome.written.bytes / 1e6:.1f} MB, {outcome.seconds:.1f} s"
                if isinstance(outcome, ShardRecord)
                else f"failed: {outcome}"
            )
            _say(f"{job.stage} {len(outcomes)} of {len(jobs)}{_origin(job)}: {became}")
        return outcomes

    def _outcomes(self, make: Callable[[Job], Any], jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        if self._workers == 1 or len(jobs) == 1:
            for job in jobs:
                yield job, InlineExecutor().run(make, [job])[job.name]
            return
        # Spawned, because a forked process can hang on the locks of torch's and Arrow's threads.
        with ProcessPoolExecutor(min(self._workers, len(jobs)), multiprocessing.get_context("spawn")) as pool:
            futures = {pool.submit(make, job): job for job in jobs}
            for future in as_completed(futures):
                error = future.exception()
                yield futures[future], future.result() if error is None else error

    def publish(self, result: StageResult, planned: StagePlan) -> None:
        """Write how many shards a stage has and how many were done before."""
        rows = sum(record.written.rows for record in result.records.values())
        _say(f"{planned.stage}: {rows:,} rows in {planned.shards} shards, {planned.done} of them done before")


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options and run; return the exit code: 0, 1 for an error, 2 for a wrong option."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "import":
            _import(options)
        else:
            _export(options)
    except ValidationError as error:
        for problem in error.errors():
            sys.stderr.write(f"{_PROGRAM}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}\n")
        return 2
    except (StorageError, StageFailedError, ValueError, OSError) as error:
        sys.stderr.write(f"{_PROGRAM} {options.command} stopped: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; finished shards are kept: run the same command again to continue\n")
        return 130
    return 0


def _import(options: argparse.Namespace) -> None:
    settings = ImportSettings(**_given(options, ImportSettings))
    store = Store(options.root)
    prepare_root(store)
    started = time.monotonic()
    with root_lock(store):
        other = latest_build(store)
        if other is not None and "import" not in other.config:
            raise ValueError(f"root {options.root!r} holds the build {other.name}: give an import a root of its own")
        run = Run(store, TellingExecutor(max(1, options.workers)))
        import_corpus(run, settings)
        name = _save(run, settings, other)
    _say(f"imported into {options.root} as build {name} in {time.monotonic() - started:.0f} s")


def _save(run: Run, settings: ImportSettings, latest: Build | None) -> str:
    """Save the import as a build, so that export finds it and pruning keeps it; return its name."""
    stages = {
        name: {str(shard): record.path for shard, record in result.records.items()}
        for name, result in run.stages.items()
    }
    if latest is not None and latest.stages == stages:
        return latest.name
    return run.record_build({"import": settings.model_dump(mode="json")}, label=SOURCE).name


def _export(options: argparse.Namespace) -> None:
    settings = ExportSettings(**_given(options, ExportSettings))
    store, target = Store(options.root), Store(options.folder)
    check_root(store)
    build = finished_build(store, options.build)
    target.check_writable()
    shards = len(build.stages.get("examples", {}))

    def tell(one: Exported) -> None:
        files = ", ".join(one.files) or "no articles"
        left = f", {one.unmarked:,} leads left without sentence marks" if one.unmarked else ""
        _say(f"{one.shard + 1} of {shards}: {files}, {one.items:,} items{left}{', done before' if one.done else ''}")

    exported = export_corpus(
        store,
        target,
        settings,
        examples=finished_stage(store, build, "examples"),
        vocabulary=finished_stage(store, build, "vocabulary"),
        graphs=finished_stage(store, build, "graphs") if settings.layout == "json" else None,
        tell=tell,
    )
    _say(f"{sum(one.items for one in exported):,} items and {VOCABULARY_FILE} in {options.folder}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    reading = commands.add_parser("import", help="shards of token ids -> a root that training reads")
    reading.add_argument("folder", help=_about(ImportSettings, "folder"))
    reading.add_argument("--vocabulary", required=True, help=_about(ImportSettings, "vocabulary"))
    reading.add_argument("--layout", choices=["pt", "json"], help=_about(ImportSettings, "layout"))
    reading.add_argument(
        "--sentence-marks", choices=["keep", "drop"], default="keep", help=_about(ImportSettings, "sentence_marks")
    )
    reading.add_argument("--root", required=True, help="folder or URI of its own that gets the stages")
    reading.add_argument("--workers", type=int, default=1, help="shards read at the same time (default: 1)")
    writing = commands.add_parser("export", help="a root's examples and vocabulary -> shards of token ids")
    writing.add_argument("folder", help="folder or URI that gets the shards and the vocabulary")
    writing.add_argument("--root", required=True, help="folder or URI of the corpus")
    writing.add_argument("--build", help="build to export (default: the latest)")
    writing.add_argument("--layout", choices=["pt", "json"], default="pt", help=_about(ExportSettings, "layout"))
    writing.add_argument("--name", default="WIKI", help=_about(ExportSettings, "name"))
    writing.add_argument(
        "--sentence-marks", choices=["add", "keep"], default="add", help=_about(ExportSettings, "sentence_marks")
    )
    return parser


def _about(settings: type[Settings], field: str) -> str:
    return str(settings.model_fields[field].description).replace("%", "%%")


def _given(options: argparse.Namespace, settings: type[Settings]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in settings.model_fields if hasattr(options, name)}


def _origin(job: Job) -> str:
    file = job.arguments.get("file")
    return f" ({file['name']}.{file['split']}.{file['number']}.{file['layout']})" if isinstance(file, dict) else ""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
