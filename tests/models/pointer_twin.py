"""The pointer-generator of See et al. 2017 read literally: numpy, one article, a step after the other, raw parameters.

Nothing of `models/` is called. An LSTM of the encoder has no bias but the last column of the weights of its input.

Shapes: S source tokens, T target tokens, E size of an embedding, D size of an LSTM, V vocabulary.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.models.twin_layers import Array, Weights, linear, softmax


@dataclass(frozen=True)
class PointerStep:
    """What is known after a target token."""

    logits: Array  # [V]
    attention: Array  # [S], eq. 2
    p_gen: float  # eq. 8
    probabilities: Array  # [V], eq. 9
    repeated: float  # eq. 12


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm(gates: Array, cell: Array) -> tuple[Array, Array]:
    """Output and cell [D] after one step, from input, forget, new and output gate before their functions [4D]."""
    enter, keep, new, leave = np.split(gates, 4)
    cell = sigmoid(keep) * cell + sigmoid(enter) * np.tanh(new)
    return sigmoid(leave) * np.tanh(cell), cell


def read(weights: Weights, suffix: str, words: Iterable[Array]) -> tuple[list[Array], Array, Array]:
    """Outputs of every step, the last output and the last cell of one direction of the encoder."""
    entering, recurring = weights[f"weight_ih_l0{suffix}"], weights[f"weight_hh_l0{suffix}"]
    output = cell = np.zeros(recurring.shape[1])
    outputs = []
    for word in words:
        output, cell = lstm(entering[:, :-1] @ word + entering[:, -1] + recurring @ output, cell)
        outputs.append(output)
    return outputs, output, cell


def pointer_steps(
    weights: Weights, tokens: Sequence[int], target: Sequence[int], *, coverage: bool
) -> list[PointerStep]:
    words = weights["embedding.weight"]
    forward, forward_output, forward_cell = read(weights.of("encoder"), "", [words[token] for token in tokens])
    backward, backward_output, backward_cell = read(
        weights.of("encoder"), "_reverse", [words[token] for token in reversed(tokens)]
    )
    h = [np.concatenate(pair) for pair in zip(forward, reversed(backward), strict=True)]
    output = np.maximum(linear(weights.of("first_output"), np.concatenate((forward_output, backward_output))), 0)
    cell = np.maximum(linear(weights.of("first_cell"), np.concatenate((forward_cell, backward_cell))), 0)
    context, covered, steps = np.zeros(2 * len(output)), np.zeros(len(tokens)), []
    for token in target:
        x = linear(weights.of("feed"), np.concatenate((words[token], context)))
        output, cell = lstm(linear(weights.of("recurrence"), np.concatenate((x, output))), cell)
        s = np.concatenate((cell, output))
        energies = []
        for i, state in enumerate(h):  # eq. 11, without its coverage term eq. 1
            inner = weights["key.weight"] @ state + linear(weights.of("query"), s)
            if coverage:
                inner = inner + weights["coverage"] * covered[i]
            energies.append(weights["score"] @ np.tanh(inner))
        attention = softmax(np.array(energies))
        context = sum(share * state for share, state in zip(attention, h, strict=True))
        logits = linear(weights.of("vocabulary"), linear(weights.of("hidden"), np.concatenate((output, context))))
        p_gen = float(sigmoid(linear(weights.of("gate"), np.concatenate((context, s, x)))[0]))
        probabilities = p_gen * softmax(logits)
        for share, piece in zip(attention, tokens, strict=True):
            probabilities[piece] += (1 - p_gen) * share
        repeated = sum(min(now, before) for now, before in zip(attention, covered, strict=True))
        covered = covered + attention
        steps.append(PointerStep(logits, attention, p_gen, probabilities, repeated))
    return steps
