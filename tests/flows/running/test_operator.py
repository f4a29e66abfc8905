"""The deployments are those of prefect.yaml with what one file of the operator says; what it replaces is said."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.running.operator import Operator, deployments_of, overwritten, read_operator
from flows.running.prefect_setup import DEPLOYMENTS

FILE = """
root: s3://bucket/wikisum
config: {preset: records, source.records.paths: [articles.jsonl]}
schedules:
  retrain: {cron: "30 4 * * 2", timezone: Europe/London}
  verify: false
  build-corpus: {cron: "0 1 * * *"}
parameters:
  prune: {keep: 5}
"""


def deployed(operator: Operator) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in yaml.safe_load(deployments_of(operator))["deployments"]}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "serve.yaml").write_text(FILE)
    return tmp_path / "serve.yaml"


def test_without_a_file_they_are_those_of_prefect_yaml_with_a_root(tmp_path: Path) -> None:
    usual = yaml.safe_load(DEPLOYMENTS.read_text())
    changed = deployed(read_operator(None, str(tmp_path)))
    for one in usual["deployments"]:
        for parameters in (one["parameters"], one["parameters"].get("config", {})):
            if "root" in parameters:
                parameters["root"] = str(tmp_path)
        assert changed[one["name"]] == one


def test_a_file_sets_root_settings_schedules_and_parameters(file: Path) -> None:
    changed = deployed(read_operator(str(file), None))
    settings = {"preset": "records", "source.records.paths": ["articles.jsonl"], "root": "s3://bucket/wikisum"}
    for name in ("build-wikisum", "retrain", "evaluate"):
        assert changed[name]["parameters"] == {"config": settings}
    weekly = {"slug": "weekly", "active": True}
    assert changed["retrain"]["schedules"] == [{**weekly, "cron": "30 4 * * 2", "timezone": "Europe/London"}]
    assert changed["build-corpus"]["schedules"] == [{**weekly, "cron": "0 1 * * *", "timezone": "Etc/UTC"}]
    assert [one["active"] for one in changed["verify"]["schedules"]] == [False]
    assert changed["prune"]["parameters"] == {"root": "s3://bucket/wikisum", "keep": 5}
    assert "schedules" not in changed["evaluate"]
    assert changed["pretrain"]["parameters"]["config"]["summarizer"] == {"preset": "bart-small", "copying": False}


def test_the_command_line_has_the_last_word_on_the_root_and_a_folder_is_named_from_everywhere(file: Path) -> None:
    operator = read_operator(str(file), "mine")
    assert operator.place == str(file.parent / "mine")
    assert deployed(operator)["retrain"]["parameters"]["config"]["root"] == str(file.parent / "mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rot: data", "rot: no such setting; docs/upgrading.md lists those that became constants"),
        ("config: {presett: miniweb}", "presett"),
        ("config: {training.steps: many}", "training.steps"),
        ("schedules: {retrain: {cron: weekly at noon}}", "weekly at noon"),
        ("schedules: {retrain: {cron: 0 3 * * 1, timezone: Mars/Olympus}}", "Mars/Olympus"),
        ("schedules: {retrian: {cron: 0 3 * * 1}}", "there is no deployment 'retrian', expected one of backup, build-"),
        ("parameters: {x: {keep: 3}}", "there is no deployment 'x'"),
        ("- root", "expected names of settings and their values"),
    ],
)
def test_a_mistake_is_named_before_a_server_starts(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(ValueError, match=r"serve\.yaml") as refused:
        read_operator(str(file), None)
    assert said in str(refused.value)


def test_what_people_changed_on_the_server_is_said() -> None:
    before = {"retrain": {"config.preset": "records", "schedule weekly": "30 4 * * 2 Etc/UTC on", "note": 1}, "new": {}}
    after = {"retrain": {"config.preset": "miniweb", "schedule weekly": "30 4 * * 2 Etc/UTC on", "more": 2}}
    assert overwritten(before, after) == [
        "overwritten    retrain: config.preset 'records' on the server becomes 'miniweb'",
        "overwritten    retrain: note 1 on the server becomes nothing",
    ]
    assert overwritten({}, after) == []
