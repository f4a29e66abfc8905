"""The pointer-generator against its plain twin, in training with its coverage loss, and in a search."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.pointer_generator import PointerGenerator, PointerGeneratorConfig
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from models.training.token_objective import copy_loss
from tests.models.pointer_twin import PointerStep, pointer_steps
from tests.models.reference_search import Rules, reference_search
from tests.models.systems import PAD, batch, target, tiny
from tests.models.twin_layers import Weights

BOTH = pytest.mark.parametrize("preset", ["ptgen", "ptgen-cov"])


pytestmark = pytest.mark.usefixtures("float64")


def shaken(preset: str, **overrides: object) -> Summarizer:
    """A tiny model in float64 whose attention is sharp and whose gate, biases and coverage are all but zero."""
    model = tiny(preset, **overrides)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape, generator=generator))
    return model


def tokens_of(source: SourceBatch, article: int) -> list[int]:
    return [token for token in source.tokens[article].flatten().tolist() if token != PAD]


def twin_steps(model: Summarizer, source: SourceBatch, article: int, target_in: torch.Tensor) -> list[PointerStep]:
    assert isinstance(model, PointerGenerator)
    weights = Weights({name: value.numpy() for name, value in model.state_dict().items()})
    tokens = tokens_of(source, article)[: model.config.source_tokens]
    return pointer_steps(weights, tokens, target_in[article].tolist(), coverage=model.config.coverage)


@BOTH
@pytest.mark.parametrize("source_tokens", [400, 10])
@torch.no_grad()
def test_attention_gate_mixture_and_coverage_are_those_of_the_plain_twin(preset: str, source_tokens: int) -> None:
    model, source, target_in = shaken(preset, source_tokens=source_tokens, coverage_loss=0.5), batch(), target(length=9)
    source.tokens[2, 1, :3] = 7  # a piece that occurs in several places
    decoded = model.decode(target_in, model.encode(source))
    probabilities = model.log_probs(decoded).exp()
    assert decoded.copied is not None
    for article in range(3):
        for t, step in enumerate(twin_steps(model, source, article, target_in)):
            length = len(step.attention)
            np.testing.assert_allclose(decoded.copied.weights[article, t, :length], step.attention, atol=1e-10)
            assert decoded.copied.weights[article, t, length:].eq(0).all()
            assert decoded.copied.gate[article, t].sigmoid().item() == pytest.approx(step.p_gen, abs=1e-10)
            np.testing.assert_allclose(probabilities[article, t], step.probabilities, atol=1e-10)
            if preset == "ptgen-cov":
                assert decoded.extra_loss[article, t].item() == pytest.approx(0.5 * step.repeated, abs=1e-10)
    if preset == "ptgen":
        assert decoded.extra_loss is None


@BOTH
@torch.no_grad()
def test_the_loss_is_that_of_the_twins_mixture(preset: str) -> None:
    model, source, tokens = shaken(preset), batch(), target(length=8)
    tokens[0, 5:] = PAD
    decoded = model.decode(tokens[:, :-1], model.encode(source), attention=False)
    expected = 0.0
    for article in range(3):
        steps = twin_steps(model, source, article, tokens[:, :-1])
        pairs = zip(steps, tokens[article, 1:].tolist(), strict=True)
        expected -= sum(np.log(step.probabilities[token]) for step, token in pairs if token != PAD)
    found = copy_loss(model, decoded, tokens[:, 1:], pad=PAD, smoothing=0.0)
    assert found.nll.item() == pytest.approx(expected, abs=1e-9)


@BOTH
def test_gradients_reach_every_parameter_through_the_loss(preset: str) -> None:
    model, source, tokens = tiny(preset).train(), batch(), target()
    decoded = model.decode(tokens[:, :-1], model.encode(source), attention=False)
    copy_loss(model, decoded, tokens[:, 1:], pad=PAD, smoothing=0.0).smoothed.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.ne(0).any(), name


@torch.no_grad()
def test_coverage_of_uniform_attention_is_worked_out_by_hand() -> None:
    """Four tokens, each looked at with 1/4 at each step: nothing is repeated at the first, everything after it."""
    model = tiny("ptgen-cov", coverage_loss=2.0)
    assert isinstance(model, PointerGenerator)
    model.score.zero_()
    tokens = torch.tensor([[[5, 6], [7, 8]]])
    source = SourceBatch(tokens, torch.tensor([[0, 1]]), torch.zeros(1, 1, dtype=torch.int64), PAD)
    decoded = model.decode(target(rows=1, length=3), model.encode(source))
    torch.testing.assert_close(decoded.extra_loss, torch.tensor([[0.0, 2.0, 2.0]]))
    torch.testing.assert_close(decoded.paragraph_attention, torch.full((1, 3, 2), 0.5))


@BOTH
@torch.no_grad()
def test_a_cache_of_several_hypotheses_says_what_the_whole_target_says(preset: str) -> None:
    model, source, tokens = shaken(preset), batch(), target(rows=6, length=9)
    memory = model.encode(source)
    expected = model.log_probs(model.decode(tokens, memory))
    cache = model.start_cache(memory, hypotheses=2, length=9)
    parts = [model.log_probs(model.decode(part, memory, cache)) for part in torch.split(tokens, [1, 2, 1, 5], dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, atol=1e-10, rtol=0)
    assert cache.length == 9


@BOTH
@torch.no_grad()
def test_a_reordered_cache_keeps_what_each_hypothesis_has_covered(preset: str) -> None:
    model, source, tokens = shaken(preset), batch(), target(rows=6, length=7)
    memory = model.encode(source)
    cache = model.start_cache(memory, hypotheses=2, length=7)
    model.decode(tokens[:, :4], memory, cache)
    kept = torch.tensor([5, 4, 1, 1])  # articles 2 and 0 stay, article 1 leaves
    cache.reorder(kept)
    memory = memory.select(torch.tensor([2, 0]))
    found = model.log_probs(model.decode(tokens[kept, 4:], memory, cache))
    expected = model.log_probs(model.decode(tokens[kept], memory))[:, 4:]
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


@BOTH
@pytest.mark.parametrize("beam", [1, 3])
def test_the_search_finds_what_the_plain_one_finds(preset: str, beam: int) -> None:
    model, source = shaken(preset), batch()
    settings = SearchSettings(beam=beam, min_length=2, max_length=9)
    found = beam_search(model, source, settings, begin=2, end=3, unknown=1)
    expected = reference_search(model, source, settings, Rules(begin=2, end=3, never=frozenset({PAD, 1, 2})))
    for mine, plain in zip(found, expected, strict=True):
        assert mine.tokens == plain.tokens
        assert mine.score == pytest.approx(plain.score, abs=1e-9)
        # The reference keeps a row for the end token as well.
        np.testing.assert_allclose(mine.attention.numpy(), plain.attention[: len(mine.tokens)], atol=1e-6)


@torch.no_grad()
def test_coverage_turns_attention_away_from_what_was_looked_at() -> None:
    """With a large negative w_c the same decoder looks at other places; at the first step nothing is covered yet."""
    model, source, target_in = tiny("ptgen-cov"), batch(), target()
    assert isinstance(model, PointerGenerator)
    model.score.fill_(1.0)
    model.coverage.zero_()
    blind = model.decode(target_in, model.encode(source))
    model.coverage.fill_(-5.0)
    seeing = model.decode(target_in, model.encode(source))
    torch.testing.assert_close(seeing.copied.weights[:, 0], blind.copied.weights[:, 0], atol=1e-12, rtol=0)
    assert (seeing.extra_loss[:, 1] < blind.extra_loss[:, 1]).all()
    assert (seeing.extra_loss.sum(dim=1) < blind.extra_loss.sum(dim=1)).all()


def test_an_article_does_not_lend_its_words_to_its_neighbour() -> None:
    """Of an article's probability nothing goes to pieces that occur in no place of it, when everything is copied."""
    model, source = tiny("ptgen"), batch()
    assert isinstance(model, PointerGenerator)
    with torch.no_grad():
        model.gate.bias.fill_(-200.0)
        probabilities = model.log_probs(model.decode(target(), model.encode(source))).exp()
    for article in range(3):
        absent = sorted(set(range(29)) - set(tokens_of(source, article)))
        assert probabilities[article][:, absent].max() < 1e-12
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(3, 7))


