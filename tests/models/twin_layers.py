"""The layers of the papers read literally: numpy, float64, one text at a time, from raw parameters.

Nothing of `models/` is called, so a twin made of these cannot share a mistake with the model that it checks. A text
is as long as it is: there is no padding and no mask but what may be seen.

Shapes: T queries, S keys, D model size, H heads, E size of a head, D = H*E.
"""

import math
from collections.abc import Mapping

import numpy as np

Array = np.ndarray


class Weights:
    """The raw parameters of a module and of the modules below it, by name."""

    def __init__(self, values: Mapping[str, Array], prefix: str = "") -> None:
        self._values, self._prefix = values, prefix

    def of(self, name: str | int) -> "Weights":
        """Return the parameters of the module called `name`."""
        return Weights(self._values, f"{self._prefix}{name}.")

    def __getitem__(self, name: str) -> Array:
        return self._values[self._prefix + name]


def position(place: int, size: int) -> Array:
    """Sinusoids of one position (Liu & Lapata 2019, eq. 7-8)."""
    angles = [place / 10_000 ** (2 * i / size) for i in range(size // 2)]
    return np.array([function(angle) for angle in angles for function in (math.sin, math.cos)])


def positions(places: range, size: int) -> Array:
    return np.array([position(place, size) for place in places])


def embed(weights: Weights, tokens: list[int], *, scaled: bool) -> Array:
    """Words [T, D], in embeddings times sqrt(D) where `scaled`."""
    matrix = weights["embedding.weight"]
    return matrix[tokens] * (math.sqrt(matrix.shape[1]) if scaled else 1.0)


def logits(weights: Weights, hidden: Array) -> Array:
    return hidden @ weights["embedding.weight"].T + weights["embedding.bias"]


def linear(weights: Weights, x: Array) -> Array:
    return x @ weights["weight"].T + weights["bias"]


def layer_norm(weights: Weights, x: Array, epsilon: float = 1e-6) -> Array:
    """LayerNorm over the last dimension, with the epsilon of all presets but BART's."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon) * weights["weight"] + weights["bias"]


def feed_forward(weights: Weights, x: Array) -> Array:
    """Two linear layers, a ReLU between them (Liu & Lapata 2019, eq. 12)."""
    return linear(weights.of("outer"), np.maximum(linear(weights.of("inner"), x), 0.0))


def softmax(logits: Array) -> Array:
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def heads_of(x: Array, heads: int) -> Array:
    """[T, D] as [H, T, E]."""
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def attend(q: Array, k: Array, v: Array, heads: int, seen: Array | None = None) -> tuple[Array, Array]:
    """Multi-head attention of projected vectors: contexts [T, D] before the output projection, weights [H, T, S].

    `seen` [T, S] is True where a query may look; a bias [T, S] of floats is added to the logits.
    """
    queries, keys, values = heads_of(q, heads), heads_of(k, heads), heads_of(v, heads)
    scores = queries @ keys.transpose(0, 2, 1) / math.sqrt(queries.shape[-1])
    if seen is not None:
        scores = np.where(seen, scores, -np.inf) if seen.dtype == bool else scores + seen
    weights = softmax(scores)
    return (weights @ values).transpose(1, 0, 2).reshape(len(q), -1), weights


def query_key_value(weights: Weights, x: Array) -> tuple[Array, Array, Array]:
    """The three projections of a self-attention."""
    q, k, v = np.split(linear(weights.of("query_key_value"), x), 3, axis=-1)
    return q, k, v


def self_attention(weights: Weights, x: Array, heads: int, seen: Array | None = None) -> Array:
    context, _ = attend(*query_key_value(weights, x), heads, seen)
    return linear(weights.of("output"), context)


def causal(length: int) -> Array:
    return np.tril(np.ones((length, length), dtype=bool))


def cross_attention(weights: Weights, x: Array, memory: Array, heads: int) -> tuple[Array, Array]:
    """Attention to vectors [S, D]: the output [T, D] and the weights [T, S], averaged over heads."""
    k, v = np.split(linear(weights.of("key_value"), memory), 2, axis=-1)
    context, shares = attend(linear(weights.of("query"), x), k, v, heads)
    return linear(weights.of("output"), context), shares.mean(axis=0)


def enter(weights: Weights, x: Array, norm: str) -> Array:
    """What a sub-layer reads: LayerNorm(x) in a pre-norm model, x in a post-norm one."""
    return layer_norm(weights.of("norm"), x) if norm == "pre" else x


def leave(weights: Weights, x: Array, output: Array, norm: str) -> Array:
    """x + f(...) in a pre-norm model, LayerNorm(x + f(...)) in a post-norm one."""
    return x + output if norm == "pre" else layer_norm(weights.of("norm"), x + output)


def fed(weights: Weights, x: Array, norm: str) -> Array:
    """The feed-forward sub-layer with its residual connection."""
    residual = weights.of("feed_forward_residual")
    return leave(residual, x, feed_forward(weights.of("feed_forward"), enter(residual, x, norm)), norm)


def encoder_layer(weights: Weights, x: Array, heads: int, norm: str) -> Array:
    """A vanilla Transformer layer over the tokens of one text (Liu & Lapata 2019, eq. 11-12)."""
    residual = weights.of("attention_residual")
    attended = self_attention(weights.of("attention"), enter(residual, x, norm), heads)
    return fed(weights, leave(residual, x, attended, norm), norm)


def said(weights: Weights, x: Array, heads: int, norm: str) -> Array:
    """The masked self-attention of a decoder layer with its residual connection."""
    residual = weights.of("self_residual")
    attended = self_attention(weights.of("self_attention"), enter(residual, x, norm), heads, causal(len(x)))
    return leave(residual, x, attended, norm)
