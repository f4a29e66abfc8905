"""Two builds of one root, made through the store, and what differs between them."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import tests.tasks.reporting.reporting_tables as made
from flows.running.commands import compare
from storage.builds import Build
from storage.errors import StorageError
from storage.schemas import ARTICLES, PREDICTIONS, SCORES
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.reporting.blocks import Table, Text
from tasks.reporting.side_by_side import compared_builds

pytestmark = pytest.mark.integration
ARTICLES_OF = {"a": "Lead one.", "b": "Lead two."}


def built(root: Path, label: str, scores: dict[str, float], texts: dict[str, str], steps: int) -> Build:
    """A build whose one system has a score and a summary of each article."""
    walk = Run(Store(str(root)), Executor())
    written = [made.prediction(id_, "ht", text) for id_, text in texts.items()]
    for dataset, table in (
        (ARTICLES, made.articles(**ARTICLES_OF)),
        (PREDICTIONS, made.predictions(*written)),
        (SCORES, made.scores(ht=scores)),
    ):
        recipe = Recipe(dataset, lambda label, table=table: table, arguments={"label": label})
        walk.stage(recipe, shards=1, inputs={})

    def train(*, directory: Path) -> dict[str, Any]:
        lines = [{"kind": "validation", "step": step, "nll": 2.0} for step in range(1, steps)]
        (directory / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return {"published": ["metrics.jsonl"]}

    walk.directory(Recipe("models/summarizer", train, version=steps), inputs={})
    return walk.record_build({"seed": 1, "training": {"steps": steps}}, label=label)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("builds")
    built(folder, "aaaaaa", {"a": 0.5, "b": 0.25}, {"a": "Same.", "b": "Old words."}, 5)
    built(folder, "bbbbbb", {"a": 0.5, "b": 0.75}, {"a": "Same.", "b": "New words."}, 9)
    return folder


def names(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / "builds").glob("2*.json"))


def test_settings_scores_curves_and_summaries_stand_beside_each_other(root: Path) -> None:
    builds, scores, training, changed = compared_builds(Store(str(root)), names(root))
    (settings,) = [block for block in builds.blocks if isinstance(block, Table)]
    assert [[cell.text for cell in row] for row in settings.rows] == [["training.steps", "5", "9"]]
    (first, *_) = scores.blocks
    assert isinstance(first, Text)
    assert first.text.startswith("B ht is 25.00 points of values F1 above A ht (95 % interval 0.00 to 50.00): not sig")
    assert [block.kind for block in training.blocks] == ["picture"]
    said = [getattr(block, "text", "") for block in changed.blocks]
    assert said == [
        "1 of 2 summaries of common test articles changed.",
        "B",
        "A ht",
        "Old words.",
        "B ht",
        "New words.",
    ]


def test_the_page_is_written_and_the_tables_are_printed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(names(root), root=str(root), to=root / "compared.html")
    tree = html.document_fromstring((root / "compared.html").read_text())
    assert [one.get("id") for one in tree.xpath("//section")] == ["settings", "scores", "training", "samples"]
    assert "training.steps  5  9" in capsys.readouterr().out


def test_builds_that_cannot_be_compared_are_named(root: Path) -> None:
    one = names(root)[0]
    for wrong in ([one], [one, one]):
        with pytest.raises(ValueError, match="expected 2 to 6 different names"):
            compared_builds(Store(str(root)), wrong)
    with pytest.raises(StorageError, match="no build 'absent'"):
        compared_builds(Store(str(root)), [one, "absent"])
