"""A whole tiny build below s3://, on a server that fails and dawdles: the shards are those of a build on local disk."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.tiny_runs import STABLE, shards
from storage.store import Store
from tests.end_to_end.faults import build, running
from tests.storage.object_store import CREDENTIALS, Proxy, object_store, proxy, uri

pytestmark = pytest.mark.slow


@pytest.fixture
def between() -> Iterator[Proxy]:
    with object_store() as port, proxy(port) as between:
        yield between


def shards_on(store: Store) -> dict[str, str]:
    """What `shards` says of a local root."""
    found = {}
    for stage in (*STABLE, "pages"):
        for name in store.sizes(stage):
            if name.endswith(".json"):
                written = json.loads(store.read_bytes(f"{stage}/{name}"))["written"]
                found[f"{stage}/{name.removesuffix('.json')}"] = written["digest" if stage == "pages" else "sha256"]
    return found


def test_a_build_on_a_store_that_fails_and_dawdles_equals_one_on_local_disk(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str], between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    environment = {**tiny_environment, **CREDENTIALS}
    root = uri(between.port, "data")
    between.seconds = 0.02
    with running(root, environment, tmp_path / "log", "--engine.kind=threads") as going:
        going.until_said("documents: computing")
        between.failing, between.failures = {"GET", "PUT", "POST", "HEAD"}, 30
        going.until_said("paragraphs: computing")
        between.failing, between.failures = {"PUT", "POST"}, None  # for good
        assert going.wait() == 1
        assert "could not be" in going.said()
        assert "AWS Error" in going.said()
        assert "Traceback" not in going.said()
    assert between.failed > 30
    between.failing = set()
    said = build(root, environment, tmp_path / "again")
    assert shards_on(Store(root)) == shards(undisturbed)
    assert "report: bucket/data/reports/" in said
    assert "documents: computing" not in said


def test_a_build_that_lay_still_while_another_took_its_root_over_changes_nothing(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str], between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker processes lie still with it, in the middle of a crawl."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    root = uri(between.port, "data")
    environments = []
    for machine in ("first", "second"):
        (tmp_path / machine).mkdir()
        own = {"PREFECT_HOME": str(tmp_path / machine), "TMPDIR": str(tmp_path / machine)}
        environments.append({**tiny_environment, **CREDENTIALS, **own})
    with running(root, environments[0], tmp_path / "log") as first:
        first.until_said("pages: computing")
        first.until(first.workers)
        stopped = first.members()
        for process in stopped:
            process.suspend()
        build(root, environments[1], tmp_path / "again")
        after = {name: (info.size, info.mtime_ns) for name, info in Store(root).files().items()}
        for process in stopped:
            process.resume()
        assert first.wait() == 1
        assert "taken over, nothing more is written: a run that has ended since" in first.said()
        assert "Traceback" not in first.said()
    now = {name: (info.size, info.mtime_ns) for name, info in Store(root).files().items()}
    assert {name: kept for name, kept in now.items() if "/.scratch-" not in name} == after
    assert shards_on(Store(root)) == shards(undisturbed)
