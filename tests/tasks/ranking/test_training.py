"""Ranker training: it learns, it resumes exactly, it says what is wrong; validation by hand."""

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from models.training.batches import Position
from models.training.checkpoints import Checkpoints, read_metrics
from models.training.state import TrainingError, TrainingProgress, TrainingStopped
from models.training.stopping import stop_trainings
from models.vocabulary import Vocabulary
from tasks.ranking.batches import BatchRules, training_batches
from tasks.ranking.ranking import load_ranker, rank_paragraphs, score_paragraphs
from tasks.ranking.settings import RankerSettings, RankingSettings
from tasks.ranking.training import _cross_entropy, collect_validation, judge, train_ranker
from tests.tasks.ranking.ranker_world import InMemory, articles, features, paragraphs, vocabulary, world
from tests.tasks.summarization.summarizer_examples import vocabulary as other_vocabulary

pytestmark = pytest.mark.integration

SMALL = RankerSettings(hidden=16, batch_paragraphs=16, validation_interval=20)
FEW = {"epochs": 4, "per_article": 8}
RULES = BatchRules(seed=1, epochs=2, size=16, per_article=8, title_tokens=8, paragraph_tokens=20)


class KilledError(Exception):
    """Stands for the end of the process."""


def train(directory: Path, settings: RankerSettings = SMALL, shards: InMemory | None = None, **more: object) -> dict:
    return train_ranker(shards or world(), vocabulary(), settings, directory=directory, **{"seed": 1, **FEW, **more})


def validations(directory: Path) -> list[dict]:
    return [line for line in read_metrics(directory / "metrics.jsonl") if line["kind"] == "validation"]


