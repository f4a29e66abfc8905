"""The lines of `docs/servers.md` for Slurm, on a real one: jobs are cancelled, and the work has the same results."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.tiny_runs import PROJECT, TINY
from storage.directories import newest_directory
from storage.store import Store
from tests.end_to_end.faults import build, content, running, without
from tests.end_to_end.slurm import NODES, PARTITION, jobs, slurm
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import free_port

pytestmark = [pytest.mark.slow, pytest.mark.integration]


@pytest.fixture(scope="module")
def cluster(tiny_environment: dict[str, str]) -> Iterator[dict[str, str]]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with slurm({**tiny_environment, "PATH": path, "PYTHONPATH": str(PROJECT)}) as environment:
        yield environment


def documented(language: str, word: str) -> str:
    """The block of the guide in which a word stands."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (PROJECT / "docs" / "servers.md").read_text(), re.DOTALL)
    (block,) = [block for block in blocks if word in block]
    return str(block)


def put(text: str, **replaced: str) -> str:
    """A text with other values for some of its options."""
    for name, value in replaced.items():
        text, count = re.subn(rf"(\b{name.replace('_', '[_-]')}[= ])[^,) \n']+", rf"\g<1>{value}", text)
        assert count == 1, name
    return text


def test_a_build_whose_workers_are_cancelled_has_the_same_bytes(
    undisturbed: Path, tmp_path: Path, cluster: dict[str, str]
) -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: pip install -e '.[slurm]'")
    script = put(documented("python", "SLURMCluster"), cores="1", processes="1", memory='"2GB"', queue=f'"{PARTITION}"')
    script = put(script, minimum_jobs="2", maximum_jobs="2")
    root, log = tmp_path / "data", tmp_path / "cluster.log"
    with log.open("wb") as output:
        holder = subprocess.Popen(
            [sys.executable, "-u", "-c", script], cwd=tmp_path, env=cluster, stdin=subprocess.PIPE, stdout=output
        )
    try:
        wait_until(lambda: len(jobs(cluster)) == 2, "two jobs", log.read_text)
        address = re.findall(r"tcp://[\d.]+:\d+", log.read_text())[0]
        first, engine = jobs(cluster), ("--engine.kind=dask", f"--engine.dask-address={address}")
        with running(root, cluster, tmp_path / "one", *engine) as going:
            going.until(lambda: list(root.glob("pages/.scratch-*/*")))
            subprocess.run(["scancel", first[0]], env=cluster, check=True)
            going.until_said("models/summarizer: computing")
            subprocess.run(["scancel", *jobs(cluster)], env=cluster, check=True)
            wait_until(lambda: len(set(jobs(cluster)) - set(first)) >= 2, "new jobs", going.said)
            going.process.kill()
        said = build(root, cluster, tmp_path / "two", *engine)
    finally:
        holder.communicate(b"\n", timeout=PATIENCE)
    assert holder.returncode == 0
    assert "pages: computing" not in said
    assert "models/summarizer: computing" in said
    assert content(root) == content(undisturbed)


def test_a_training_of_two_nodes_goes_on_after_it_was_cancelled(
    undisturbed: Path, tmp_path: Path, cluster: dict[str, str]
) -> None:
    root = without(undisturbed, tmp_path / "data", "models/summarizer")
    script = put(documented("sh", "srun"), cpus_per_task="1", nproc_per_node="1", root=str(root))
    script = script.replace(" --gpus-per-node=8", "").replace(":29400", f":{free_port()}")
    script = script.replace("srun sh", f"test $HOST = {NODES[0]} && HOST=127.0.0.1  # no name service has it\nsrun sh")
    options = [option for option in TINY if "processes" not in option and "steps=40" not in option]
    more = shlex.join([*options, "--training.steps=100", "--engine.kind=threads"]).replace("'", "")
    script = script.replace(str(root), f"{root} {more}")

    def job(log: str) -> str:
        """Submit it, as a file, and return its number."""
        (tmp_path / "job.sh").write_text(script)
        command = ["sbatch", "--parsable", f"--output={tmp_path / log}", "job.sh"]
        return subprocess.run(
            command, cwd=tmp_path, env=cluster, check=True, capture_output=True, text=True
        ).stdout.strip()

    def said(log: str) -> str:
        file = tmp_path / log
        return file.read_text(errors="replace") if file.exists() else ""

    first = job("one")
    wait_until(
        lambda: list(root.glob("models/summarizer/*/checkpoints/step-*/state.json")) or first not in jobs(cluster),
        "a checkpoint",
        lambda: said("one"),
    )
    assert first in jobs(cluster), said("one")
    assert newest_directory(Store(str(root)), "models/summarizer") is None
    subprocess.run(["scancel", first], env=cluster, check=True)
    wait_until(lambda: first not in jobs(cluster), "the end of the first", lambda: said("one"))
    second = job("two")
    wait_until(lambda: second not in jobs(cluster), "the end of the second", lambda: said("two"))
    record = newest_directory(Store(str(root)), "models/summarizer")
    assert record is not None, said("two")[-6000:]
    assert record.metrics["steps"] == 100
    assert "step 10 of 100" in said("one")
    assert "step 10 of 100" not in said("two")
    assert "step 100 of 100" in said("two")
