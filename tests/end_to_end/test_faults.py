"""What can happen to a build that runs for years: after each fault, the same command ends in the undisturbed shards."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.tiny_runs import preloaded, resize, used_kilobytes
from flows.running.child_processes import free_port, start, stop, wait_for_api
from tests.end_to_end.faults import build, content, limited_disk, running, without
from tests.end_to_end.test_build import models

pytestmark = pytest.mark.slow


def same_after(root: Path, environment: dict[str, str], log: Path, undisturbed: Path) -> str:
    """Run the same command again, find the undisturbed shards and models, and return what was said."""
    said = build(root, environment, log)
    assert content(root) == content(undisturbed)
    assert not list(root.rglob("*.tmp"))
    return said


def test_a_killed_worker_is_named_and_its_shard_made_again(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "pages", "documents")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until(lambda: list(root.glob("pages/.scratch-*/*")))
        going.kill_workers()
        assert going.wait() == 1
        assert "pages-00000: RuntimeError: its process was killed" in going.said()
        assert "Run the same command again: it computes only what is missing." in going.said()
        assert "Traceback" not in going.said()
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)
    assert not list(root.glob("pages/.scratch-*"))


def test_a_full_disk_is_named_and_leaves_nothing_half_written(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    with limited_disk(tmp_path / "disk", megabytes=64) as disk:
        root = without(undisturbed, disk / "data", "documents", "paragraphs", "features")
        resize(disk, kilobytes=used_kilobytes(disk) + 24)
        with running(root, tiny_environment, tmp_path / "log") as going:
            assert going.wait() == 1
            assert re.search(r"no space left for .*/part-\d+\S+: free some or give another root", going.said())
            assert "Traceback" not in going.said()
        assert not list(root.rglob("*.tmp"))
        resize(disk, kilobytes=64 << 10)
        same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_a_prefect_server_killed_and_started_again_costs_nothing_that_is_done(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "documents", "paragraphs", "features", "vocabulary")
    port = free_port("127.0.0.1")
    url = f"http://127.0.0.1:{port}/api"
    own = {**tiny_environment, "PREFECT_HOME": str(tmp_path / "home"), "PREFECT_API_URL": url}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    server = start(command, own, quiet=True)
    try:
        assert wait_for_api(url, server, 240)
        with running(root, own, tmp_path / "log", "--engine.kind=threads") as going:
            going.until_said("documents: computing")
            stop(server, 0)
            server = start(command, own, quiet=True)
            assert wait_for_api(url, server, 240)
            assert going.wait() == 0, going.said()[-6000:]
        assert content(root) == content(undisturbed)
    finally:
        stop(server, 10)
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_of_two_runs_on_one_root_one_is_refused_and_the_other_ends_well(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "features", "vocabulary")
    (root / ".lock").unlink(missing_ok=True)
    with running(root, tiny_environment, tmp_path / "first") as first:
        first.until_said("computing")
        with running(root, tiny_environment, tmp_path / "second") as second:
            assert second.wait() == 1
            assert f"another build is running on root '{root}' (process {first.process.pid} on " in second.said()
        assert first.wait() == 0
    assert content(root) == content(undisturbed)


def test_two_dask_workers_make_one_build_together(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "documents", "paragraphs", "features")
    with running(root, tiny_environment, tmp_path / "log", "--engine.kind=dask") as going:
        assert going.wait() == 0, going.said()[-6000:]
        assert "documents: computing 2" in going.said()
    assert content(root) == content(undisturbed)


def test_shards_cut_short_flipped_and_deleted_are_made_again(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "paragraphs")
    cut, deleted = sorted(root.glob("frontier/part-*.parquet"))[:2]
    os.truncate(cut, cut.stat().st_size // 2)
    deleted.unlink()
    flipped = sorted(root.glob("articles/part-*.parquet"))[0]
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 4
    flipped.write_bytes(data)
    said = same_after(root, tiny_environment, tmp_path / "log", undisturbed)
    assert f"articles/{flipped.name} is damaged" in said
    assert flipped.with_name(f"{flipped.name}.damaged").exists()
    assert "frontier: computing 2" in said


def test_a_clock_that_jumps_back_changes_nothing(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    """Every process sees the time of day go back a day, a few seconds after the work began."""
    root = without(undisturbed, tmp_path / "data", "pages", "documents")
    environment = {
        **tiny_environment,
        "LD_PRELOAD": preloading("jumping_clock", tmp_path),
        "JUMP_AT": str(int(time.monotonic()) + 15),
        "JUMP_BY": "-86400",
    }
    with running(root, environment, tmp_path / "log", "--engine.kind=threads") as going:
        assert going.wait() == 0, going.said()[-6000:]
        assert time.monotonic() > float(environment["JUMP_AT"])
    assert content(root) == content(undisturbed)
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_a_slow_file_system_changes_nothing(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    """Each opening for writing, sync and rename takes 50 ms longer."""
    root = without(undisturbed, tmp_path / "data", "articles", "documents", "paragraphs", "features", "ranked")
    slow = {"SLOW_ROOT": str(root), "SLOW_MS": "50", "SLOW_LOG": str(tmp_path / "waits")}
    environment = {**tiny_environment, "LD_PRELOAD": preloading("slow_files", tmp_path), **slow}
    build(root, environment, tmp_path / "log")
    assert content(root) == content(undisturbed)
    # A shard and its record are opened, synced and renamed: six waits for each of two shards of five stages.
    assert (tmp_path / "waits").stat().st_size >= 60
    assert not list(root.rglob("*.tmp"))


def preloading(name: str, folder: Path) -> str:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler, for a library that is loaded before the C library")
    return str(preloaded(name, folder))


def untrained(undisturbed: Path, root: Path) -> Path:
    """A copy of a finished root in which the summarizer is still to be trained."""
    without(undisturbed, root, "models/summarizer", "predictions", "scores", "reports")
    return root


def checkpoints(root: Path) -> list[Path]:
    return sorted(root.glob("models/summarizer/*/checkpoints/step-*"))


def test_a_checkpoint_cut_in_half_is_named_and_the_one_before_it_used(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "predictions", "scores", "reports")
    for record in root.glob("models/summarizer/*.json"):
        record.unlink()  # as if killed after the last checkpoint
    last, before = checkpoints(root)[-1], checkpoints(root)[-2]
    weights = last / "model.safetensors"
    os.truncate(weights, weights.stat().st_size // 2)
    said = same_after(root, tiny_environment, tmp_path / "log", undisturbed)
    assert f"checkpoint {last} is damaged" in said
    assert f"moved to damaged-{last.name}, the checkpoint before it is used" in said
    assert before.exists()


def test_a_training_killed_with_kill_9_goes_on_from_its_checkpoint(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = untrained(undisturbed, tmp_path / "data")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until(lambda: checkpoints(root))
        going.kill_workers()
        assert going.wait() == 1
        assert re.search(r"models/summarizer: RuntimeError: its process was killed.* batch_tokens", going.said())
    assert not models(root).get("summarizer")
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_a_training_out_of_memory_names_the_setting_of_its_batches(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = untrained(undisturbed, tmp_path / "data")
    large = (
        "--summarizer.preset=ht",
        "--summarizer.max-paragraphs=24",
        "--summarizer.max-paragraph-tokens=100",
        "--training.batch-tokens=100000",
    )
    with running(root, tiny_environment, tmp_path / "log", *large) as going:
        going.until(lambda: list(root.glob("models/summarizer/*/config.json")))
        for worker in going.workers():  # room for threads, not for a batch of gigabytes
            worker.rlimit(psutil.RLIMIT_AS, (worker.memory_info().vms + (600 << 20), psutil.RLIM_INFINITY))
        assert going.wait() == 1
        assert re.search(r"models/summarizer: TrainingError: out of memory on cpu .*lower batch_tokens", going.said())
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_sigterm_saves_a_checkpoint_and_leaves_no_process(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = untrained(undisturbed, tmp_path / "data")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until(lambda: checkpoints(root))
        going.process.send_signal(signal.SIGTERM)
        assert going.wait() == 130
        assert "wikisum build interrupted; what is finished is kept: run the same command again" in going.said()
        assert going.left_behind() == []
    reached = int(checkpoints(root)[-1].name.removeprefix("step-"))
    assert reached < 40, "the training ended before it was stopped"
    assert f"stopped by SIGTERM after step {reached};" in (tmp_path / "log").read_text()
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def test_sigterm_lets_the_shards_in_hand_be_finished(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "documents", "paragraphs")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until_said("documents: computing 2")
        going.until(lambda: any(runs(one, "tasks.extraction.extractor") for one in descendants(going.process)))
        going.process.send_signal(signal.SIGTERM)
        assert going.wait() == 130
        assert going.left_behind() == []
    assert len(list(root.glob("documents/part-*.json"))) >= 1
    assert not list(root.glob("paragraphs/*"))
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)


def descendants(process: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    return [one for one in psutil.Process(process.pid).children(recursive=True) if one.is_running()]


def runs(process: psutil.Process, module: str) -> bool:
    try:
        return module in process.cmdline()
    except psutil.Error:  # it ended meanwhile
        return False


def test_a_second_ctrl_c_leaves_nothing_running_and_nothing_half_written(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = untrained(undisturbed, tmp_path / "data")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until(lambda: checkpoints(root))
        for _ in range(2):
            if going.process.poll() is None:
                going.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert going.wait() == 130
        assert "Traceback" not in going.said()
        assert going.left_behind() == []
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)
    assert content(root) == content(undisturbed)
