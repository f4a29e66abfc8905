"""The wiring of imported examples: what is walked for training and evaluation, and what is not."""

from pathlib import Path
from typing import Any

import pytest
import torch

from flows import dag
from flows.config import BuildConfig
from flows.reproduce_tables import chosen
from flows.running.session import Session
from models.vocabulary import Vocabulary
from storage.formats.ranked_wikisum import write_item
from storage.schemas import PARAGRAPHS
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tasks.exchange.ranked_wikisum.exporting import items_bytes, items_of
from tasks.exchange.ranked_wikisum.importing import import_examples, marks_of, paragraphs_of
from tests.flows.recording import keys, walked
from tests.tasks.summarization import summarizer_examples as ours

TITLE, BEGIN, END = 3, 4, 5


@pytest.fixture(scope="module")
def words() -> Vocabulary:
    return ours.released_vocabulary()


@pytest.fixture
def folder(tmp_path: Path, words: Vocabulary) -> Path:
    place = tmp_path / "ranked"
    place.mkdir()
    (place / "spm.model").write_bytes(words.model)
    item = {
        "src": [[*words.encode("aral"), TITLE, *words.encode("the river rises")], words.encode("it flows")],
        "tgt": [BEGIN, *words.encode("the river ."), END],
        "tgt_str": "<t> the river . </t>",
    }
    for name in ("train.0", "train.1", "valid.0", "test.0"):
        torch.save([item], place / f"WIKI.{name}.pt")
    return place


def config(folder: Path, **given: Any) -> BuildConfig:
    imported = {"folder": str(folder), "vocabulary": str(folder / "spm.model"), **given.pop("imported", {})}
    return BuildConfig.model_validate({"imported": imported, "summarizer": {"graph": "none"}, **given})


def test_training_reads_the_shards_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    _, jobs = walked(config(folder), dag.summarizer, tmp_path / "root")
    stages = [job.stage for job in jobs]
    assert set(stages) == {"vocabulary", "examples", "articles", "models/summarizer"}
    assert stages.count("examples") == 4  # a file each


def test_evaluation_decodes_texts_and_neither_crawls_nor_trains_a_ranker(folder: Path, tmp_path: Path) -> None:
    session, jobs = walked(config(folder), dag.report, tmp_path / "root")
    assert {job.stage for job in jobs} == {
        "vocabulary",
        "examples",
        "articles",
        "paragraphs",
        "features",
        "ranked",
        "ranking_scores",
        "graphs",
        "models/summarizer",
        "predictions",
        "scores",
        "reports",
    }
    assert {len(result.shards) for name, result in session.run.stages.items() if name != "vocabulary"} == {4}
    # Their order is nobody's ranking.
    assert {job.recipe.arguments.get("method") for job in jobs if job.stage == "ranking_scores"} == {"found"}


@pytest.mark.integration
def test_examples_are_exported_imported_trained_on_decoded_scored_and_reported(tmp_path: Path) -> None:
    """Everything but Prefect is real."""
    folder = tmp_path / "ranked"
    folder.mkdir()
    (folder / "spm.model").write_bytes(ours.vocabulary().model)
    words = ours.vocabulary()
    for split in ("train", "valid", "test"):
        parts = items_of(ours.examples(split), None, words)
        items = [write_item(item, marks_of(words), location=split) for _, item in parts]
        (folder / f"WIKI.{split}.0.pt").write_bytes(items_bytes(items, "pt"))
    given = config(
        folder,
        summarizer=ours.TINY.model_dump() | {"graph": "none"},
        training=ours.FEW.model_dump() | {"steps": 5},
        decoding={"beam": 2, "min_length": 2, "max_length": 12},
    )
    executor = Executor()
    session = Session(given, executor, Run(Store(str(tmp_path / "root")), executor))  # type: ignore[arg-type]
    made = dag.report(session).record
    assert made is not None
    assert made.metrics["test_articles"] == 4
    assert set(made.metrics["headline_scores"]) == {"ht", *given.baselines.systems}
    assert made.metrics["headline_scores"]["greedy-rouge2"] > 50  # the lead is among the paragraphs
    model = session.run.directories["models/summarizer"].record
    assert model is not None
    assert model.metrics["steps"] == 5
    again = Session(given, executor, Run(Store(str(tmp_path / "root")), executor))  # type: ignore[arg-type]
    assert dag.report(again).record == made
    assert all(plan.done == plan.shards for plan in again.run.plans)


