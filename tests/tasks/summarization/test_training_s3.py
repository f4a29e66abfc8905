"""A training on an object store whose machine dies: another machine goes on from the checkpoints on the store."""

import json
import logging
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from models.training.state import TrainingProgress
from storage import directories
from storage.directories import SNAPSHOT, DirectoryRecord, working_directory
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.recipe import Recipe
from tasks.engine.shard import make_directory
from tasks.summarization.training import train_summarizer
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import Proxy, proxy, uri
from tests.tasks.summarization.summarizer_examples import FEW, TINY, shards, vocabulary

pytestmark = pytest.mark.integration

NAME, KEY = "models/summarizer", "0123456789abcdef"
MANIFEST = f"{NAME}/{KEY}/{SNAPSHOT}/manifest.json"
TRAINING = FEW.model_copy(update={"log_interval": 1, "validation_interval": 1})
KILLED_AT = 4


@pytest.fixture
def between(s3: int) -> Iterator[Proxy]:
    with proxy(s3) as between:
        yield between


@pytest.fixture
def root(between: Proxy, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(directories, "SNAPSHOT_SECONDS", 0.05)
    return uri(between.port, uuid.uuid4().hex)


def train(*, directory: Path, progress: Callable[[TrainingProgress], None]) -> dict[str, Any]:
    return train_summarizer(
        shards(), vocabulary(), TINY, training=TRAINING, directory=directory, seed=1, progress=progress
    )


def train_at(root: str, machine: Path, progress: Callable[[TrainingProgress], None]) -> DirectoryRecord:
    """Train on a machine of its own, which is a folder for temporary files of its own."""
    machine.mkdir(exist_ok=True)
    tempfile.tempdir = str(machine)
    try:
        return make_directory(
            Job(
                root=root,
                recipe=Recipe(NAME, train, version=1),
                shard=0,
                key=KEY,
                inputs={},
                digests={},
                context={"progress": progress},
            )
        )
    finally:
        tempfile.tempdir = None


def doomed(root: str, machine: str) -> None:
    """Train until step KILLED_AT is done, and wait there to be killed."""
    directories.SNAPSHOT_SECONDS = 0.05
    train_at(root, Path(machine), lambda now: time.sleep(600 if now.step > KILLED_AT else 0))


def steps_on(store: Store) -> set[str]:
    if not store.exists(MANIFEST):
        return set()
    try:
        files = json.loads(store.read_bytes(MANIFEST))["files"]
    except json.JSONDecodeError:  # this server shows objects that are being written, which S3 does not
        return set()
    return {Path(file).parts[1] for file in files if "step-" in file}


def wait_for_step(store: Store, step: int) -> None:
    name = f"step-{step:08d}"
    wait_until(lambda: name in steps_on(store), f"{name} in the store", lambda: str(steps_on(store)))


def test_a_second_machine_goes_on_where_the_first_one_died(root: str, tmp_path: Path) -> None:
    whole = train_at(str(tmp_path / "local"), tmp_path / "machine", lambda _: None)
    store = Store(root)
    script = "import sys; from tests.tasks.summarization.test_training_s3 import doomed; doomed(*sys.argv[1:])"
    first = subprocess.Popen(
        [sys.executable, "-c", script, root, str(tmp_path / "first")], cwd=Path(__file__).parents[3]
    )
    try:
        wait_for_step(store, KILLED_AT)
    finally:
        first.kill()
        first.wait()
    steps: list[int] = []
    record = train_at(root, tmp_path / "second", lambda now: steps.append(now.step))
    assert steps[0] == KILLED_AT + 1
    assert record.digest == whole.digest
    metrics = store.read_bytes(f"{record.path}/metrics.jsonl").decode().splitlines()
    assert [json.loads(line)["step"] for line in metrics if '"train"' in line] == [1, 2, 3, 4, 5, 6]
    assert store.sizes(f"{record.path}/{SNAPSHOT}") == {}, "what is published needs no snapshot"


def test_a_machine_that_comes_back_goes_on_from_the_later_checkpoint(root: str, tmp_path: Path) -> None:
    """The first machine stops at step 2, the second at step 4; the first comes back with its old folder."""

    def until(step: int) -> Callable[[TrainingProgress], None]:
        def stop(now: TrainingProgress) -> None:
            if now.step > step:
                raise ConnectionError("the machine stops")

        return stop

    for machine, step in (("first", 2), ("second", 4)):
        with pytest.raises(ConnectionError, match="the machine stops"):
            train_at(root, tmp_path / machine, until(step))
        assert f"step-{step:08d}" in steps_on(Store(root)), "sent before the error goes on"
    steps: list[int] = []
    train_at(root, tmp_path / "first", lambda now: steps.append(now.step))
    assert steps[0] == 5


def test_sending_is_off_the_training_thread_and_a_store_that_fails_ends_no_training(
    root: str, between: Proxy, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = threading.Event()
    senders: set[str] = set()
    writing = Store.writing

    def fails(store: Store, name: str) -> Any:
        if SNAPSHOT in name:
            senders.add(threading.current_thread().name)
            sending.set()
            raise OSError(5, "the store is away")
        return writing(store, name)

    monkeypatch.setattr(Store, "writing", fails)

    def progress(now: TrainingProgress) -> None:
        if now.step == 2:
            assert sending.wait(PATIENCE), "no checkpoint was sent while training ran"

    with caplog.at_level(logging.WARNING):
        record = train_at(root, tmp_path / "machine", progress)
    assert record.metrics["steps"] == 6
    assert senders == {"snapshots"}
    assert "failed, trying again later: [Errno 5] the store is away" in caplog.text


def test_a_damaged_snapshot_costs_what_it_damaged(root: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def stop(now: TrainingProgress) -> None:
        if now.step > KILLED_AT:
            raise ConnectionError("the machine stops")

    with pytest.raises(ConnectionError):
        train_at(root, tmp_path / "first", stop)
    store = Store(root)
    files = json.loads(store.read_bytes(MANIFEST))["files"]
    place = MANIFEST.rpartition("/")[0]
    store.write_bytes(f"{place}/{files[f'checkpoints/step-{KILLED_AT:08d}/optimizer.safetensors']}", b"flipped")
    steps: list[int] = []
    with caplog.at_level(logging.WARNING):
        train_at(root, tmp_path / "second", lambda now: steps.append(now.step))
    assert steps[0] == KILLED_AT
    assert "is damaged" in caplog.text


def test_a_manifest_that_cannot_be_read_is_named_and_training_begins_anew(
    root: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Store(root).write_bytes(MANIFEST, b"{}")
    with caplog.at_level(logging.WARNING):
        train_at(root, tmp_path / "machine", lambda _: None)
    assert f"{MANIFEST} cannot be read, the training starts from the beginning: " in caplog.text
    assert "it has no seal" in caplog.text


def test_on_local_disk_nothing_is_kept_beside_the_directory(tmp_path: Path) -> None:
    record = train_at(str(tmp_path / "local"), tmp_path / "machine", lambda _: None)
    folder = working_directory(Store(str(tmp_path / "local")), NAME, KEY)
    assert not any(SNAPSHOT in file for file in record.files)
    assert not list(folder.parent.glob(".*"))
