"""Artifacts of a build, published again from its records under the name of its corpus."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL

from flows.republish import republish
from flows.running.display import current_flow_run, tagged
from storage.errors import StorageError
from storage.registry import Version, save_version
from storage.schemas import FEATURES
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration


def rows() -> Any:
    return FEATURES.schema.empty_table()


def write(*, directory: Path) -> dict[str, Any]:
    (directory / "artifacts").mkdir()
    (directory / "artifacts/report-scores.md").write_text("## Scores\n\n12\n\n## Cost\n\n3")
    return {"published": ["artifacts/report-scores.md"]}


def built(root: Path, **config: str) -> Run:
    run = Run(Store(str(root)), Executor())
    run.stage(Recipe(FEATURES, rows), shards=1, inputs={})
    report = run.directory(Recipe("reports", write, version=1), inputs={})
    build = run.record_build({"preset": "records", **config}, report.record)
    version = Version(1, "", "2026-W01", build.name, None, {}, "", {}, {}, {}, computed={"features": [1, 1]})
    save_version(run.store, version)
    run.store.write_bytes("registry/cards/000001.md", f"## Card of {build.name}".encode())
    for split in ("frozen", "recent"):
        run.store.write_bytes(f"registry/challenges/000001-{split}.md", f"## On the {split} split".encode())
    return run


def shown(key: str) -> Any:
    return requests.get(f"{PREFECT_API_URL.value()}/artifacts/{key}/latest", timeout=PATIENCE).json()


def test_two_corpora_on_one_server_do_not_mix(prefect_server: None, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    built(first, name="rivers")
    built(second)  # made before corpora had names
    assert republish(str(first)).startswith("rivers: published build ")
    assert republish(str(second)).startswith("records-two: published build ")
    for corpus in ("rivers", "records-two"):
        assert shown(f"{corpus}-stage-features")["description"].startswith("features: 0 rows in 1 shards")
        scores = shown(f"{corpus}-report-scores")
        assert (scores["data"][:9], scores["description"]) == ("## Scores", "Scores; Cost"), "it says what it shows"
        assert shown(f"{corpus}-model-card")["description"] == "Model card of version 1 of 2026-W01."
        for key, page in (("champion-challenger", "frozen"), ("champion-challenger-recent", "recent")):
            artifact = shown(f"{corpus}-{key}")
            assert artifact["data"] == f"## On the {page} split"
            assert artifact["description"] == "Champion and challenger: version 1 of 2026-W01."
        (row,) = json.loads(shown(f"{corpus}-retrained-shards")["data"])
        assert row == {"stage": "features", "computed": 1, "of": 1}
        assert shown(f"{corpus}-lineage")["data"].startswith("## Lineage of build ")
        index = shown(f"{corpus}-index")["data"]
        assert f"(../key/{corpus}-report-scores)" in index
        assert f"(../key/{corpus}-stage-features)" in index


def test_a_run_and_those_within_it_are_tagged(prefect_server: None) -> None:
    runs = []

    @flow
    def inner() -> None:
        runs.append(current_flow_run())

    @flow
    def outer() -> None:
        runs.append(current_flow_run())
        with tagged("rivers"):
            inner()

    outer()
    with get_client(sync_client=True) as client:
        assert [client.read_flow_run(run).tags for run in runs if run is not None] == [["rivers"], ["rivers"]]


def test_a_build_that_is_not_there(prefect_server: None, tmp_path: Path) -> None:
    run = built(tmp_path)
    with pytest.raises(StorageError, match="no build 'absent' below"):
        republish(str(tmp_path), "absent")
    record = run.directories["reports"].record
    assert record is not None
    run.store.delete(f"reports/{record.key}.json")
    with pytest.raises(StorageError, match=rf"{record.path}, which build .* names, is missing"):
        republish(str(tmp_path))
