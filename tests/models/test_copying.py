"""Copying against a plain twin, in training, with a cache and in a search, for every architecture that copies."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from models.contract import CopyDistribution, Decoded, Summarizer
from models.layers.decoder import CONTEXT, CopyHead, recent_tokens
from models.layers.paragraphs import ParagraphRows
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from models.training import token_objective as module
from models.training.token_objective import copy_loss
from tests.models.reference_search import Rules, reference_search
from tests.models.systems import PAD, VOCABULARY, batch, target, tiny

ALL = pytest.mark.parametrize("preset", ["ht", "ht-similarity", "ft-3", "pht", "vht", "graphsum"])


def copying(preset: str, **overrides: object) -> Summarizer:
    """A tiny model that copies, every weight of its head drawn again so that no term of it is small."""
    model = tiny(preset, copying=True, **overrides).double()
    head = model.copying
    assert isinstance(head, CopyHead)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    return model


def copied(model: Summarizer, target_in: torch.Tensor) -> Decoded:
    source = batch()
    return model.decode(target_in, model.encode(replace(source, graph=source.graph.double())))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@torch.no_grad()
def test_the_head_is_the_one_of_its_equations() -> None:
    """Each place by itself, in numpy: key times query, one bonus a piece that agrees, softmax, gate."""
    torch.manual_seed(5)
    head = CopyHead(8).double()
    torch.nn.init.normal_(head.match)
    source, target_in = batch(), target()
    rows = ParagraphRows.of(source, PAD)
    states_NLD = torch.randn(*rows.tokens.shape, 8, dtype=torch.float64)
    hidden_BTD, input_BTD = torch.randn(2, 3, 7, 8, dtype=torch.float64)
    memory = head.remember(rows, rows.flat(states_NLD))
    found = head(hidden_BTD, input_BTD, target_in, memory, None)

    query, key, gate = (w.numpy() for w in (head.query.weight, head.key.weight, head.gate.weight))
    for article in range(3):
        places = [
            (paragraph, column, states_NLD[row, column].numpy())
            for row, paragraph in enumerate(rows.column.tolist())
            if rows.article[row] == article
            for column in range(source.tokens.shape[2])
            if source.tokens[article, paragraph, column] != PAD
        ]
        for step in range(7):
            scores = []
            for paragraph, column, state in places:
                score = (query @ hidden_BTD[article, step].numpy()) @ (key @ state) / 8**0.5
                for before in range(1, CONTEXT + 1):
                    if column < before or step + 1 < before:
                        break
                    if source.tokens[article, paragraph, column - before] != target_in[article, step + 1 - before]:
                        break
                    score += head.match[before - 1].item()
                scores.append(score)
            weights = softmax(np.array(scores))
            context = sum(weight * (key @ state) for weight, (_, _, state) in zip(weights, places, strict=True))
            joined = np.concatenate([hidden_BTD[article, step].numpy(), context, input_BTD[article, step].numpy()])
            expected = torch.tensor(weights)
            torch.testing.assert_close(
                found.weights[article, step, : len(places)].double(), expected, atol=1e-6, rtol=0
            )
            assert found.gate[article, step].item() == pytest.approx(
                (gate @ joined).item() + head.gate.bias.item(), abs=1e-5
            )
            assert memory.paragraph[article, : len(places)].tolist() == [paragraph for paragraph, _, _ in places]


def test_the_mixture_is_worked_out_by_hand() -> None:
    """Half generated, half copied: two places hold token 2 and one holds token 0."""
    weights = torch.tensor([[[0.5, 0.2, 0.3]]])
    mixed = CopyDistribution(weights, torch.zeros(1, 1), torch.tensor([[2, 0, 2]])).mix(
        torch.tensor([[[0.25, 0.25, 0.25, 0.25]]]).log()
    )
    torch.testing.assert_close(mixed.exp(), torch.tensor([[[0.225, 0.125, 0.525, 0.125]]]))


@ALL
@torch.no_grad()
def test_the_loss_sums_the_log_probabilities_of_the_mixture(preset: str) -> None:
    model, tokens = copying(preset), target()
    tokens[0, 5:] = PAD
    decoded = copied(model, tokens[:, :-1])
    log_probs = model.log_probs(decoded)
    torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(3, 6, dtype=torch.float64))
    real = tokens[:, 1:] != PAD
    expected = -log_probs.gather(2, tokens[:, 1:].unsqueeze(2)).squeeze(2)[real].sum()
    loss = copy_loss(model, decoded, tokens[:, 1:], pad=PAD, smoothing=0.0)
    torch.testing.assert_close(loss.nll, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(loss.smoothed, loss.nll)
    smoothed = copy_loss(model, decoded, tokens[:, 1:], pad=PAD, smoothing=0.1)
    uniform = -model.logits(decoded.hidden).log_softmax(dim=-1).mean(dim=-1)[real].sum()
    torch.testing.assert_close(smoothed.smoothed, 0.9 * expected + 0.1 * uniform, atol=1e-8, rtol=0)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_chunks_of_the_loss_add_up_to_the_whole(smoothing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = copying("ht"), target()
    tokens[0, 5:] = PAD
    losses, gradients = [], []
    for chunk in (1024, 4):  # positions: 16 in one chunk, and in four
        monkeypatch.setattr(module, "CHUNK", chunk)
        model.zero_grad()
        loss = copy_loss(model, copied(model, tokens[:, :-1]), tokens[:, 1:], pad=PAD, smoothing=smoothing)
        loss.smoothed.backward()
        losses.append((loss.smoothed.detach(), loss.nll))
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    torch.testing.assert_close(losses[0], losses[1], atol=1e-10, rtol=0)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-10, rtol=0)


@ALL
def test_gradients_reach_every_parameter(preset: str) -> None:
    model, tokens = copying(preset).train(), target(seed=1)
    source = batch()
    tokens[:, 2:5] = source.tokens[:, 0, :3]  # something to copy, one piece after another
    decoded = copied(model, tokens[:, :-1])
    copy_loss(model, decoded, tokens[:, 1:], pad=PAD, smoothing=0.0).smoothed.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.ne(0).any(), name


@ALL
@torch.no_grad()
def test_a_cache_changes_nothing(preset: str) -> None:
    model, tokens, source = copying(preset), target(), batch()
    memory = model.encode(replace(source, graph=source.graph.double()))
    expected = model.log_probs(model.decode(tokens, memory))
    cache = model.start_cache(memory, 1, 7)
    parts = [model.log_probs(model.decode(part, memory, cache)) for part in torch.split(tokens, [1, 2, 1, 3], dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, atol=1e-6, rtol=0)


@ALL
@torch.no_grad()
def test_what_is_copied_counts_as_attention_to_its_paragraph(preset: str) -> None:
    model, source = copying(preset), batch()
    memory = model.encode(replace(source, graph=source.graph.double()))
    attention = model.decode(target(), memory).paragraph_attention
    torch.testing.assert_close(attention.sum(dim=-1), torch.ones(3, 7, dtype=torch.float64))
    model.copying.gate.bias.fill_(-50.0)  # everything is copied
    decoded = model.decode(target(), memory)
    by_hand = torch.zeros_like(decoded.paragraph_attention)
    for paragraph in range(by_hand.shape[-1]):
        here = (memory.copies.paragraph == paragraph).unsqueeze(1)
        by_hand[..., paragraph] = (decoded.copied.weights * here).sum(dim=-1)
    torch.testing.assert_close(decoded.paragraph_attention, by_hand, atol=1e-6, rtol=0)


def test_recent_tokens_begin_with_the_newest() -> None:
    assert recent_tokens(torch.tensor([[4, 5, 6, 7]]), None).tolist() == [
        [[4, -2, -2], [5, 4, -2], [6, 5, 4], [7, 6, 5]]
    ]


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("preset", ["ht", "pht"])
def test_the_search_finds_what_the_plain_one_finds(preset: str, beam: int) -> None:
    model, source = copying(preset), batch()
    source = replace(source, graph=source.graph.double())
    settings = SearchSettings(beam=beam, min_length=2, max_length=9)
    found = beam_search(model, source, settings, begin=2, end=3, unknown=1)
    expected = reference_search(model, source, settings, Rules(begin=2, end=3, never=frozenset({PAD, 1, 2})))
    for mine, plain in zip(found, expected, strict=True):
        assert mine.tokens == plain.tokens
        assert mine.score == pytest.approx(plain.score, abs=1e-4)


def test_systems_of_the_papers_do_not_copy() -> None:
    assert tiny("ht").logits(torch.zeros(1, 16)).shape[1] == VOCABULARY
    assert tiny("ht").copying is None
    assert not [name for name, _ in tiny("pht").named_parameters() if name.startswith("copying")]
