"""What every summarizer owes, whatever its architecture: run over every preset at a tiny size."""

from dataclasses import replace

import pytest
import torch

from models.contract import Decoded, Summarizer
from models.registry import build_summarizer, from_config_dict, to_config_dict
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from tests.models.reference_search import Rules, reference_search
from tests.models.systems import PAD, VOCABULARY, batch, distinct_presets, logits, padded, permuted, target, tiny

pytestmark = pytest.mark.integration

ALL = pytest.mark.parametrize("preset", distinct_presets())


def log_probability_of_five(model: Summarizer, decoded: Decoded) -> torch.Tensor:
    """A number that all of a model has a part in; one of the articles holds token 5, so it may be copied."""
    log_probs = model.logits(decoded.hidden).float().log_softmax(dim=-1)[..., 5]
    if decoded.copied is not None:
        log_probs = decoded.copied.log_prob(log_probs, torch.full_like(log_probs, 5, dtype=torch.int64))
    return log_probs.sum()


@ALL
def test_shapes(preset: str) -> None:
    model = tiny(preset)
    decoded = model.decode(target(), model.encode(batch()))
    assert model.logits(decoded.hidden).shape == (3, 7, VOCABULARY)
    assert decoded.paragraph_attention.shape == (3, 7, 4)
    assert decoded.paragraph_attention.dtype == torch.float32


@pytest.mark.usefixtures("float64")
@ALL
def test_paragraph_attention_is_a_distribution_over_paragraphs_that_exist(preset: str) -> None:
    source = batch()
    model = tiny(preset)
    attention = model.decode(target(), model.encode(source)).paragraph_attention
    torch.testing.assert_close(attention.sum(dim=-1), torch.ones(3, 7), atol=1e-10, rtol=0)
    assert attention.min() >= 0
    assert attention[0, :, 2:].eq(0).all()  # the first article has two paragraphs


@pytest.mark.usefixtures("float64")
@ALL
def test_hidden_states_do_not_depend_on_whether_attention_is_asked_for(preset: str) -> None:
    model, source = tiny(preset), batch()
    memory = model.encode(source)
    without = model.decode(target(), memory, attention=False)
    assert without.paragraph_attention is None
    torch.testing.assert_close(without.hidden, model.decode(target(), memory).hidden, atol=1e-10, rtol=0)


@ALL
def test_gradients_reach_every_parameter(preset: str) -> None:
    model, source = tiny(preset).train(), batch()
    decoded = model.decode(target(), model.encode(source), attention=False)
    log_probability_of_five(model, decoded).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        # A bias of keys shifts all logits of a query alike, so its gradient is zero but for rounding.
        assert name.endswith(("k_proj.bias", "key.bias")) or parameter.grad.ne(0).any(), name


