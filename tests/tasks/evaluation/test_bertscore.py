"""BERTScore of a tiny random encoder, against its definition."""

from importlib import metadata
from pathlib import Path

import pytest
import torch

from tasks.evaluation.folder_models import prepare
from tasks.evaluation.judges import IMPLEMENTATION, VERSION
from tasks.evaluation.metrics import METRICS, ArticleTexts, Score, Summary
from tasks.evaluation.settings import BertScoreSettings
from tests.tasks.evaluation.tiny_models import LONGEST, WORDS, save_model

ARTICLE = ArticleTexts("T", "the river is long", [], [])


def half(summary: str, lead: str) -> Score:
    return Score(0.5, 0.5, 0.5)


def scores(article: ArticleTexts, text: str) -> dict[str, Score]:
    return prepare(article, ["bertscore"], similarity=half)(Summary(text))


def test_an_empty_summary_scores_nothing_and_an_article_without_lead_has_no_score() -> None:
    assert scores(ARTICLE, "a") == {"bertscore": Score(0.5, 0.5, 0.5)}
    assert scores(ARTICLE, " ") == {"bertscore": Score(0.0, 0.0, 0.0)}
    assert scores(ArticleTexts("T", "", [], []), "a") == {}


def test_the_implementation_is_named() -> None:
    assert METRICS["bertscore"].label == f"BERTScore ({IMPLEMENTATION} {VERSION})" == "BERTScore (torchmetrics 1.9.0)"


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("text", ["the mill", "river river river long", "the river is long"])
def test_words_are_matched_greedily_by_their_vectors(tmp_path: Path, layer: int, text: str) -> None:
    """Each word with the likest of the other text; the marks at both ends do not count (Zhang et al. 2020, sec. 3)."""
    transformers = pytest.importorskip("transformers", reason="transformers is of the extra `judges`")
    pytest.importorskip("torchmetrics", reason="torchmetrics is of the extra `judges`")
    from tasks.evaluation.folder_models import BertScoreModel

    assert metadata.version(IMPLEMENTATION) == VERSION
    save_model(tmp_path, "BertModel")
    network = transformers.BertModel.from_pretrained(tmp_path).eval()

    def vectors(words: str) -> torch.Tensor:
        ids = torch.tensor([[2, *map(WORDS.index, words.split()), 3]])
        with torch.no_grad():
            states = network(ids, output_hidden_states=True).hidden_states[layer][0, 1:-1]
        return torch.nn.functional.normalize(states, dim=-1)

    alike = vectors(text) @ vectors(ARTICLE.lead).T
    precision, recall = float(alike.max(1).values.mean()), float(alike.max(0).values.mean())
    model = BertScoreModel(BertScoreSettings(folder=str(tmp_path), layer=layer), "cpu")
    found = model(text, ARTICLE.lead)
    assert (found.precision, found.recall) == (pytest.approx(precision, abs=1e-5), pytest.approx(recall, abs=1e-5))
    assert found.value == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
    assert model(text, ARTICLE.lead) == found
    long = " ".join([text] * 50)
    cut = " ".join(long.split()[: LONGEST - 2])
    assert model(long, ARTICLE.lead) == model(cut, ARTICLE.lead)
