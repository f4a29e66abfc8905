"""The attention predictor: its size, its labels, what it learns, and what its prediction is used for."""

import json
from dataclasses import asdict, replace

import pytest
import torch

from models.attention_predictor import (
    AttentionAlignment,
    AttentionPredictor,
    AttentionPredictorConfig,
    attention_labels,
    attention_loss,
    compress_source,
    expected_attention,
    normalised_scores,
    paragraph_memory,
)
from models.layers.config import configured
from models.layers.decoder import ParallelMemory
from models.presets import PREDICTABLE, check_predictable, find_preset
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from tests.models.systems import PAD, batch, padded, target, tiny


@pytest.fixture(autouse=True)
def _seeded(float64: None) -> None:
    torch.manual_seed(0)


def predictor(**fields: float) -> AttentionPredictor:
    return AttentionPredictor(AttentionPredictorConfig(model_size=16, feed_forward_size=32, **fields))


def test_parameters_equal_the_ledger() -> None:
    model = AttentionPredictor(AttentionPredictorConfig())
    assert sum(parameter.numel() for parameter in model.parameters()) == 1_579_777


def test_expects_a_distribution_over_paragraphs_that_exist() -> None:
    expected = expected_attention(predictor().eval(), tiny("pht"), batch())
    torch.testing.assert_close(expected.sum(dim=-1), torch.ones(3))
    assert expected[0, 2:].eq(0).all()
    assert expected[0, :2].gt(0).all()


def test_padding_changes_nothing() -> None:
    model, summarizer = predictor().eval(), tiny("pht")
    expected = expected_attention(model, summarizer, batch())
    longer = expected_attention(model, summarizer, padded(batch(), paragraphs=2, tokens=3))
    torch.testing.assert_close(longer[:, :4], expected, atol=1e-10, rtol=0)


def test_labels_are_the_attention_summed_over_the_targets_tokens() -> None:
    summarizer, source = tiny("pht"), batch()
    memory = summarizer.encode(source)
    tokens = target()
    tokens[1, 4:] = PAD
    labels = attention_labels(summarizer, memory, tokens, PAD)
    attention = summarizer.decode(tokens[:, :-1], memory).paragraph_attention
    torch.testing.assert_close(labels[0], attention[0].mean(dim=0))
    torch.testing.assert_close(labels[1], attention[1, :3].mean(dim=0))  # three tokens follow the begin token
    assert not labels.requires_grad


def test_learns_the_labels() -> None:
    summarizer, source = tiny("pht"), batch()
    memory = summarizer.encode(source)
    labels = attention_labels(summarizer, memory, target(), PAD)
    paragraphs = paragraph_memory(memory)
    model = predictor(dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(60):
        expected = model(paragraphs.paragraphs.detach(), paragraphs.paragraph_mask)
        loss = attention_loss(expected, labels, paragraphs.paragraph_mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 50
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_the_loss_counts_paragraphs_that_exist() -> None:
    mask = torch.tensor([[True, True, False]])
    loss = attention_loss(torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.9, 0.1, 0.0]]), mask)
    assert loss.item() == pytest.approx(0.16)


def test_configurations_are_json() -> None:
    model = predictor(dropout=0.25)
    again = AttentionPredictor(AttentionPredictorConfig(**json.loads(json.dumps(asdict(model.config)))))
    assert again.config == model.config
    with pytest.raises(ValueError, match=r"unknown field 'depth' for an attention predictor, expected some"):
        configured(AttentionPredictorConfig, {"depth": 2}, "an attention predictor")
    with pytest.raises(ValueError, match="heads must divide model_size 16, got 3"):
        predictor(heads=3)


def test_summarizers_without_paragraph_embeddings_are_refused() -> None:
    with pytest.raises(ValueError, match="TokenMemory has none"):
        paragraph_memory(tiny("ht").encode(batch()))


def test_scores_of_the_ranker_as_a_distribution() -> None:
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    found = normalised_scores(torch.tensor([[0.6, 0.2, 0.9], [0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]), mask)
    torch.testing.assert_close(found, torch.tensor([[0.75, 0.25, 0.0], [1 / 3] * 3, [0.0] * 3]))


def test_alignment_draws_the_search_towards_the_expected_paragraphs() -> None:
    summarizer = tiny("pht")
    with torch.no_grad():
        summarizer.projection()[0].mul_(4.0)
    source = batch(articles=3)
    settings = SearchSettings(beam=4, normalisation="average", min_length=3, max_length=8)
    expected = torch.tensor([[0.05, 0.95, 0.0, 0.0], [0.05, 0.05, 0.05, 0.85], [0.85, 0.05, 0.05, 0.05]])

    def distance(beta: float) -> float:
        scorers = [AttentionAlignment(expected, beta=beta)]
        found = beam_search(summarizer, source, settings, begin=2, end=3, scorers=scorers)
        shares = torch.stack([hypothesis.attention.mean(dim=0) for hypothesis in found])
        return torch.minimum(shares, expected).sum().item()

    assert distance(50.0) > distance(0.0)


def test_compression_keeps_the_most_attended_paragraphs_in_order() -> None:
    source = batch()
    expected = torch.tensor([[0.3, 0.7, 0.0, 0.0], [0.1, 0.4, 0.2, 0.3], [0.4, 0.3, 0.2, 0.1]])
    small, _ = compress_source(source, expected, kept=2)
    assert small.ranks.tolist() == [[0, 1], [1, 3], [0, 1]]
    assert torch.equal(small.tokens[1], source.tokens[1, [1, 3]])
    assert torch.equal(small.graph[1], source.graph[1][[1, 3]][:, [1, 3]])
    assert torch.equal(compress_source(source, expected, kept=9)[0].tokens, source.tokens)
    one, _ = compress_source(replace(source, graph=None), expected, kept=1)
    assert one.ranks.tolist() == [[1], [1], [0]]
    assert one.graph is None
    with pytest.raises(ValueError, match="expected at least 1 paragraph to keep, got 0"):
        compress_source(source, expected, kept=0)


@pytest.mark.parametrize("preset", ["pht", "graphsum", "ht", "vht", "ft-800", "t-dmca", "transformer-xl"])
def test_architectures_with_paragraph_embeddings_are_listed(preset: str) -> None:
    architecture = find_preset(preset).architecture
    assert (architecture in PREDICTABLE) == isinstance(tiny(preset).encode(batch()), ParallelMemory)
    if architecture not in PREDICTABLE:
        with pytest.raises(ValueError, match=f"not for one of '{architecture}'"):
            check_predictable(architecture)
