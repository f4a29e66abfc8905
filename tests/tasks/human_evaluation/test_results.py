"""From a build to a report: the sample of real files, the folder of a study, and its scores."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storage.builds import Build
from storage.schemas import ARTICLES, DATASETS, PREDICTIONS, RANKED, Dataset
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.human_evaluation.preparing import prepare_study
from tasks.human_evaluation.results import read_folder, score_study
from tasks.human_evaluation.sampling import Summaries
from tasks.human_evaluation.settings import StudySettings
from tasks.human_evaluation.study import read_study
from tests.tasks.human_evaluation.studies import chooser, filled, pupil

QUALITY = {"ht": 3.0, "lead": 2.0, "concepts": 1.0, "gold": 4.0}


def made(*, name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, DATASETS[name].schema)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Build]:
    """Ten test articles with two baselines, a trained system on all but one of them, and a lead without values."""
    run = Run(Store(str(tmp_path_factory.mktemp("root"))), Executor())
    ids = [f"a{number}" for number in range(10)]
    articles = [
        {
            "article_id": id_,
            "title": f"Place {id_}",
            "lead": f"It lies in\nMarrow. It has {n + 20} mills.",
            "split": "test",
        }
        for n, id_ in enumerate(ids)
    ]
    articles[9]["lead"] = "It is small."

    def prediction(id_: str, system: str) -> dict[str, Any]:
        return {
            "article_id": id_,
            "system": system,
            "summary": f"What {system} says of {id_}.",
            "tokens": [],
            "attention": [],
        }

    def stage(name: str, dataset: Dataset, rows: list[dict[str, Any]]) -> None:
        recipe = Recipe(dataset, made, arguments={"name": dataset.name, "rows": rows})
        run.stage(recipe, shards=1, inputs={}, name=name)

    stage("articles", ARTICLES, articles)
    stage("ranked", RANKED, [{"article_id": id_, "rank": 0, "text": f"Source of {id_}"} for id_ in ids])
    stage(
        "baselines",
        PREDICTIONS,
        [prediction(id_, system) for id_ in ids for system in ("lead", "greedy-rouge2", "concepts")],
    )
    stage("predictions", PREDICTIONS, [prediction(id_, "ht") for id_ in ids[1:]])
    return run.store, run.record_build({"preset": "miniweb"})


def settings(**given: Any) -> StudySettings:
    return StudySettings(**{"articles": 4, "raters": 3, **given})


def test_trained_systems_and_the_usual_baselines_are_compared(built: tuple[Store, Build]) -> None:
    summaries = Summaries(*built)
    assert list(summaries.systems) == ["lead", "greedy-rouge2", "concepts", "ht"]
    assert summaries.chosen(()) == ("lead", "concepts", "ht")
    assert summaries.common(("ht", "lead")) == [f"a{number}" for number in range(1, 10)]
    (article,) = summaries.read(["a3"], ("ht", "gold"), sources=True).values()
    assert (article.title, article.lead) == ("Place a3", "It lies in Marrow. It has 23 mills.")
    assert article.texts == {"ht": "What ht says of a3.", "gold": article.lead}
    assert article.sources == ["Source of a3"]


def test_best_worst_from_build_to_report(built: tuple[Store, Build], tmp_path: Path) -> None:
    text = prepare_study(*built, "tiny", settings(), tmp_path / "s")
    assert "best-worst, 3 systems (lead, concepts, ht), 4 articles, 3 raters" in text
    before = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    prepare_study(*built, "tiny", settings(), tmp_path / "s")
    assert {path: path.read_bytes() for path in before} == before, "the same study again gives the same files"
    of = read_study((tmp_path / "s/key.json").read_text(), "key")
    for number in of.forms:
        assert not any(
            f'"{system}"' in (tmp_path / f"s/forms/rater-{number:02}.html").read_text() for system in of.systems
        )
    files = []
    for number in (1, 3):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(filled(of, number, chooser(QUALITY, 0, number)))

    text, report = score_study(tmp_path / "s", *read_folder(tmp_path / "s", files))

    assert "rating: ht is best with 1.000, significantly above" not in text, "4 articles prove nothing"
    assert "Krippendorff's alpha 1.00" in text
    assert "no answers yet of raters 2" in text
    assert "Liu & Lapata 2019, Table 4" in text
    page = (tmp_path / "s/report.html").read_text()
    assert "ht - concepts" in page
    assert report.startswith("## Human evaluation")
    judged = (tmp_path / "s/judgements.csv").read_text().splitlines()
    assert len(judged) == 1 + 2 * 4 * 3


def test_questions_are_edited_before_the_forms_and_marks_after(built: tuple[Store, Build], tmp_path: Path) -> None:
    chosen = settings(task="qa", systems=("ht", "lead", "gold"), articles=8)
    first = prepare_study(*built, "tiny", chosen, tmp_path)
    assert first.startswith("16 questions on 8 articles are drafted in ")
    assert not (tmp_path / "forms").exists()
    table = (tmp_path / "questions.csv").read_text()
    (tmp_path / "questions.csv").write_text(table.replace("Fill the gap: It lies in ____.", "Where is it?"))
    prepare_study(*built, "tiny", chosen, tmp_path)
    form = (tmp_path / "forms/rater-02.html").read_text()
    assert "Where is it?" in form
    assert "It lies in Marrow" in form, "gold is one of the texts"

    of = read_study((tmp_path / "key.json").read_text(), "key")
    files = []
    for number in of.forms:
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(filled(of, number, pupil({"ht": 1, "lead": 0, "gold": 1}, 1)))
    given = read_folder(tmp_path, files)
    text, _ = score_study(tmp_path, *given)
    assert "The marks of 16 of 16 different answers are drafts" in text
    assert "QA: gold, ht are alike and best with 100.00" in text

    marks = (tmp_path / "marks.csv").read_text().replace("Marrow,Marrow,1,", "Marrow,Marrow,0,me")
    (tmp_path / "marks.csv").write_text(marks)
    text, _ = score_study(tmp_path, *given)
    assert "The marks of 8 of 16 different answers are drafts" in text
    assert "QA: gold, ht are alike and best with 50.00" in text
    assert (tmp_path / "marks.csv").read_text() == marks, "what people wrote is left alone"


def test_another_study_does_not_replace_one(built: tuple[Store, Build], tmp_path: Path) -> None:
    prepare_study(*built, "tiny", settings(), tmp_path)
    before = (tmp_path / "key.json").read_text()
    with pytest.raises(ValueError, match=r"holds another study, whose answers would be lost"):
        prepare_study(*built, "tiny", settings(seed=2), tmp_path)
    assert (tmp_path / "key.json").read_text() == before


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"systems": ("ht", "pht")}, "systems has 'pht': expected some of lead, greedy-rouge2, concepts, ht, gold"),
        ({"systems": ("ht",)}, "systems is ht: expected at least two of lead"),
        ({"articles": 11}, "articles is 11: expected at most 9, the test articles that can be asked about"),
        ({"articles": 9, "task": "qa"}, "articles is 9: expected at most 8, the test articles whose lead has values"),
        ({"systems": ("ht", "lead")}, "texts is 3: expected at most 2, the systems ht, lead"),
    ],
)
def test_what_a_build_does_not_have(
    built: tuple[Store, Build], tmp_path: Path, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{problem}"):
        prepare_study(*built, "tiny", settings(**given), tmp_path / "s")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"task": "qa", "texts": 2}, "texts is 2: expected 1 in qa"),
        ({"texts": 1}, "texts is 1: expected at least 2 in best-worst"),
        ({"systems": ("a", "b", "a")}, "systems are a, b, a: expected each once"),
    ],
)
def test_settings_that_contradict_each_other(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        settings(**given)


def test_a_build_without_summaries(built: tuple[Store, Build]) -> None:
    store, build = built
    corpus = Build(**{**build.__dict__, "stages": {"articles": build.stages["articles"]}})
    with pytest.raises(ValueError, match=r"has no summaries, only articles: expected one of `wikisum build`"):
        Summaries(store, corpus)


def test_a_folder_without_a_study_or_with_an_edited_key(built: tuple[Store, Build], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no key\.json: expected the folder of a study"):
        read_folder(tmp_path, [])
    prepare_study(*built, "tiny", settings(), tmp_path)
    with pytest.raises(ValueError, match=r"no such file; expected the answers of a rater"):
        read_folder(tmp_path, [tmp_path / "absent.json"])
    key = json.loads((tmp_path / "key.json").read_text())
    key["forms"]["1"][0][1].reverse()
    (tmp_path / "key.json").write_text(json.dumps(key))
    with pytest.raises(ValueError, match=r"key\.json was changed: its content has the id "):
        read_folder(tmp_path, [])
    (tmp_path / "key.json").write_text("{}")
    with pytest.raises(ValueError, match=r"key\.json is not the key of a study: 'settings'"):
        read_folder(tmp_path, [])
