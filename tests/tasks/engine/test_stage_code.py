"""Changed code of a stage is seen, and what is not code is not."""

import re
from pathlib import Path

import pytest

from storage.schemas import DATASETS
from tasks.engine.stage_code import PROJECT, StageCode, code_digest, overlooked, read_table, record, stage_codes

MODULE = '''"""What it is."""
from tasks.helper import half

LIMIT = 3


def labels(rows: list[float]) -> list[float]:
    """Halve them."""
    return [half(row) for row in rows[:LIMIT]]  # of the first
'''
NAMED = re.compile(r'"(tasks[\w.]+):(\w+)"')
HELPER = "def half(row: float) -> float:\n    return row / 2\n"


def test_every_stage_is_recorded_under_its_version_and_code() -> None:
    now, table = stage_codes(), read_table()
    said = "bump its version, or record that the output is the same: python -m tasks.engine.stage_code --same STAGE"
    assert overlooked(now, table) == [], f"the code of these stages has changed: {said}"
    assert now == table, "the table is not up to date: python -m tasks.engine.stage_code"


def test_every_dataset_and_directory_is_found() -> None:
    now = stage_codes()
    assert {name.partition(".")[0] for name in now} == {*DATASETS, "directory"}
    assert {"features.compute_features", "captures.index_shard", "captures.look_up_shard"} <= now.keys()
    assert {"directory.train_ranker", "directory.train_summarizer", "directory.train_attention"} <= now.keys()


def test_every_function_that_the_flows_name_exists() -> None:
    named = [name for path in (PROJECT / "flows").rglob("*.py") for name in NAMED.findall(path.read_text())]
    assert len(named) > 20
    for module, function in named:
        assert f"\ndef {function}(" in (PROJECT / f"{module.replace('.', '/')}.py").read_text(), f"{module}:{function}"


def digest(root: Path, module: str = MODULE, helper: str = HELPER, folder: str = "tasks") -> str:
    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    dotted = folder.replace("/", ".")
    (place / "features.py").write_text(module.replace("tasks.helper", f"{dotted}.helper"))
    (place / "helper.py").write_text(helper)
    return code_digest(root, f"{dotted}.features")


@pytest.mark.parametrize(
    ("module", "helper", "same"),
    [
        (MODULE.replace("What it is", "In other words"), HELPER, True),
        (MODULE.replace("Halve them", "Cut them"), HELPER, True),
        (MODULE.replace("# of the first", "# not all"), HELPER, True),
        (MODULE.replace("[half(row) for", "[\n        half(row)\n        for"), HELPER, True),
        (MODULE.replace("LIMIT = 3", "LIMIT = 4"), HELPER, False),
        (MODULE.replace("half(row) for", "0.0 for"), HELPER, False),
        (MODULE, HELPER.replace("/ 2", "/ 3"), False),
        (MODULE, HELPER.replace("row / 2", "2 / row"), False),
    ],
)  # fmt: skip
def test_code_counts_and_words_do_not(tmp_path: Path, module: str, helper: str, same: bool) -> None:
    assert (digest(tmp_path / "after", module, helper) == digest(tmp_path / "before")) is same


def test_descriptions_of_settings_are_words(tmp_path: Path) -> None:
    settings = MODULE + "a = Field(3, ge=1, description='before')\nb = tuning(1, 'before', ge=0)\n"
    before = digest(tmp_path / "a", settings)
    assert digest(tmp_path / "b", settings.replace("before", "after")) == before
    assert digest(tmp_path / "c", settings.replace("ge=0", "ge=1")) != before
    assert digest(tmp_path / "d", settings.replace("Field(3", "Field(4")) != before


def test_a_module_may_move(tmp_path: Path) -> None:
    assert digest(tmp_path / "before") == digest(tmp_path / "after", folder="tasks/corpus")


def test_recording_asks_for_a_version_or_a_word(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    before = {"features.f": StageCode(1, "a"), "pages.f": StageCode(1, "a")}
    assert record(before, [], table) == []
    assert read_table(table) == before
    changed = {"features.f": StageCode(1, "b"), "pages.f": StageCode(2, "b"), "scores.f": StageCode(1, "b")}
    assert overlooked(changed, before) == ["features.f"]
    assert record(changed, [], table) == ["features.f"]
    assert read_table(table) == {**changed, "features.f": StageCode(1, "a")}, "what is overlooked stays so"
    with pytest.raises(ValueError, match=r"no stage 'feature': expected all, or some of features\.f, pages\.f"):
        record(changed, ["feature"], table)
    assert record(changed, ["features.f"], table) == []
    assert read_table(table) == changed
