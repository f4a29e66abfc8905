"""A whole small build on the embedded web, as a user runs it: everything real, only small."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from prefect.settings import PREFECT_API_URL

from benchmarks.tiny_runs import PROJECT, STABLE, shards
from tests.flows.test_writer import first_sentence
from tests.patience import output_of, wait_for_file, wait_until
from tests.tasks.chat.chat_server import chat_server

pytestmark = pytest.mark.integration

SMALL = [
    "--source.miniweb.topics=40",
    "--source.miniweb.oversized-bytes=11000000",
    "--shards.articles=2",
    "--shards.hosts=2",
    "--vocabulary.pieces=800",
    "--ranker.hidden=16",
    "--ranker.steps=20",
    "--ranker.validation-interval=10",
    "--summarizer.max-paragraphs=4",
    "--summarizer.max-paragraph-tokens=32",
    "--training.steps=6",
    "--training.validation-interval=3",
    "--training.batch-tokens=1000",
    "--training.processes=1",
    "--decoding.max-length=24",
    "--decoding.min-length=4",
    "--decoding.beam=2",
]
# In the process of the run: other processes would load every library again.
THREAD = ["--engine.kind=threads", "--engine.workers=1"]


@pytest.fixture(scope="module")
def server_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Runs share one Prefect home of their own, and not the developer's."""
    home = tmp_path_factory.mktemp("prefect")
    yield {**os.environ, "PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_API_URL": ""}


def start(root: Path, environment: dict[str, str], *more: str) -> subprocess.Popen[str]:
    call = [sys.executable, "-m", "flows", "build", "--root", str(root), *SMALL, *more]
    return subprocess.Popen(
        call,
        cwd=PROJECT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def shared_server(server_environment: dict[str, str], prefect_server: None) -> dict[str, str]:
    """The same, with the server of the test session in place of one for each run."""
    return {**server_environment, "PREFECT_API_URL": PREFECT_API_URL.value() or ""}


def build(root: Path, environment: dict[str, str], *more: str) -> str:
    with start(root, environment, *more) as process:
        output, _ = output_of(process)
    assert process.returncode == 0, output[-6000:]
    return output


def models(root: Path) -> dict[str, str]:
    """Model -> digest of its published files."""
    records = sorted(root.glob("models/*/*.json"))
    return {record.parent.name: json.loads(record.read_text())["digest"] for record in records}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, server_environment: dict[str, str]) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("build") / "data"
    return root, build(root, server_environment)


def test_a_build_ends_with_the_score_table_and_the_report(finished: tuple[Path, str]) -> None:
    root, output = finished
    report = Path(output.rstrip().splitlines()[-1].removeprefix("report: "))
    assert report.is_file()
    assert "ROUGE" in output
    for system in ("lead", "lexrank", "ht-small-2"):
        assert system in output
    assert {path.parent.name for path in root.glob("*/part-*.parquet")} >= {*STABLE, "pages"}
    latest = json.loads((root / "builds/latest.json").read_text())["build"]
    stages = {*STABLE, "slot-examples"} - {"examples"}  # as the stage is called that makes examples here
    assert set(json.loads((root / f"builds/{latest}.json").read_text())["stages"]) >= stages


def test_a_second_build_computes_nothing(finished: tuple[Path, str], server_environment: dict[str, str]) -> None:
    """It starts no server, whose run nobody could look at, writes no build, and prints what the first one printed."""
    root, first = finished
    before, builds = shards(root), len(list((root / "builds").glob("2*.json")))
    said, _, text = build(root, server_environment).partition("\n")
    assert said.startswith("every stage is done; PREFECT_API_URL is not set")
    assert first.endswith(text)
    assert "ROUGE" in text and "Flow run" not in text
    assert shards(root) == before
    assert len(list((root / "builds").glob("2*.json"))) == builds


