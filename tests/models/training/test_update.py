"""What an update minimises: the loss of the target, of the source where the model predicts it, and the extra loss.

The two further losses are in the gradient alone, never in what is told; and no [B, S, V] is made.
"""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.training import token_objective as loss_module
from models.training.batches import Batch, Position
from models.training.distributed import Ranks
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective, copy_loss
from models.training.trainer import Updater
from tests.models.systems import PAD, batch, padded, target, tiny

DECODER_ONLY = ["t-dmca-small", "transformer-xl-small"]
SMOOTHING = 0.1


pytestmark = pytest.mark.usefixtures("float64")


def training_batch(source: SourceBatch | None = None, seed: int = 0) -> Batch:
    source = source or batch(seed)
    tokens = target(seed)
    tokens[0, 5:] = PAD
    return Batch(source, tokens, 3, int(source.token_mask.sum()), source.tokens.numel(), Position())


def updater(model: Summarizer, loss: str = "auto", **changes: object) -> Updater:
    objective = TokenObjective(model, batch_tokens=100, label_smoothing=SMOOTHING, loss_method=loss)
    return Updater(objective, TrainerSettings(steps=1, **changes), Ranks(torch.device("cpu")))


def predicted(example: Batch) -> float:
    return float((example.target[:, 1:] != PAD).sum())


def gradients(model: Summarizer, *batches: Batch, **changes: object) -> list[Tensor]:
    """The gradients of an update that moves nothing."""
    updater(model, **changes).update(1, [0.0], batches, sum(map(predicted, batches)))
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]


def cross_entropy(logits: Tensor, tokens: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), tokens.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=SMOOTHING
    )


def close(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-7)


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
    told = [run.update(1, [0.0], [example], predicted(example)) for run in runs]
    assert told[0][1] == told[1][1]
    assert told[0][1] == pytest.approx(runs[0].losses(example), rel=1e-9)
    assert told[0][0] != pytest.approx(told[1][0], rel=1e-2)


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_the_gradient_norm_told_is_that_of_the_gradient(preset: str) -> None:
    model, example = tiny(preset), training_batch()
    norm, _ = updater(model).update(1, [0.0], [example], predicted(example))
    squares = sum(float(p.grad.square().sum()) for p in model.parameters())
    assert norm == pytest.approx(squares**0.5, rel=1e-9)


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


def test_the_extra_loss_is_in_the_gradient_where_there_is_a_token_to_predict() -> None:
    model, example = tiny("ptgen-cov", coverage_loss=0.7).train(), training_batch()
    found = gradients(model, example)
    model.zero_grad()
    labels = example.target[:, 1:]
    decoded = model.decode(example.target[:, :-1], model.encode(example.source))
    weights = decoded.copied.weights
    covered = weights.cumsum(dim=1) - weights
    repeated = torch.minimum(weights, covered).sum(dim=-1)[labels != PAD].sum()
    smoothed = copy_loss(model, decoded, labels, pad=PAD, smoothing=SMOOTHING).smoothed
    ((smoothed + 0.7 * repeated) / predicted(example)).backward()
    close(found, [p.grad for p in model.parameters()])


def test_the_extra_loss_is_in_no_loss_that_is_told() -> None:
    example = training_batch()
    runs = [updater(tiny("ptgen-cov", coverage_loss=weight)) for weight in (0.0, 50.0)]
    assert runs[0].losses(example) == runs[1].losses(example)
    told = [run.update(1, [0.0], [example], predicted(example)) for run in runs]
    assert told[0][1] == told[1][1]
    assert told[0][0] != pytest.approx(told[1][0], rel=1e-2)


