"""`python -m models`: list every summarizer and the attention predictor with its size, published size and paper.

    python -m models hed bart-large --tokens 1024

runs one article through presets at their full size and prints shapes, parameters and memory.
"""

import argparse
import sys

import torch
from torch import Tensor

from models.attention_predictor import AttentionPredictor, AttentionPredictorConfig
from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.presets import PRESETS, check_library, find_preset
from models.registry import build_summarizer
from models.training.token_objective import TokenObjective

DOCUMENTS = 4
_FP32, _ADAM = 4, 16  # bytes of a weight; and with its gradient and both moments of Adam


def dry_run(preset: str, tokens: int, target: int) -> str:
    """Run one article of so many source and `target` tokens, in equal documents, through a preset at its published
    vocabulary size; a preset that reads fewer cuts it. Return the shapes of logits [1, T, V] and attention [1, T, P],
    and what weights and the forward pass of a training step need, in words. Raises ValueError: the preset is
    not known, its library is missing, its decoder has fewer positions than `target`, or `tokens` are not enough for the
    documents."""
    if tokens < DOCUMENTS or target < 1:
        raise ValueError(f"expected at least {DOCUMENTS} source tokens and 1 target token, got {tokens} and {target}")
    words, pad = find_preset(preset).words, 1
    model = build_summarizer(preset, vocabulary_size=words, pad=pad).eval()
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(2, words, (1, DOCUMENTS, tokens // DOCUMENTS), generator=generator)
    source = SourceBatch(
        ids, torch.arange(DOCUMENTS).unsqueeze(0), ids[:, 0, :2], pad, torch.ones(1, DOCUMENTS, DOCUMENTS)
    )
    target_1T = torch.randint(2, words, (1, target + 1), generator=generator)
    with torch.no_grad():
        decoded = model.decode(target_1T[:, :-1], model.encode(source))
        assert decoded.paragraph_attention is not None
        logits, attention = list(model.logits(decoded.hidden).shape), list(decoded.paragraph_attention.shape)
    kept, parameters = kept_bytes(model.train(), source, target_1T), sum(p.numel() for p in model.parameters())
    return (
        f"logits {logits}, attention to documents {attention}; {parameters:,} parameters, "
        f"{_FP32 * parameters / 1e9:.2f} GB in fp32, {_ADAM * parameters / 1e9:.2f} GB with gradients and Adam; a "
        f"training step keeps {kept / 1e9:.2f} GB besides"
    )


def kept_bytes(model: Summarizer, source: SourceBatch, target: Tensor) -> int:
    """Return the bytes that a forward pass keeps for the backward pass, each storage once, weights left out. The
    allocator's peak counts on a GPU; this is what autograd stores."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            storages[tensor.untyped_storage().data_ptr()] = tensor  # kept alive, so that no address is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        TokenObjective(model, batch_tokens=0).loss(source, target)
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())


def count_parameters(preset: str, vocabulary_size: int | None = None) -> int:
    """Return the number of parameters of a preset, without allocating them; by default at the published vocabulary."""
    with torch.device("meta"):
        model = build_summarizer(preset, vocabulary_size=vocabulary_size or PRESETS[preset].words)
    return sum(parameter.numel() for parameter in model.parameters())


def describe(ledger: int | tuple[int, int] | None, counted: int | None) -> str:
    """Return the published number of parameters and, where `counted` is known and differs, by how much."""
    if ledger is None:
        return "-"
    low, high = (ledger, ledger) if isinstance(ledger, int) else ledger
    published = f"{low:,}" if low == high else f"{low:,}-{high:,}"
    if counted is None or low <= counted <= high:
        return published
    nearest = low if counted < low else high
    return f"{published} ({(counted - nearest) / nearest:+.1%})"


def listing() -> str:
    """Return the table that the command prints."""
    rows: list[tuple[str, ...]] = [("preset", "parameters", "ledger", "paper", "what it is")]
    remarks: list[tuple[str, ...]] = [()]
    for name, preset in PRESETS.items():
        count, lacking = None, ""
        try:
            check_library(preset.architecture)
            count = count_parameters(name)
        except ValueError as error:  # its library is missing
            lacking = str(error)
        shown = "-" if count is None else f"{count:,}"
        rows.append((name, shown, describe(preset.parameters, count), preset.paper, preset.note))
        remarks.append((lacking, preset.differences, preset.reading))
    with torch.device("meta"):
        predictor = AttentionPredictor(AttentionPredictorConfig())
    count = sum(parameter.numel() for parameter in predictor.parameters())
    note = "attention predictor of PHT + attAlign: 2 encoder layers on its paragraphs"
    source = "Ma & Zong 2022, sec. 4.2"
    rows.append(("attention-predictor", f"{count:,}", describe(1_579_777, count), source, note))
    remarks.append(("paper: alignment counts at every step; released: when a hypothesis ends",))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for (first, shown, *rest), own in zip(rows, remarks, strict=True):
        cells = [f"{cell:<{width}}" for cell, width in zip(rest, widths[2:], strict=True)]
        lines.append("  ".join((f"{first:<{widths[0]}}", f"{shown:>{widths[1]}}", *cells)).rstrip())
        lines += [f"{'':<{widths[0]}}    {remark}" for remark in own if remark]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m models", description="list every summarizer, or run presets once at their full size"
    )
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="presets to run; none = list all")
    parser.add_argument("--tokens", type=int, default=1024, help="tokens of the source (default 1024)")
    parser.add_argument("--target", type=int, default=128, help="tokens of the target (default 128)")
    options = parser.parse_args(arguments)
    if not options.presets:
        sys.stdout.write(listing() + "\n")
    try:
        for preset in options.presets:
            check_library(find_preset(preset).architecture)  # of all, before the first takes its time
        for preset in options.presets:
            sys.stdout.write(f"{preset}: {dry_run(preset, options.tokens, options.target)}\n")
            sys.stdout.flush()
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