def test_other_workers_make_the_same_bytes(
    finished: tuple[Path, str], tmp_path: Path, shared_server: dict[str, str]
) -> None:
    """The shards of a fresh build; one worker on threads was given all cores' threads of torch once."""
    build(tmp_path / "data", shared_server, *THREAD)
    assert shards(tmp_path / "data") == shards(finished[0])
    assert models(tmp_path / "data") == models(finished[0])


def test_a_changed_threshold_recomputes_graphs_and_what_follows(
    finished: tuple[Path, str], shared_server: dict[str, str]
) -> None:
    output = build(finished[0], shared_server, *THREAD, "--graphs.similarity-threshold=0.3")
    computed = {line.split(" - ")[1].split(":")[0] for line in output.splitlines() if ": computing" in line}
    assert computed == {"graphs", "models/summarizer", "predictions", "scores", "reports"}


def test_a_damaged_shard_is_reported_and_repaired(finished: tuple[Path, str], shared_server: dict[str, str]) -> None:
    root, _ = finished
    before = shards(root)
    victim = next(root.glob("articles/part-*.parquet"))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    for file in root.glob("paragraphs/part-*"):
        file.unlink()
    output = build(root, shared_server, *THREAD)
    assert f"articles/{victim.name} is damaged" in output
    assert shards(root) == before


def test_a_second_run_on_the_same_root_is_refused(tmp_path: Path, server_environment: dict[str, str]) -> None:
    root = tmp_path / "data"
    with start(root, server_environment) as first:
        wait_for_file(root / ".lock", first)
        with start(root, server_environment) as second:
            output, _ = output_of(second)
        os.killpg(first.pid, signal.SIGKILL)
    assert second.returncode == 1
    assert f"another build is running on root '{root}' (process " in output


@pytest.mark.slow
def test_a_build_killed_at_five_moments_ends_in_the_same_shards(
    finished: tuple[Path, str], tmp_path: Path, server_environment: dict[str, str]
) -> None:
    """Killed with SIGKILL, children and all, when a stage's first sign of work appears; then run to its end."""
    root = tmp_path / "data"
    for sign in ("search", "pages", "paragraphs", "models/ranker", "predictions"):
        with start(root, server_environment) as process:
            wait_until(lambda: any((root / sign).glob("*")) or process.poll() is not None, f"{sign} on the root")  # noqa: B023
            os.killpg(process.pid, signal.SIGKILL)
    build(root, server_environment)
    assert shards(root) == {name: digest for name, digest in shards(finished[0]).items() if name in shards(root)}
    reference = {name.split("/")[0] for name in shards(finished[0])}
    assert {name.split("/")[0] for name in shards(root)} == reference


@pytest.mark.slow
def test_a_build_killed_while_a_model_writes_asks_no_finished_request_again(
    tmp_path: Path, server_environment: dict[str, str]
) -> None:
    """Killed with SIGKILL, server and all, while the sixth request waits for its answer; then run to its end, twice."""
    killed = False

    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        if number == 6:
            wait_until(lambda: killed, "the kill")
        return first_sentence(number, body)

    root = tmp_path / "data"
    with chat_server(script) as chat:
        writer = [f"--writer.url={chat.url}", "--writer.model=tiny-chat", "--writer.context=8192"]
        more = [*THREAD, *writer, "--writer.concurrency=1"]
        with start(root, server_environment, *more) as process:
            wait_until(lambda: len(chat.asked) == 6 or process.poll() is not None, "the sixth request")
            os.killpg(process.pid, signal.SIGKILL)
        killed = True
        assert len(chat.asked) == 6
        build(root, server_environment, *more)
        asked = [json.dumps(body, sort_keys=True) for _, _, body in chat.asked]
        assert len(asked) > 9 and len(set(asked)) == len(asked) - 2
        assert asked.count(asked[0]) == 2  # the trial, before each of the two builds
        assert asked.count(asked[5]) == 2  # it had no answer
        assert "every stage is done" in build(root, server_environment, *more)
        assert len(chat.asked) == len(asked)
    rows = [row for file in (root / "predictions").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    written = [row["summary"] for row in rows if row["system"] == "tiny-chat"]
    assert written and not any("1066" in summary for summary in written)