@pytest.mark.usefixtures("float64")
@ALL
def test_longer_padding_changes_nothing(preset: str) -> None:
    model, source = tiny(preset), batch()
    longer = logits(model, padded(source, paragraphs=3, tokens=5), target())
    torch.testing.assert_close(logits(model, source, target()), longer, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("float64")
@ALL
def test_an_article_does_not_depend_on_its_neighbours(preset: str) -> None:
    model, source = tiny(preset), batch()
    alone = replace(
        source, tokens=source.tokens[:1], ranks=source.ranks[:1], title=source.title[:1], graph=source.graph[:1]
    )
    expected = logits(model, source, target())[:1]
    torch.testing.assert_close(logits(model, alone, target()[:1]), expected, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("float64")
@ALL
def test_permuting_paragraphs_with_their_ranks_changes_nothing(preset: str) -> None:
    model, source, order = tiny(preset), batch(), [2, 0, 3, 1]
    found = logits(model, permuted(source, order), target())
    torch.testing.assert_close(found, logits(model, source, target()), atol=1e-10, rtol=0)
    attention = model.decode(target(), model.encode(permuted(source, order))).paragraph_attention
    expected = model.decode(target(), model.encode(source)).paragraph_attention[..., order]
    torch.testing.assert_close(attention, expected, atol=1e-10, rtol=0)


@ALL
def test_the_source_matters(preset: str) -> None:
    model, source = tiny(preset), batch()
    other = replace(source, tokens=torch.where(source.tokens == PAD, PAD, (source.tokens - 4) % 24 + 5))
    assert (logits(model, source, target()) - logits(model, other, target())).abs().max() > 1e-3


@pytest.mark.usefixtures("float64")
@ALL
@pytest.mark.parametrize("chunks", [[1] * 7, [3, 1, 3], [7]], ids=str)
def test_incremental_decoding_equals_full_decoding(preset: str, chunks: list[int]) -> None:
    model, source = tiny(preset), batch()
    with torch.no_grad():
        memory = model.encode(source)
        tokens = target(rows=6)  # two hypotheses an article
        full = model.decode(tokens, memory)
        cache = model.start_cache(memory, hypotheses=2, length=7)
        parts = [model.decode(part, memory, cache) for part in tokens.split(chunks, dim=1)]
    hidden = torch.cat([part.hidden for part in parts], dim=1)
    torch.testing.assert_close(hidden, full.hidden, atol=1e-10, rtol=0)
    attention = torch.cat([part.paragraph_attention for part in parts], dim=1)
    torch.testing.assert_close(attention, full.paragraph_attention, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("float64")
@ALL
def test_a_reordered_cache_continues_the_chosen_hypotheses(preset: str) -> None:
    model, source = tiny(preset), batch()
    tokens = target(rows=6)
    with torch.no_grad():
        memory = model.encode(source)
        cache = model.start_cache(memory, hypotheses=2, length=7)
        for t in range(4):
            model.decode(tokens[:, t : t + 1], memory, cache)
        kept = torch.tensor([5, 4, 1, 1])  # articles 2 and 0 stay, article 1 leaves
        cache.reorder(kept)
        memory = memory.select(torch.tensor([2, 0]))
        newest = [model.decode(tokens[kept, t : t + 1], memory, cache).hidden for t in range(4, 7)]
        full = model.decode(tokens[kept], memory).hidden[:, 4:]
    torch.testing.assert_close(torch.cat(newest, dim=1), full, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("float64")
@ALL
def test_the_future_of_the_target_is_not_seen(preset: str) -> None:
    model, source = tiny(preset), batch()
    changed = target().clone()
    changed[:, 4:] = 6
    before, after = logits(model, source, target()), logits(model, source, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4], atol=1e-10, rtol=0)


@ALL
def test_an_article_without_paragraphs_gives_finite_results(preset: str) -> None:
    model, source = tiny(preset).train(), batch()
    tokens = source.tokens.clone()
    tokens[1] = PAD
    empty = replace(source, tokens=tokens)
    decoded = model.decode(target(), model.encode(empty))
    assert decoded.hidden.isfinite().all()
    assert decoded.paragraph_attention.isfinite().all()
    log_probability_of_five(model, decoded).backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    nothing = replace(source, tokens=torch.full_like(tokens, PAD))
    assert logits(model.eval(), nothing, target()).isfinite().all()


@pytest.mark.usefixtures("float64")
@ALL
def test_the_search_equals_the_reference(preset: str) -> None:
    model, source = tiny(preset), batch()
    with torch.no_grad():
        weight, bias = model.projection()
        weight.mul_(4.0)  # spread the words, so that choices differ from step to step
        if bias is not None:
            bias.normal_()
    settings = SearchSettings(beam=3, min_length=2, max_length=6, block_ngrams=2)
    found = beam_search(model, source, settings, begin=2, end=3, unknown=1)
    expected = reference_search(model, source, settings, Rules(2, 3, frozenset({PAD, 1, 2})))
    assert [hypothesis.tokens for hypothesis in found] == [hypothesis.tokens for hypothesis in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-9)


@ALL
def test_the_configuration_rebuilds_the_model(preset: str) -> None:
    model = tiny(preset)
    again = from_config_dict(to_config_dict(model)).eval()
    again.load_state_dict(model.state_dict())
    assert torch.equal(logits(again, batch(), target()), logits(model, batch(), target()))


@ALL
def test_the_projection_is_that_of_the_logits(preset: str) -> None:
    model = tiny(preset)
    weight, bias = model.projection()
    hidden = torch.randn(2, 16)
    torch.testing.assert_close(model.logits(hidden), hidden @ weight.T + (0 if bias is None else bias))


@ALL
def test_a_batch_padded_with_another_token_is_refused(preset: str) -> None:
    with pytest.raises(ValueError, match="padded with token 6, the model expects 0"):
        tiny(preset).encode(replace(batch(), pad=6))


@ALL
def test_mixed_precision_gives_nearly_the_same_and_finite_gradients(preset: str) -> None:
    model, source = tiny(preset).train(), batch()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = model.encode(source)
        decoded = model.decode(target(), memory)
        loss = log_probability_of_five(model, decoded)
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    assert decoded.paragraph_attention.dtype == torch.float32
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        cache = model.start_cache(memory, hypotheses=1, length=7)
        parts = [model.decode(target()[:, t : t + 1], memory, cache).hidden for t in range(7)]
    expected = model.decode(target(), model.encode(source)).hidden
    torch.testing.assert_close(torch.cat(parts, dim=1).float(), expected, atol=0.25, rtol=0)
    torch.testing.assert_close(decoded.hidden.float(), expected, atol=0.25, rtol=0)


@ALL
def test_dropout_acts_in_training_only(preset: str) -> None:
    model: Summarizer = tiny(preset, dropout=0.5)
    assert torch.equal(logits(model, batch(), target()), logits(model, batch(), target()))
    model.train()
    assert not torch.equal(logits(model, batch(), target()), logits(model, batch(), target()))


def test_the_first_logits_are_about_as_wide_as_a_word_is_rare() -> None:
    torch.manual_seed(0)
    model = build_summarizer("ht-small", vocabulary_size=500).eval()
    source = replace(batch(), tokens=batch().tokens)
    deviation = logits(model, source, target()).std(dim=-1).mean()
    assert 0.5 < deviation < 2.0
