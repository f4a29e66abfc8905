"""Decoder-only summarizers learn to predict their source too: in training, not in validation, and with no [B, S, V]."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.contract import SourceBatch, Summarizer
from models.training import loss as loss_module
from models.training.batches import Batch, Position
from models.training.distributed import Ranks
from models.training.state import TrainerSettings
from models.training.update import Updater
from tests.models.systems import PAD, batch, padded, target, tiny

DECODER_ONLY = ["t-dmca-small", "transformer-xl-small"]
SMOOTHING = 0.1


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def training_batch(source: SourceBatch | None = None, seed: int = 0) -> Batch:
    source = source or batch(seed)
    tokens = target(seed)
    tokens[0, 5:] = PAD
    return Batch(source, tokens, 3, int(source.token_mask.sum()), source.tokens.numel(), Position())


def updater(model: Summarizer, **changes: object) -> Updater:
    settings = TrainerSettings(steps=1, label_smoothing=SMOOTHING, **changes)
    return Updater(model, settings, Ranks(torch.device("cpu")), batch_tokens=100)


def predicted(example: Batch) -> float:
    return float((example.target[:, 1:] != PAD).sum())


def gradients(model: Summarizer, *batches: Batch, **changes: object) -> list[Tensor]:
    """The gradients of an update that moves nothing."""
    updater(model, **changes).update(1, 0.0, batches, sum(map(predicted, batches)))
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]


def cross_entropy(logits: Tensor, tokens: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), tokens.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=SMOOTHING
    )


def close(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_the_gradient_is_that_of_the_mean_loss_over_source_and_target(preset: str) -> None:
    model, example = tiny(preset).train(), training_batch()
    found = gradients(model, example, loss="chunked")
    model.zero_grad()
    memory = model.encode(example.source)
    total = cross_entropy(model.logits(model.decode(example.target[:, :-1], memory).hidden), example.target[:, 1:])
    read = 0
    for article, hidden in zip(example.source.tokens.flatten(1), memory.hidden, strict=True):
        tokens = article[article != PAD]
        total = total + cross_entropy(model.logits(hidden[: len(tokens) - 1]), tokens[1:])
        read += len(tokens) - 1
    (total / (read + predicted(example))).backward()
    close(found, [p.grad for p in model.parameters()])


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_without_the_flag_the_gradient_is_that_of_the_target_alone(preset: str) -> None:
    model, example = tiny(preset, loss_over_input=False).train(), training_batch()
    found = gradients(model, example, loss="chunked")
    model.zero_grad()
    hidden = model.decode(example.target[:, :-1], model.encode(example.source)).hidden
    (cross_entropy(model.logits(hidden), example.target[:, 1:]) / predicted(example)).backward()
    close(found, [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()])
    with_source = gradients(tiny(preset), example, loss="chunked")
    assert max(float((a - b).abs().max()) for a, b in zip(found, with_source, strict=True)) > 1e-2


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_neither_padding_nor_how_articles_are_batched_changes_the_gradient(preset: str) -> None:
    source = batch()
    longer = padded(source, paragraphs=2, tokens=3)
    expected = gradients(tiny(preset), training_batch(source))
    close(gradients(tiny(preset), training_batch(longer)), expected)
    whole, parts = training_batch(source), []
    for rows in ([0], [1, 2]):
        part = replace(source, tokens=source.tokens[rows], ranks=source.ranks[rows], title=source.title[rows])
        parts.append(replace(whole, source=replace(part, graph=None), target=whole.target[rows]))
    close(gradients(tiny(preset), *parts), expected)


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_validation_and_what_is_told_of_training_are_of_the_target_alone(preset: str) -> None:
    example = training_batch()
    runs = [updater(tiny(preset, loss_over_input=flag)) for flag in (True, False)]
    assert runs[0].losses(example) == runs[1].losses(example)
    told = [run.update(1, 0.0, [example], predicted(example)) for run in runs]
    assert (told[0].smoothed, told[0].nll) == (told[1].smoothed, told[1].nll)
    assert (told[0].smoothed, told[0].nll) == pytest.approx(runs[0].losses(example), rel=1e-5)
    assert told[0].gradient_norm != pytest.approx(told[1].gradient_norm, rel=1e-2)


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_the_gradient_norm_told_is_that_of_the_gradient(preset: str) -> None:
    model, example = tiny(preset), training_batch()
    told = updater(model).update(1, 0.0, [example], predicted(example))
    squares = sum(float(p.grad.square().sum()) for p in model.parameters())
    assert told.gradient_norm == pytest.approx(squares**0.5, rel=1e-5)


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_never_more_than_a_chunk_of_source_positions_has_logits(preset: str, monkeypatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK", 8)
    model, sizes = tiny(preset), []
    plain = model.logits

    def seen(hidden: Tensor) -> Tensor:
        sizes.append(len(hidden))
        return plain(hidden)

    monkeypatch.setattr(model, "logits", seen)
    example = training_batch()  # 12 + 16 + 24 source tokens, less one an article
    assert int(example.source.token_mask.sum()) == 52
    gradients(model, example, loss="chunked")
    # Each chunk's logits are made forward and once more backward.
    assert sum(sizes) == 2 * (52 - 3 + predicted(example))
    assert max(sizes) == 8


def test_other_summarizers_learn_from_the_target_alone() -> None:
    model, example = tiny("ht").train(), training_batch()
    found = gradients(model, example, loss="chunked")
    model.zero_grad()
    hidden = model.decode(example.target[:, :-1], model.encode(example.source)).hidden
    (cross_entropy(model.logits(hidden), example.target[:, 1:]) / predicted(example)).backward()
    close(found, [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()])
