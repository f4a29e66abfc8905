"""prefect.yaml: every deployment names a flow that is there; the pools differ in nothing but their job variables."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.server import api

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return yaml.safe_load((PROJECT / "prefect.yaml").read_text())


def test_every_deployment_bears_the_name_of_its_flow(written: dict[str, Any]) -> None:
    for deployment in written["deployments"]:
        file, _, name = deployment["entrypoint"].partition(":")
        flow = getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), name)
        assert isinstance(flow, Flow)
        assert flow.name == deployment["name"]
        assert flow.on_failure_hooks, f"{name} tells nobody that it failed"
        assert deployment["concurrency_limit"]["limit"] == 1


@pytest.mark.parametrize("kind", ["process", "docker", "kubernetes"])
def test_job_variables_are_those_the_kind_of_pool_knows(written: dict[str, Any], kind: str) -> None:
    pool = written["definitions"]["pools"][kind]
    assert pool.keys() == {"name", "work_queue_name", "job_variables"}
    collections = Path(api.__file__).with_name("collections_data") / "views" / "aggregate-worker-metadata.json"
    workers = [worker for known in json.loads(collections.read_text()).values() for worker in known.values()]
    (template,) = [one["default_base_job_configuration"] for one in workers if one["type"] == kind]
    assert pool["job_variables"].keys() <= template["variables"]["properties"].keys()
    assert written["definitions"]["work_pool"] == written["definitions"]["pools"]["process"]