def test_a_changed_file_is_another_shard_and_the_others_stay(folder: Path, tmp_path: Path) -> None:
    _, before = walked(config(folder), dag.summarizer, tmp_path / "root")
    data = (folder / "WIKI.train.0.pt").read_bytes()
    (folder / "WIKI.train.0.pt").write_bytes((folder / "WIKI.valid.0.pt").read_bytes() + b" ")
    _, after = walked(config(folder), dag.summarizer, tmp_path / "root")
    changed = {name.rpartition(".")[0] for name in keys(after) - keys(before)}
    assert changed == {"examples-00002", "articles-00002", "models/summarizer"}
    (folder / "WIKI.train.0.pt").write_bytes(data)
    _, again = walked(config(folder), dag.summarizer, tmp_path / "root")
    assert keys(again) == keys(before)


def test_graphs_that_came_are_read_and_others_need_texts(folder: Path, tmp_path: Path) -> None:
    graph = {"summarizer": {"graph": "similarity"}}
    with pytest.raises(ValueError, match=r"have no graphs: expected imported.texts to be 'all'"):
        walked(config(folder, **graph), dag.summarizer, tmp_path / "root")
    _, drawn = walked(config(folder, imported={"texts": "all"}, **graph), dag.summarizer, tmp_path / "root")
    assert {"paragraphs", "ranked", "graphs"} <= {job.stage for job in drawn}
    for path in folder.glob("*.pt"):
        path.unlink()
    (folder / "WIKI.train.0.json").write_bytes(items_bytes([], "json"))
    _, came = walked(config(folder, **graph), dag.summarizer, tmp_path / "root")
    assert {job.stage for job in came} == {"vocabulary", "examples", "articles", "graphs", "models/summarizer"}


def test_the_tables_tell_which_systems_need_what_was_not_imported(folder: Path, tmp_path: Path) -> None:
    asked = ["ft-600", "ft-600-unranked", "ht-similarity", "pht", "pht-extprob"]
    given = {"tables": {"tables": ["000-2", "002-2"], "systems": asked}}
    session, _ = walked(config(folder, **given), chosen, tmp_path / "root")
    run, reasons = session.once(chosen)
    assert run == ["lead", "lexrank", "ft-600", "pht"]
    assert {name: reasons[name] for name in asked if name not in run} == {
        "ft-600-unranked": "imported paragraphs are already ranked",
        "ht-similarity": "the imported shards have no graphs, and no texts of the training split to compute them",
        "pht-extprob": "no ranker scored the paragraphs",
    }
    session, _ = walked(config(folder, imported={"texts": "all"}, **given), chosen, tmp_path / "root")
    assert "ht-similarity" in session.once(chosen)[0]


def test_paragraphs_are_decoded_of_the_articles_asked_for(folder: Path, words: Vocabulary) -> None:
    read = {"folder": str(folder)}
    file = {"name": "WIKI", "number": 0, "layout": "pt"}
    train = import_examples(words, file={**file, "split": "train"}, **read)
    test = import_examples(words, file={**file, "split": "test"}, **read)
    found = paragraphs_of(test, words, "evaluated")
    assert found.schema == PARAGRAPHS.schema
    assert found.select(["paragraph_id", "position", "text", "drop_reason"]).to_pylist() == [
        {"paragraph_id": 0, "position": 0, "text": "the river rises", "drop_reason": None},
        {"paragraph_id": 1, "position": 1, "text": "it flows", "drop_reason": None},
    ]
    assert paragraphs_of(train, words, "evaluated").num_rows == 0
    assert paragraphs_of(train, words, "all").num_rows == 2