def test_adam_moves_as_the_released_ht_does() -> None:
    # Liu & Lapata's (2019) released code: betas .9 and .998, epsilon 1e-9. Two updates with the gradients g and h move
    # a weight by rate x m / sqrt(v), m = (.1 x .9 g + .1 h) / (1 - .81), v = (.002 x .998 g^2 + .002 h^2) / (1 -
    # .998^2).
    run = updater(tiny("ht"))
    weight = run.model.embedding.bias
    examples = [training_batch(), training_batch(seed=3)]
    steps, moved = [], []
    for step, example in enumerate(examples, start=1):
        before = weight.detach().clone()
        run.update(step, [0.01], [example], predicted(example))
        steps.append(weight.grad.double())
        moved.append((weight.detach() - before).double())
    g, h = steps
    torch.testing.assert_close(moved[0], -0.01 * g / (g.abs() + 1e-9), atol=1e-6, rtol=0)
    m, v = (0.09 * g + 0.1 * h) / 0.19, (0.002 * 0.998 * g**2 + 0.002 * h**2) / (1 - 0.998**2)
    torch.testing.assert_close(moved[1], -0.01 * m / (v.sqrt() + 1e-9), atol=1e-6, rtol=0)


def test_each_process_draws_its_own_dropout_and_each_step_another() -> None:
    def gradient(rank: int, step: int = 1, seed: int = 0) -> Tensor:
        settings = TrainerSettings(steps=9, seed=seed)
        objective = TokenObjective(tiny("ht", dropout=0.3), batch_tokens=100)
        run = Updater(objective, settings, Ranks(torch.device("cpu"), rank=rank))
        run.update(step, [0.0], [training_batch()], 10.0)
        return run.model.embedding.weight.grad

    first = gradient(rank=0)
    assert torch.equal(gradient(rank=0), first)
    for other in (gradient(rank=1), gradient(rank=0, step=2), gradient(rank=0, seed=1)):
        assert not torch.allclose(other, first, atol=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "how",
    [
        {"disable": True},  # the call alone; tracing takes a minute
        pytest.param({"backend": "eager"}, marks=pytest.mark.slow),
    ],
    ids=["called", "traced"],
)
def test_a_compiled_model_learns_the_same(how: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    used: list[object] = []
    compiler = torch.compile

    def traced(module: torch.nn.Module, **options: object) -> object:
        asked.append(options)
        compiled = compiler(module, **how, **options)
        compiled.register_forward_hook(lambda *_: used.append(compiled))
        return compiled

    monkeypatch.setattr(torch, "compile", traced)
    example = training_batch()
    expected = gradients(tiny("ht"), example, loss="chunked")
    assert not asked
    close(gradients(tiny("ht"), example, loss="chunked", compile=True), expected)
    assert asked == [{"dynamic": True}]  # lengths differ from batch to batch
    assert len(used) == 1


@pytest.mark.parametrize(
    ("precision", "device", "expected"),
    [
        ("auto", "cuda", True),
        ("auto", "cpu", False),
        ("float32", "cuda", False),
        ("bfloat16", "cuda", True),
        ("bfloat16", "cpu", True),
    ],
)
def test_auto_computes_in_bfloat16_on_cuda_alone(
    precision: str, device: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, asked = tiny("ht"), []
    autocast = torch.autocast

    def seen(kind: str, **options: object) -> torch.autocast:
        asked.append((kind, options))
        return autocast("cpu", enabled=False)

    # A machine without CUDA makes the same choice, but cannot move the model there.
    monkeypatch.setattr(model, "to", lambda _device: model)
    monkeypatch.setattr(torch, "autocast", seen)
    objective = TokenObjective(model, batch_tokens=100)
    Updater(objective, TrainerSettings(steps=1, precision=precision), Ranks(torch.device(device)))
    assert asked == [(device, {"dtype": torch.bfloat16, "enabled": expected})]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_auto_is_bfloat16_on_cuda() -> None:
    found = {}
    for precision in ("auto", "bfloat16", "float32"):
        settings = TrainerSettings(steps=1, precision=precision)
        # In float32, for autocast leaves float64 as it is.
        run = Updater(TokenObjective(tiny("ht").float(), batch_tokens=100), settings, Ranks(torch.device("cuda")))
        found[precision] = run.losses(training_batch())
    assert found["auto"] == found["bfloat16"] != found["float32"]