def test_learns_to_prefer_facts_and_beats_tfidf(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    metrics = train(tmp_path, progress=reports.append)
    # tf-idf falls for the name of the title; paragraphs of facts never have it.
    assert metrics["validation_similarity_recall"] < 0.1 * metrics["validation_gold_recall"]
    assert metrics["validation_recall"] > 0.8 * metrics["validation_gold_recall"]
    assert metrics["validation_loss_floor"] < metrics["validation_loss"] < metrics["validation_loss_floor"] + 0.02
    assert (metrics["validation_split"], metrics["validation_articles"]) == ("valid", 6)
    lines = validations(tmp_path)
    assert [line["step"] for line in lines] == [*range(20, metrics["steps"], 20), metrics["steps"]]
    assert min(line["loss"] for line in lines) == metrics["validation_loss"]
    shares = [report.share for report in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert "gold recall" in str(reports[-1])


def test_the_directory_is_all_that_ranking_needs(tmp_path: Path) -> None:
    metrics = train(tmp_path / "here")
    moved = tmp_path / "there"
    moved.mkdir()
    for name in metrics["published"]:
        (tmp_path / "here" / name).rename(moved / name)
    ranked = rank_paragraphs(*world().read(2), moved, RankingSettings(keep=3))
    facts = ["flows past", "basin is wide", "named by early"]
    assert np.mean([any(fact in text for fact in facts) for text in ranked["text"].to_pylist()]) > 0.9
    loaded = load_ranker(moved, torch.device("cpu"))
    assert loaded.vocabulary == vocabulary()
    assert (loaded.title_tokens, loaded.paragraph_tokens) == (32, 100)


@dataclass(frozen=True)
class Mortal(InMemory):
    """Shards whose reader dies at a read."""

    reads_left: list[None] = field(default_factory=list)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        if not self.reads_left:
            raise KilledError
        self.reads_left.pop()
        return super().read(shard)


@pytest.mark.parametrize(
    # Three reads for validation, then one a turn of five steps; a validation after every eighth step.
    ("reads", "step"),
    [(4, None), (5, 8), (7, 16), (8, 24)],
)
def test_a_killed_run_ends_where_an_unkilled_one_does(tmp_path: Path, reads: int, step: int | None) -> None:
    settings = SMALL.model_copy(update={"validation_interval": 8})
    whole = train(tmp_path / "whole", settings)
    killed = tmp_path / "killed"
    with pytest.raises(KilledError):
        train(killed, settings, Mortal(world().shards, [None] * reads))
    latest = Checkpoints(killed / "checkpoints").latest()
    assert (latest.step if latest else None) == step
    with (killed / "metrics.jsonl").open("a") as file:
        file.write('{"step": 100000, "left": "by a step whose checkpoint was never written"}\n{"step": 1000')
    assert train(killed, settings) == whole
    for name in whole["published"]:
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert train(killed, settings, Mortal(world().shards, [None] * 4)) == whole  # all is done already


@dataclass(frozen=True)
class Stopping(InMemory):
    """Shards at whose third turn the training is told to stop."""

    reads: list[int] = field(default_factory=list)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        self.reads.append(shard)
        if len(self.reads) == 6:  # three reads for validation, then one a turn of five steps
            stop_trainings()
        return super().read(shard)


def test_a_run_that_was_told_to_stop_goes_on_where_it_stood(tmp_path: Path) -> None:
    settings = SMALL.model_copy(update={"validation_interval": 8})
    whole = train(tmp_path / "whole", settings)
    stopped = tmp_path / "stopped"
    with pytest.raises(TrainingStopped, match="stopped by SIGTERM after step") as told:
        train(stopped, settings, Stopping(world().shards))
    step = int(str(told.value).split("step ")[1].split(";")[0])
    latest = Checkpoints(stopped / "checkpoints").latest()
    assert latest is not None
    assert latest.step == step < whole["steps"]
    assert train(stopped, settings) == whole
    for name in whole["published"]:
        assert (stopped / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_training_ends_when_patience_does(tmp_path: Path) -> None:
    settings = SMALL.model_copy(update={"learning_rate": 1e-9, "validation_interval": 5})
    metrics = train(tmp_path, settings, patience=2, epochs=50)
    losses = [line["loss"] for line in validations(tmp_path)]
    best = losses.index(min(losses))
    assert len(losses) == best + 3
    assert (metrics["best_step"], metrics["steps"]) == (5 * (best + 1), 5 * (best + 3))


def test_a_corpus_without_valid_articles_is_judged_on_training_ones(tmp_path: Path) -> None:
    shards = InMemory(
        [(about.filter(np.array(about["split"].to_pylist()) == "train"), p, f) for about, p, f in world().shards]
    )
    metrics = train(tmp_path, SMALL.model_copy(update={"steps": 3}), shards)
    assert (metrics["validation_split"], metrics["validation_articles"], metrics["steps"]) == ("train", 30, 3)


def test_what_cannot_be_trained_is_said(tmp_path: Path) -> None:
    dropped = (articles({"article_id": "a"}), paragraphs(("a", 0, "x", "clone")), features(("z", 0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="no paragraph to train the ranker on"):
        train(tmp_path / "none", shards=InMemory([dropped]))
    valid = (
        articles({"article_id": "a", "split": "valid"}),
        paragraphs(("a", 0, "x", None)),
        features(("a", 0, 0.5, 0.0)),
    )
    with pytest.raises(ValueError, match="no paragraph to train the ranker on"):
        train(tmp_path / "valid", shards=InMemory([valid]))
    spoilt = (articles({"article_id": "a"}), paragraphs(("a", 0, "x", None)), features(("a", 0, math.nan, 0.0)))
    with pytest.raises(TrainingError, match=r"no finite gradient in 4 steps in a row, up to step 4"):
        train(tmp_path / "nan", shards=InMemory([spoilt]))
    train(tmp_path / "run", SMALL.model_copy(update={"steps": 2}))
    with pytest.raises(ValueError, match=r"holds a run with other settings \(steps\): steps was 2 and is 3"):
        train(tmp_path / "run", SMALL.model_copy(update={"steps": 3}))


def test_batches_can_be_taken_up_at_any_place() -> None:
    everything = list(training_batches(world(), vocabulary(), RULES, Position()))
    # 30 training articles of 8 drawn paragraphs, in three shards, twice.
    assert sum(len(batch.labels) for batch in everything) == 2 * 30 * 8
    assert [batch.share for batch in everything][-1] == 1.0
    for done in (1, 4, 9, len(everything) - 1, len(everything)):
        rest = list(training_batches(world(), vocabulary(), RULES, everything[done - 1].following))
        assert len(rest) == len(everything) - done
        for one, other in zip(rest, everything[done:], strict=True):
            assert torch.equal(one.paragraphs, other.paragraphs)
            assert torch.equal(one.labels, other.labels)
            assert one.following == other.following


def test_a_batch_pairs_each_paragraph_with_its_title_and_label() -> None:
    by_text = {}
    for about, texts, labels in world().shards:
        titles = dict(zip(about["article_id"].to_pylist(), about["title"].to_pylist(), strict=True))
        recall = {(r["article_id"], r["paragraph_id"]): r["rouge2_recall"] for r in labels.to_pylist()}
        for row in texts.to_pylist():
            key = row["article_id"], row["paragraph_id"]
            by_text.setdefault(row["text"], set()).add((titles[key[0]], recall.get(key)))
    pieces: Vocabulary = vocabulary()
    rules = replace(RULES, epochs=1, paragraph_tokens=200, title_tokens=200)
    for batch in training_batches(world(), pieces, rules, Position()):
        assert len(set(map(tuple, batch.titles.tolist()))) == len(batch.titles)
        for ids, title, label in zip(
            batch.paragraphs.tolist(), batch.title.tolist(), batch.labels.tolist(), strict=True
        ):
            pair = pieces.decode(batch.titles[title].tolist()), label
            assert pair in by_text[pieces.decode(ids)]
        assert batch.padded_tokens == batch.paragraphs.numel()
        assert batch.source_tokens == int((batch.paragraphs != pieces.pad).sum())


def test_every_epoch_draws_anew_and_no_article_more_than_its_share() -> None:
    rules = replace(RULES, per_article=2, size=1000)
    batches = list(training_batches(world(), vocabulary(), rules, Position()))
    first, second = ([batch for batch in batches if batch.following.epoch == epoch] for epoch in (0, 1))
    for epoch in (first, second):
        counts = [torch.bincount(batch.title).tolist() for batch in epoch]
        assert counts == [[2] * 10] * 3
    rows = [{tuple(row) for batch in epoch for row in batch.paragraphs.tolist()} for epoch in (first, second)]
    assert rows[0] != rows[1]


def test_validation_by_hand() -> None:
    shard = (
        articles({"article_id": "a", "split": "valid"}, {"article_id": "b", "split": "valid"}, {"article_id": "c"}),
        paragraphs(*((id_, n, f"{'river ' * (n + 1)}", None) for id_ in "ab" for n in range(3))),
        features(
            ("a", 0, 0.5, 0.1),
            ("a", 1, 0.25, 0.3),
            ("a", 2, 0.0, 0.2),
            ("b", 0, 0.0, 0.0),
            ("b", 1, 0.0, 0.0),
            ("b", 2, 1.0, 0.0),
        ),
    )
    split, parts = collect_validation(InMemory([shard]), vocabulary(), replace(RULES, per_article=9), articles=9)

    class Constant(torch.nn.Module):
        """Gives every paragraph a score of one half."""

        config = type("Config", (), {"hidden": 4})

        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))

        def encode_titles(self, titles: torch.Tensor) -> torch.Tensor:
            return torch.zeros(len(titles), 4)

        def forward(self, texts: torch.Tensor, titles: torch.Tensor) -> torch.Tensor:
            return torch.zeros(len(texts))

    ranker = type("Ranker", (), {"model": Constant()})()
    found = judge(parts, ranker, top=2)
    assert found["loss"] == pytest.approx(math.log(2))
    # The entropies of .5 and .25; those of 0 and 1 are nothing.
    assert found["loss_floor"] == pytest.approx((math.log(2) + 0.25 * math.log(4) + 0.75 * math.log(4 / 3)) / 6)
    assert found["recall"] == pytest.approx((0.375 + 0.0) / 2)  # paragraphs 0 and 1 of each, by number
    assert found["similarity_recall"] == pytest.approx((0.125 + 0.0) / 2)  # a: 1 and 2; b: 0 and 1
    assert found["gold_recall"] == pytest.approx((0.375 + 0.5) / 2)
    assert (found["articles"], split) == (2, "valid")
    json.dumps(found)


def test_cross_entropy_is_that_of_pytorch() -> None:
    labels, scores = np.array([0.0, 0.2, 1.0, 1.0, 0.0]), np.array([0.0, 0.6, 0.0, 0.9, 1.0])
    expected = torch.nn.functional.binary_cross_entropy(
        torch.tensor(scores), torch.tensor(labels), reduction="none"
    ).numpy()
    found = _cross_entropy(labels.astype(np.float32), scores.astype(np.float32))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_training_starts_from_another_ranker_and_keeps_it_where_that_is_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(tmp_path / "first", SMALL)
    still = SMALL.model_copy(update={"learning_rate": 1e-12, "steps": 8, "validation_interval": 4})
    start = tmp_path / "first"
    metrics = train(tmp_path / "still", still, seed=9, initial=start)
    assert metrics["initial_loss"] == first["validation_loss"]
    assert metrics["validation_loss"] == pytest.approx(first["validation_loss"], abs=1e-5)
    lines = read_metrics(tmp_path / "still" / "metrics.jsonl")
    found = [(line["kind"], line["step"]) for line in lines]
    assert found == [("validation", 0), ("validation", 4), ("train", 8), ("validation", 8)]
    monkeypatch.setattr("tasks.ranking.training.CLIP_NORM", 100.0)
    hurt = SMALL.model_copy(update={"learning_rate": 3.0, "steps": 2, "validation_interval": 1})
    metrics = train(tmp_path / "hurt", hurt, seed=9, initial=start)
    assert metrics["best_step"] == 0
    assert (tmp_path / "hurt" / "model.safetensors").read_bytes() == (start / "model.safetensors").read_bytes()


def test_a_warm_start_that_was_killed_ends_where_an_unkilled_one_does(tmp_path: Path) -> None:
    start = tmp_path / "first"
    train(start, SMALL.model_copy(update={"steps": 4}))
    settings = SMALL.model_copy(update={"validation_interval": 8})
    whole = train(tmp_path / "whole", settings, initial=start)
    killed = Mortal(world().shards, [None] * 5)
    with pytest.raises(KilledError):
        train(tmp_path / "killed", settings, killed, initial=start)
    assert train(tmp_path / "killed", settings, initial=start) == whole
    with pytest.raises(ValueError, match=r"holds a run with other settings \(initial\)"):
        train(tmp_path / "killed", settings)


def test_a_start_from_another_ranker_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    start = tmp_path / "first"
    train(start, SMALL.model_copy(update={"steps": 2}))
    wide = SMALL.model_copy(update={"hidden": 2 * SMALL.hidden})
    with pytest.raises(ValueError, match="training cannot start from"):
        train(tmp_path / "wide", wide, initial=start)
    with pytest.raises(ValueError, match="has another vocabulary"):
        train_ranker(world(), other_vocabulary(), SMALL, directory=tmp_path / "other", seed=1, initial=start)


def test_the_number_of_threads_is_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums, and so the bytes of weights and scores, depend on it."""
    seen: list[int] = []
    settings = SMALL.model_copy(update={"steps": 2})

    def scored(*given: object) -> object:
        seen.append(torch.get_num_threads())
        return score_paragraphs(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("tasks.ranking.ranking.score_paragraphs", scored)
    torch.set_num_threads(3)
    try:
        train(tmp_path, settings, progress=lambda _: seen.append(torch.get_num_threads()))
        assert set(seen) == {1}
        assert torch.get_num_threads() == 3
        rank_paragraphs(*world().read(2), tmp_path, RankingSettings(keep=3))
    finally:
        torch.set_num_threads(1)
    assert seen[-1] == 1
