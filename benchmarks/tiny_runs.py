"""Tiny builds and retrainings, the processes and disks that they run on, and what their roots hold: for tests that
disturb them, and for the measurements that do so for hours."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun

from benchmarks.waiting import PATIENCE

PROJECT = Path(__file__).parents[1]
TINY = [
    "--source.miniweb.topics=24",
    "--source.miniweb.oversized-bytes=11000000",
    "--shards.articles=2",
    "--shards.hosts=2",
    "--engine.workers=2",
    "--vocabulary.pieces=600",
    "--ranker.hidden=8",
    "--ranker.steps=10",
    "--ranker.validation-interval=5",
    "--summarizer.max-paragraphs=3",
    "--summarizer.max-paragraph-tokens=24",
    "--training.steps=40",
    "--training.validation-interval=10",
    "--training.batch-tokens=800",
    "--training.processes=1",
    "--examples.supported-by=null",  # three paragraphs of 24 tokens bear nothing out
    "--training.decoded-articles=1",
    "--decoding.max-length=16",
    "--decoding.min-length=4",
    "--decoding.beam=2",
]
WEEKLY = [
    "--source.miniweb.edits=0.3",
    "--source.miniweb.deaths=0",
    "--shards.articles=4",
    '--engine.kind="threads"',
    '--ranking.method="similarity"',
    "--training.steps=6",
    "--training.validation-interval=3",
    "--retraining.ranker-steps=4",
    "--retraining.summarizer-steps=4",
    "--retraining.warmup=2",
    "--retraining.keep=3",
]
# Stages whose files hold nothing but what they were made from, so that equal builds have equal bytes.
STABLE = (
    "intake",
    "articles",
    "search",
    "frontier",
    "documents",
    "paragraphs",
    "features",
    "vocabulary",
    "ranked",
    "ranking_scores",
    "graphs",
    "examples",
    "predictions",
    "scores",
)
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
Process = subprocess.Popen[bytes]


def nested(options: list[str]) -> dict[str, Any]:
    """Options of the command line as the parameters of a deployment have them."""
    settings: dict[str, Any] = {}
    for option in options:
        name, _, value = option.removeprefix("--").replace("-", "_").partition("=")
        *sections, field = name.split(".")
        section = settings
        for part in sections:
            section = section.setdefault(part, {})
        section[field] = json.loads(value)
    return settings


def shards(root: Path) -> dict[str, str]:
    """File -> sha256 from its record, for stable stages; for pages the digest that leaves fetch times out."""
    found = {}
    for record in sorted(root.glob("*/part-*.json")):
        fields = json.loads(record.read_text())
        stage = record.parent.name
        if stage in STABLE:
            found[f"{stage}/{record.stem}"] = fields["written"]["sha256"]
        elif stage == "pages":
            found[f"{stage}/{record.stem}"] = fields["written"]["digest"]
    return found


def kill(process: Process) -> None:
    """`kill -9` of a process and all its children, as a machine dies."""
    if process.poll() is None:
        parent = psutil.Process(process.pid)
        for one in [parent, *parent.children(recursive=True)]:
            one.kill()
    process.wait(PATIENCE)


def now(run: FlowRun) -> FlowRun:
    """Return a run as the server knows it now."""
    with get_client(sync_client=True) as client:
        return client.read_flow_run(run.id)


def state_of(run: FlowRun) -> str:
    """Return the type of a run's state; empty without one."""
    state = now(run).state
    return "" if state is None else state.type.value


def processes_of(run: FlowRun, worker: Process) -> list[psutil.Process]:
    """Return the processes of a run on a worker."""

    def environment(one: psutil.Process) -> dict[str, str]:
        try:
            return one.environ()
        except psutil.Error:
            return {}

    children = psutil.Process(worker.pid).children(recursive=True)
    return [one for one in children if environment(one).get("PREFECT__FLOW_RUN_ID") == str(run.id)]


def preloaded(name: str, folder: Path) -> Path:
    """Compile a library for LD_PRELOAD: `jumping_clock` moves the time of day by JUMP_BY seconds, once the machine has
    been up for JUMP_AT; `slow_files` lets writing below SLOW_ROOT take SLOW_MS longer, with a byte in SLOW_LOG each
    time."""
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of limited size in memory. Raises PermissionError: none may be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        raise PermissionError(f"needs the right to mount a small file system: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def resize(disk: Path, kilobytes: int) -> None:
    """Change the size of a small disk."""
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(disk)], check=True)


def used_kilobytes(disk: Path) -> int:
    """Return how much of a disk is used."""
    usage = shutil.disk_usage(disk)
    return usage.used >> 10
