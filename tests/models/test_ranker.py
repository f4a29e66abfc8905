"""The ranker against a literal reading of Liu & Lapata 2019, eq. 1-6, its size by hand, and its blindness to
padding.
"""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from models.ranker import ParagraphRanker, RankerConfig

PAD = 0


def ranker(dropout: float = 0.0) -> ParagraphRanker:
    torch.manual_seed(0)
    return ParagraphRanker(RankerConfig(vocabulary=20, pad=PAD, embedding=6, hidden=4, dropout=dropout))


def by_the_equations(model: ParagraphRanker, paragraph: Tensor, title: Tensor) -> float:
    """One unpadded paragraph and title, token by token."""
    u_t, _ = model.title_lstm(model.embedding(title))  # eq. 1
    u_p, _ = model.paragraph_lstm(model.embedding(paragraph))  # eq. 2
    pooled = u_t.max(dim=0).values  # eq. 3
    tokens = [torch.tanh(model.match(torch.cat([u, pooled]))) for u in u_p]  # eq. 4
    p = torch.stack(tokens).max(dim=0).values  # eq. 5
    return torch.sigmoid(model.score(p)).item()  # eq. 6


@pytest.mark.usefixtures("float64")
def test_scores_are_those_of_the_equations() -> None:
    model = ranker()
    paragraphs = [[3, 4, 5, 6, 7], [8, 9], [10]]
    titles = [[11, 12], [13], [14, 15, 16]]
    padded = torch.tensor([row + [PAD] * (5 - len(row)) for row in paragraphs])
    padded_titles = torch.tensor([row + [PAD] * (3 - len(row)) for row in titles])
    scores = torch.sigmoid(model(padded, model.encode_titles(padded_titles)))
    expected = [
        by_the_equations(model, torch.tensor(p), torch.tensor(t)) for p, t in zip(paragraphs, titles, strict=True)
    ]
    assert scores.tolist() == pytest.approx(expected, abs=1e-10)


def test_parameters_by_hand() -> None:
    # Embedding V E; each LSTM four gates of H (E + H) weights and two biases; match 2H H + H; score H + 1.
    model = ParagraphRanker(RankerConfig(vocabulary=32_000, pad=0))
    lstm = 4 * (256 * (256 + 256) + 2 * 256)
    assert lstm == 526_336
    assert sum(p.numel() for p in model.parameters()) == 8_192_000 + 2 * lstm + 131_328 + 257 == 9_376_257


tokens = st.lists(st.integers(1, 19), min_size=1, max_size=6)


@given(st.lists(st.tuples(tokens, tokens), min_size=1, max_size=4), st.integers(0, 5))
def test_padding_changes_no_score(rows: list[tuple[list[int], list[int]]], more: int) -> None:
    model = ranker().eval().double()

    def scores(rows: list[tuple[list[int], list[int]]], more: int) -> Tensor:
        width = max(max(len(p), len(t)) for p, t in rows) + more
        paragraphs, titles = (torch.tensor([row[i] + [PAD] * (width - len(row[i])) for row in rows]) for i in (0, 1))
        return model(paragraphs, model.encode_titles(titles))

    with torch.no_grad():
        alone = torch.cat([scores([row], 0) for row in rows])
        torch.testing.assert_close(scores(rows, more), alone, atol=1e-10, rtol=0)


def test_padding_wins_no_maximum() -> None:
    # Every state of a token is below zero, the state a zero would have: a pooling that saw padding would return 0.
    model = ranker()
    with torch.no_grad():
        model.title_lstm.bias_ih_l0.fill_(0)
        model.title_lstm.weight_ih_l0.zero_()
        model.title_lstm.bias_ih_l0[8:12] = -5.0  # the cell gate
    pooled = model.encode_titles(torch.tensor([[3, PAD, PAD]]))
    assert (pooled < 0).all()
    torch.testing.assert_close(pooled, model.encode_titles(torch.tensor([[3]])))


def test_empty_texts_have_finite_scores_and_gradients() -> None:
    model = ranker()
    logits = model(torch.tensor([[PAD, PAD], [3, 4]]), model.encode_titles(torch.tensor([[PAD], [5]])))
    logits.sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_an_empty_title_says_nothing() -> None:
    assert ranker().encode_titles(torch.tensor([[PAD, PAD], [3, PAD]]))[0].tolist() == [0.0] * 4


def test_gradients_reach_every_parameter() -> None:
    model = ranker()
    model(torch.tensor([[3, 4, 5]]), model.encode_titles(torch.tensor([[6, 7]]))).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_dropout_acts_in_training_only() -> None:
    model = ranker(dropout=0.5)
    paragraphs, titles = torch.tensor([[3, 4, 5]] * 8), torch.tensor([[6, 7]] * 8)
    assert len(set(model(paragraphs, model.encode_titles(titles)).tolist())) > 1
    model.eval()
    assert len(set(model(paragraphs, model.encode_titles(titles)).tolist())) == 1


@pytest.mark.parametrize(
    ("prior", "logit"), [(0.5, 0.0), (0.02, math.log(0.02 / 0.98)), (0.0, math.log(1e-4 / 0.9999))]
)
def test_a_prior_is_the_score_of_a_paragraph_without_features(prior: float, logit: float) -> None:
    model = ranker()
    model.set_prior(prior)
    assert model.score.bias.item() == pytest.approx(logit, abs=1e-5)


@pytest.mark.parametrize(
    ("wrong", "message"), [({"pad": 20}, "pad id 20 is not in a vocabulary of 20"), ({"hidden": 0}, "positive sizes")]
)
def test_a_wrong_config_is_an_error(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RankerConfig(**({"vocabulary": 20, "pad": 0} | wrong))
