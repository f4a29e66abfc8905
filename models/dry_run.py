"""One forward pass of a preset at its full size, with random weights: shapes, parameters and memory.

Shapes: T target tokens, P documents, V vocabulary.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from models.contract import SourceBatch, Summarizer
from models.presets import find_preset
from models.registry import build_summarizer
from models.training.token_objective import TokenObjective

DOCUMENTS = 4
_FP32, _ADAM = 4, 16  # bytes of a weight; and with its gradient and both moments of Adam


@dataclass(frozen=True)
class DryRun:
    """What a forward pass found."""

    logits: tuple[int, ...]  # shape of the logits, [1, T, V]
    attention: tuple[int, ...]  # shape of the attention to documents, [1, T, P]
    parameters: int  # number of weights
    kept: int  # bytes that the forward pass of a training step keeps for its backward pass

    def __str__(self) -> str:
        return (
            f"logits {list(self.logits)}, attention to documents {list(self.attention)}; {self.parameters:,} "
            f"parameters, {_FP32 * self.parameters / 1e9:.2f} GB in fp32, {_ADAM * self.parameters / 1e9:.2f} GB with "
            f"gradients and Adam; a training step keeps {self.kept / 1e9:.2f} GB besides"
        )


def dry_run(preset: str, tokens: int, target: int) -> DryRun:
    """Run one article of so many source and `target` tokens, in equal documents, through a preset at its published
    vocabulary size; a preset that reads fewer cuts it. Raises ValueError: there is no such preset, its library is
    missing, its decoder has fewer positions than `target`, or `tokens` are not enough for the documents."""
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
        shapes = tuple(model.logits(decoded.hidden).shape), tuple(decoded.paragraph_attention.shape)
    kept = kept_bytes(model.train(), source, target_1T)
    return DryRun(*shapes, sum(parameter.numel() for parameter in model.parameters()), kept)


def kept_bytes(model: Summarizer, source: SourceBatch, target: Tensor) -> int:
    """Return the bytes that a forward pass keeps for the backward pass, each storage once, weights left out. On a GPU
    it is the allocator's peak that counts; this is what autograd stores."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            storages[tensor.untyped_storage().data_ptr()] = tensor  # kept alive, so that no address is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        TokenObjective(model, batch_tokens=0).loss(source, target)
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())