def test_a_memory_is_selected_whole() -> None:
    model, source = shaken("ptgen-cov"), batch()
    rows = torch.tensor([2, 0])
    some = replace(source, tokens=source.tokens[rows], ranks=source.ranks[rows], title=source.title[rows], graph=None)
    with torch.no_grad():
        found = model.log_probs(model.decode(target()[rows], model.encode(source).select(rows)))
        expected = model.log_probs(model.decode(target()[rows], model.encode(some)))
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("articles", [1, 3])  # where all are as long, PyTorch takes another kernel
@torch.no_grad()
def test_a_search_in_mixed_precision_reads_in_float32(articles: int) -> None:
    model, source, target_in = tiny("ptgen-cov").float(), batch(articles=articles), target(rows=articles)
    expected = model.log_probs(model.decode(target_in, model.encode(source)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = model.encode(source)
        cache = model.start_cache(memory, hypotheses=1, length=7)
        parts = [model.log_probs(model.decode(target_in[:, t : t + 1], memory, cache)) for t in range(7)]
    assert memory.states.dtype == torch.float32
    assert {part.dtype for part in parts} == {torch.float32}
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, atol=0.1, rtol=0)


@torch.no_grad()
def test_fresh_weights_have_the_sizes_that_are_claimed() -> None:
    """Xavier's bound a gate, orthogonal recurrences, forget biases of 1, embeddings of about unit length."""
    torch.manual_seed(0)
    size, words = 48, 32
    model = PointerGenerator(
        PointerGeneratorConfig(vocabulary_size=500, model_size=size, embedding_size=words, coverage=True)
    )
    gate_bound = (6 / (words + size)) ** 0.5
    recurrences = [(model.recurrence.weight[:, :words], model.recurrence.weight[:, words:], model.recurrence.bias)]
    for suffix in ("", "_reverse"):
        entering = model.encoder.get_parameter(f"weight_ih_l0{suffix}")
        recurring = model.encoder.get_parameter(f"weight_hh_l0{suffix}")
        recurrences.append((entering[:, :words], recurring, entering[:, words]))
    for entering, recurring, bias in recurrences:
        for gate in entering.chunk(4):
            assert 0.95 * gate_bound < gate.abs().max() <= gate_bound
        for gate in recurring.chunk(4):
            torch.testing.assert_close(gate @ gate.T, torch.eye(size), atol=1e-5, rtol=0)
        assert bias.tolist() == [0.0] * size + [1.0] * size + [0.0] * (2 * size)
    for linear in (model.first_output, model.first_cell, model.feed, model.query, model.gate, model.hidden):
        bound = (6 / sum(linear.weight.shape)) ** 0.5
        assert 0.9 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()
    assert model.coverage is not None
    for vector in (model.score, model.coverage):
        bound = (6 / (2 * size + 1)) ** 0.5
        assert 0.9 * bound < vector.abs().max() <= bound
    assert not model.vocabulary.bias.any()
    assert model.embedding.weight.norm(dim=1).mean().item() == pytest.approx(1.0, abs=0.05)
    assert model.vocabulary.weight.norm(dim=1).mean().item() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("source_tokens", 0, "source_tokens must be at least 1, got 0"),
        ("model_size", 0, "model_size must be at least 1, got 0"),
        ("embedding_size", -1, "embedding_size must be at least 1, got -1"),
        ("coverage_loss", -0.5, "coverage_loss must be at least 0, got -0.5"),
    ],
)
def test_a_size_that_cannot_be_is_refused(field: str, value: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PointerGeneratorConfig(vocabulary_size=9, **{field: value})
