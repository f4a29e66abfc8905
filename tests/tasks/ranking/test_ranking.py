"""Ranking: every method's order by hand, scores against the model alone, and what is refused."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from models.ranker import ParagraphRanker, RankerConfig
from models.weights_file import save_weights
from storage.schemas import RANKED
from tasks.ranking.ranking import TrainedRanker, describe_ranker, load_ranker, rank_paragraphs
from tasks.ranking.settings import RankingSettings
from tests.tasks.ranking.ranker_world import articles, features, paragraphs, vocabulary, world

ARTICLES = articles(
    {"article_id": "b", "split": "test"},
    {"article_id": "a"},
    {"article_id": "c", "drop_reason": "empty lead"},
    {"article_id": "e"},
)
PARAGRAPHS = paragraphs(
    ("b", 0, "b0", None),
    ("a", 0, "a0", None),
    ("a", 1, "a1", "clone"),
    ("a", 2, "a2", None),
    ("a", 3, "a3", None),
    ("c", 0, "c0", None),
    ("e", 0, "e0", "filtered"),
)
FEATURES = features(("b", 0, 0.5, 0.25), ("a", 0, 0.0, 0.5), ("a", 2, 0.75, 0.25), ("a", 3, 0.25, 0.5))


# Scores of float32 against those of float64: logits of about 10, made 20 times as large, with 24 bits, and a sigmoid.
ROUNDING = 2e-5


def ranker_in(directory: Path, *, spoilt: bool = False) -> Path:
    torch.manual_seed(3)
    config = RankerConfig(vocabulary().size, vocabulary().pad, embedding=8, hidden=6)
    model = ParagraphRanker(config)
    with torch.no_grad():
        model.score.weight.mul_(20)  # scores far apart
        if spoilt:
            model.score.bias.fill_(torch.nan)
    save_weights(model, directory / "model.safetensors")
    describe_ranker(directory, TrainedRanker(model, vocabulary(), title_tokens=5, paragraph_tokens=9))
    return directory


@pytest.mark.parametrize(
    ("method", "keep", "expected"),
    [
        ("similarity", 40, [("a", 0, 0, 0.5), ("a", 1, 3, 0.5), ("a", 2, 2, 0.25), ("b", 0, 0, 0.25)]),
        ("rouge", 40, [("a", 0, 2, 0.75), ("a", 1, 3, 0.25), ("a", 2, 0, 0.0), ("b", 0, 0, 0.5)]),
        ("rouge", 1, [("a", 0, 2, 0.75), ("b", 0, 0, 0.5)]),
        ("found", 2, [("a", 0, 0, 0.0), ("a", 1, 2, 0.0), ("b", 0, 0, 0.0)]),
    ],
)
def test_orders_by_a_feature(method: str, keep: int, expected: list[tuple[str, int, int, float]]) -> None:
    settings = RankingSettings(method=method, keep=keep)
    ranked = rank_paragraphs(ARTICLES, PARAGRAPHS, FEATURES, None, settings)
    assert ranked.schema == RANKED.schema
    columns = ("article_id", "rank", "paragraph_id", "score")
    assert [tuple(row[name] for name in columns) for row in ranked.to_pylist()] == expected
    texts = [f"{article}{number}" for article, _, number, _ in expected]
    assert ranked["text"].to_pylist() == texts
    assert set(ranked["position"].to_pylist()) == {7}
    assert set(ranked["url"].to_pylist()) == {"http://a.test/"}


def test_scores_are_those_of_the_model_alone(tmp_path: Path) -> None:
    about, texts, labels = world().read(0)
    directory = ranker_in(tmp_path)
    ranked = rank_paragraphs(about, texts, labels, directory, RankingSettings(keep=5, batch_tokens=64))
    ranker = load_ranker(directory, torch.device("cpu"))
    ranker.model.double()
    titles = dict(zip(about["article_id"].to_pylist(), about["title"].to_pylist(), strict=True))
    expected: dict[str, list[tuple[float, int]]] = {}
    for row in texts.to_pylist():
        if row["drop_reason"] is not None:
            continue
        title = ranker.model.encode_titles(torch.tensor([vocabulary().encode(titles[row["article_id"]])[:5]]))
        logit = ranker.model(torch.tensor([vocabulary().encode(row["text"])[:9]]), title)
        score = np.float32(torch.sigmoid(logit).item())
        expected.setdefault(row["article_id"], []).append((-float(score), row["paragraph_id"]))
    rows = ranked.to_pylist()
    assert [(row["article_id"], row["rank"]) for row in rows] == [
        (id_, n) for id_ in sorted(expected) for n in range(5)
    ]
    best = [pair for id_ in sorted(expected) for pair in sorted(expected[id_])[:5]]
    assert [-row["score"] for row in rows] == pytest.approx([score for score, _ in best], abs=ROUNDING)
    scores = {(id_, number): score for id_, pairs in expected.items() for score, number in pairs}
    assert [-scores[row["article_id"], row["paragraph_id"]] for row in rows] == pytest.approx(
        [row["score"] for row in rows], abs=ROUNDING
    )
    assert len({round(row["score"], 4) for row in rows}) > 10


def test_the_size_of_batches_changes_no_score(tmp_path: Path) -> None:
    directory = ranker_in(tmp_path)
    one, other = (
        rank_paragraphs(*world().read(1), directory, RankingSettings(batch_tokens=tokens)) for tokens in (1, 100_000)
    )
    assert one["article_id"].equals(other["article_id"])
    np.testing.assert_allclose(one["score"].to_numpy(), other["score"].to_numpy(), rtol=0, atol=ROUNDING)


def test_nothing_to_rank_gives_no_rows(tmp_path: Path) -> None:
    empty = (ARTICLES.slice(0, 0), PARAGRAPHS.slice(0, 0), FEATURES.slice(0, 0))
    for tables in (empty, (ARTICLES.slice(3), PARAGRAPHS, FEATURES)):
        ranked = rank_paragraphs(*tables, ranker_in(tmp_path), RankingSettings())
        assert ranked.num_rows == 0
        assert ranked.schema == RANKED.schema


def test_what_cannot_be_ranked_is_said(tmp_path: Path) -> None:
    tables: tuple[pa.Table, ...] = (ARTICLES, PARAGRAPHS, FEATURES)
    with pytest.raises(ValueError, match="'ranking' needs the directory of a trained ranker"):
        rank_paragraphs(*tables, None, RankingSettings())
    with pytest.raises(ValueError, match="does not hold a trained ranker"):
        rank_paragraphs(*tables, tmp_path / "nowhere", RankingSettings())
    with pytest.raises(ValueError, match=r"expected finite numbers in score\.bias of .*, got 1 of 1 that are not"):
        rank_paragraphs(*tables, ranker_in(tmp_path, spoilt=True), RankingSettings())
    (tmp_path / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(ValueError, match="not a readable safetensors file"):
        rank_paragraphs(*tables, tmp_path, RankingSettings())
    (tmp_path / "config.json").write_text('{"architecture": "hierarchical"}')
    with pytest.raises(ValueError, match="expected a ranker, got a model of architecture 'hierarchical'"):
        rank_paragraphs(*tables, tmp_path, RankingSettings())
