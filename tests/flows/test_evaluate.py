"""What the report hangs on, and what the tasks that lead to it are called."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.directories import directory_path
from storage.recipes import ShardRecord, save_record
from storage.sealed import seal
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.stage import Run
from tests.flows.recording import RecordingExecutor

CONFIG = BuildConfig.model_validate({"shards": {"articles": 2, "hosts": 1}})


class Keeping(RecordingExecutor):
    """Keeps the records of what it says it made, where a later walk finds them, with the time it took."""

    def __init__(self, store: Store, seconds: float) -> None:
        super().__init__()
        self.store, self.seconds = store, seconds

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Any]:
        records = {name: replace(made, seconds=self.seconds) for name, made in super().run(make, jobs).items()}
        for record in records.values():
            if isinstance(record, ShardRecord):
                self.store.write_bytes(record.path, b"1")
                save_record(self.store, record)
            else:
                sidecar = f"{directory_path(record.name, record.key)}.json"
                self.store.write_bytes(sidecar, seal(asdict(record)))
        return records


def made(root: Path, seconds: float) -> list[Job]:
    store = Store(str(root))
    executor = Keeping(store, seconds)
    dag.report(Session(CONFIG, executor, Run(store, executor)))  # type: ignore[arg-type]
    return executor.jobs


def test_a_report_is_found_again_however_long_its_stages_took(tmp_path: Path) -> None:
    (first,) = [job for job in made(tmp_path / "a", 1.0) if job.stage == "reports"]
    (slower,) = [job for job in made(tmp_path / "b", 2.0) if job.stage == "reports"]
    assert first.key == slower.key
    assert (first.context["took"]["articles"]["seconds"], slower.context["took"]["articles"]["seconds"]) == (2.0, 4.0)


def test_a_dry_run_finds_everything_done_that_is(tmp_path: Path) -> None:
    made(tmp_path, 1.0)
    store = Store(str(tmp_path))
    run = Run(store, RecordingExecutor(), planning=True)
    dag.report(Session(CONFIG, RecordingExecutor(), run))  # type: ignore[arg-type]
    assert [plan.stage for plan in run.plans if plan.done < plan.shards] == []
    assert run.plans[-1].stage == "reports"


def test_tasks_are_called_after_what_they_make(tmp_path: Path) -> None:
    named = {job.name for job in made(tmp_path, 1.0) if job.stage in ("predictions", "scores")}
    assert named == {
        f"{name}-0000{shard}" for name in ("baselines", "baseline_scores", "predictions", "scores") for shard in (0, 1)
    }
