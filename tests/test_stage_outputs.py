"""A change of what a stage makes is noticed, and laid to the stage that made it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stage_outputs import Output, differences, make_outputs, overlooked, read_table, record

PROJECT = Path(__file__).parents[1]
NAMED = re.compile(r'"(tasks[\w.]+):(\w+)"')
# Stages that only other settings, sources or flows have; the tests of their modules compare what they make.
NOT_MADE = {
    "adopt_vocabulary",
    "find_kept_out",
    "index_files",
    "index_archive",
    "look_up_in_file",
    "look_up_shard",
    "measure_efficiency",
    "new_articles",
    "new_paragraphs",
    "paragraphs_of",
    "predict_with_extractor",
    "read_given_documents",
    "rename_system",
    "seek",
    "train_extractor",
    "write_summaries",
    "write_tables",
}

LABELS = Output(2, ["paragraphs.clean"], 3, "ZSTD in 1 row groups", {"text": "aa", "label": "bb"}, {"label": 0.25})
CLEANED = Output(5, [], 3, "ZSTD in 1 row groups", {"text": "aa"}, {})
TABLE = {"features.label": LABELS, "paragraphs.clean": CLEANED}


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Output]:
    return make_outputs(tmp_path_factory.mktemp("outputs"))


@pytest.mark.integration
def test_every_stage_makes_what_is_recorded_under_its_version(now: Mapping[str, Output]) -> None:
    table = read_table()
    raised = "raise its version (storage/schemas.toml, or its Recipe), or undo the change"
    assert overlooked(now, table) == {}, f"the output of these stages has changed: {raised}"
    assert differences(now, table) == {}, "the record is not up to date: python -m tests.stage_outputs"


@pytest.mark.integration
def test_the_tiny_corpus_has_every_stage_but_those_named(now: Mapping[str, Output]) -> None:
    made = {name.rpartition(".")[2] for name in now}
    assert made.isdisjoint(NOT_MADE)
    assert made | NOT_MADE == {function for _, function in named_functions()}


def test_every_function_that_the_flows_name_exists() -> None:
    for module, function in named_functions():
        assert f"\ndef {function}(" in (PROJECT / f"{module.replace('.', '/')}.py").read_text(), f"{module}:{function}"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"rows": 4}, ["rows"]),
        ({"layout": "GZIP in 1 row groups"}, ["layout"]),
        ({"columns": {"text": "ab", "label": "bb"}}, ["text"]),
        ({"columns": {"text": "aa"}}, ["label"]),
        ({"means": {"label": 0.2503}}, ["label"]),
        ({"means": {}}, ["label"]),
    ],
)
def test_another_output_of_the_same_inputs_is_overlooked_until_the_version_rises(
    change: dict[str, object], parts: list[str]
) -> None:
    now = {**TABLE, "features.label": replace(LABELS, **change)}
    assert overlooked(now, TABLE) == {"features.label": parts}
    raised = {**TABLE, "features.label": replace(LABELS, version=3, **change)}
    assert overlooked(raised, TABLE) == {}
    assert differences(raised, TABLE) == {"features.label": sorted({*parts, "version"})}


def test_rounding_that_differs_between_processors_changes_nothing() -> None:
    assert differences({**TABLE, "features.label": replace(LABELS, means={"label": 0.25002})}, TABLE) == {}


def test_a_change_is_laid_to_the_first_stage_that_changed() -> None:
    now = {
        "features.label": replace(LABELS, columns={"text": "cc", "label": "bb"}),
        "paragraphs.clean": replace(CLEANED, columns={"text": "cc"}),
    }
    assert overlooked(now, TABLE) == {"paragraphs.clean": ["text"]}
    assert differences(now, TABLE) == {"features.label": ["text"], "paragraphs.clean": ["text"]}


def test_stages_that_come_and_go_are_named() -> None:
    now = {"features.score": LABELS, "paragraphs.clean": CLEANED}
    assert differences(now, TABLE) == {"features.label": ["is gone"], "features.score": ["is new"]}
    assert overlooked(now, TABLE) == {}


def test_nothing_is_recorded_while_a_stage_is_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    assert record(TABLE, path=path) == {}
    more = replace(LABELS, rows=4)
    assert record({**TABLE, "features.label": more}, path=path) == {"features.label": ["rows"]}
    assert read_table(path) == TABLE
    now = {"features.label": more, "paragraphs.clean": replace(CLEANED, version=6, rows=9)}
    assert record(now, path=path) == {}  # the features follow from the paragraphs
    assert read_table(path) == now
    only_features = {**now, "features.label": LABELS}
    assert record(only_features, path=path) == {"features.label": ["rows"]}
    assert record(only_features, anew=True, path=path) == {}
    assert read_table(path) == only_features


def named_functions() -> list[tuple[str, str]]:
    named = [name for path in (PROJECT / "flows").rglob("*.py") for name in NAMED.findall(path.read_text())]
    assert len(named) > 20
    return named
