"""prefect.yaml: every deployment names a flow that is there; the pools differ in nothing but their job variables."""

import importlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.server import api
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.validation import validate

from flows.build_wikisum import build_wikisum
from flows.config import USUAL
from flows.running.prefect_setup import DEPLOYMENTS

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return yaml.safe_load(DEPLOYMENTS.read_text())


def test_prefect_finds_in_the_project_the_deployments_that_the_package_brings() -> None:
    """A link, not a copy, which would fall behind."""
    assert (PROJECT / "prefect.yaml").resolve() == DEPLOYMENTS.resolve()


def test_every_deployment_bears_the_name_of_its_flow(written: dict[str, Any]) -> None:
    for deployment in written["deployments"]:
        module, _, name = deployment["entrypoint"].rpartition(".")
        flow = getattr(importlib.import_module(module), name)
        assert isinstance(flow, Flow)
        assert flow.name == deployment["name"]
        assert flow.on_failure_hooks, f"{name} tells nobody that it failed"
        assert deployment["concurrency_limit"]["limit"] == 1


def test_the_form_of_a_build_has_few_fields_each_described_and_none_filled_in() -> None:
    form = parameter_schema(build_wikisum).definitions["BuildConfig"]
    fields = sorted(form["properties"].items(), key=lambda field: field[1]["position"])
    assert [name for name, _ in fields] == [*USUAL, "settings"]
    assert len(fields) == 16
    assert all(field["description"] and "default" not in field for _, field in fields)
    assert form["properties"]["training.steps"]["type"] == "integer"
    assert form["properties"]["source.kind"]["enum"][0] == "miniweb"


def test_every_parameter_of_a_deployment_is_described(written: dict[str, Any]) -> None:
    for deployment in written["deployments"]:
        module, _, name = deployment["entrypoint"].rpartition(".")
        schema = parameter_schema(getattr(importlib.import_module(module), name))
        for parameter, field in schema.properties.items():
            shown = schema.definitions[field["$ref"].rpartition("/")[2]] if "$ref" in field else field
            assert shown.get("description"), f"{name}: {parameter}"


@pytest.mark.parametrize(
    "given",
    [
        {"preset": "records", "training": {"steps": 7}, "decoding": {"beam": 2}},  # as before there was a form
        {"preset": "records", "training.steps": 7, "settings": {"decoding.beam": 2}},
        {"preset": "records", "settings": {"training": {"steps": 7}, "decoding.beam": 2}},
    ],
)
def test_the_server_takes_settings_in_sections_and_by_full_names(given: dict[str, Any]) -> None:
    validate({"config": given}, parameter_schema(build_wikisum).model_dump())
    config = build_wikisum.validate_parameters({"config": given})["config"]
    assert (config.preset, config.training.steps, config.decoding.beam) == ("records", 7, 2)


@pytest.mark.parametrize("kind", ["process", "docker", "kubernetes"])
def test_job_variables_are_those_the_kind_of_pool_knows(written: dict[str, Any], kind: str) -> None:
    pool = written["definitions"]["pools"][kind]
    assert pool.keys() == {"name", "work_queue_name", "job_variables"}
    collections = Path(api.__file__).with_name("collections_data") / "views" / "aggregate-worker-metadata.json"
    workers = [worker for known in json.loads(collections.read_text()).values() for worker in known.values()]
    (template,) = [one["default_base_job_configuration"] for one in workers if one["type"] == kind]
    assert pool["job_variables"].keys() <= template["variables"]["properties"].keys()
    assert written["definitions"]["work_pool"] == written["definitions"]["pools"]["process"]


@pytest.mark.parametrize(
    ("given", "index"), [({}, ""), ({"TORCH_INDEX": "file:///wheels"}, "--index-url file:///wheels ")]
)
def test_the_image_asks_the_index_that_pip_is_configured_for(tmp_path: Path, given: dict[str, str], index: str) -> None:
    """The step that installs the packages, with a pip that only says what it is asked for."""
    written = (PROJECT / "Dockerfile").read_text()
    assert "://" not in written, "a host that pip is not configured for"
    (step,) = [part for part in written.replace("\\\n", "").split("\n") if "TORCH_INDEX:+" in part]
    (tmp_path / "pip").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "pip").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **given}
    said = subprocess.run(
        ["sh", "-c", step.removeprefix("RUN ")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    hashed = "install --no-deps --require-hashes -r requirements.lock"
    assert said.splitlines() == [hashed, f"install {index}-r requirements-torch.lock"]


def test_every_locked_package_but_torch_has_hashes() -> None:
    names = set[str]()
    for file in ("requirements.lock", "requirements-dev.lock"):
        text = (PROJECT / file).read_text().replace("\\\n", "")
        pins = [line.split() for line in text.splitlines() if not line.startswith(("#", "-r "))]
        assert all(re.fullmatch(r"[\w.-]+==\S+", pin) and hashes for pin, *hashes in pins)
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for _, *hashes in pins for one in hashes)
        names |= {pin.partition("==")[0] for pin, *_ in pins}
    assert {"numpy", "prefect", "pytest", "ruff"} <= names and "torch" not in names
