"""A plain twin of each architecture: raw parameters and token ids in, logits and paragraph attention out.

Each reads one article as its paper describes it: paragraphs best first, each of as many tokens as it has. A twin
returns logits [T, V] and the attention to the article's paragraphs [T, P], these in the order of their ranks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.models.bart_twin import bart_steps
from tests.models.pointer_twin import pointer_steps
from tests.models.twin_layers import (
    Array,
    Weights,
    attend,
    cross_attention,
    embed,
    encoder_layer,
    enter,
    fed,
    feed_forward,
    layer_norm,
    leave,
    linear,
    logits,
    position,
    positions,
    query_key_value,
    said,
    self_attention,
    softmax,
)

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Article:
    """One article: token ids of its paragraphs, best first, their ranks, and the edges between them [P, P]."""

    paragraphs: Sequence[list[int]]
    ranks: Sequence[int]
    graph: Array

    def flat(self, limit: int | None = None) -> tuple[list[int], Array]:
        """The first `limit` tokens of all paragraphs, and [S, P] which paragraph each is of."""
        tokens = [token for paragraph in self.paragraphs for token in paragraph][:limit]
        owners = [number for number, paragraph in enumerate(self.paragraphs) for _ in paragraph][:limit]
        return tokens, np.eye(len(self.paragraphs))[owners]


def flat(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """FT: the Transformer of Vaswani et al. over the first tokens of all paragraphs."""
    tokens, member = article.flat(config["source_tokens"])
    x = embed(weights, tokens, scaled=config["scale_embeddings"]) + positions(range(len(tokens)), config["model_size"])
    for number in range(config["encoder_layers"]):
        x = encoder_layer(weights.of("layers").of(number), x, config["heads"], config["norm"])
    return _token_decoder(weights, config, x, member, target)


def bart(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """BART, HED and Hie-BART."""
    return bart_steps(weights, config, article.paragraphs, target)


def pointer_generator(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """PTGEN and PTGEN+COV: what the vocabulary says before anything is copied."""
    tokens, member = article.flat(config["source_tokens"])
    steps = pointer_steps(weights, tokens, target, coverage=config["coverage"])
    return np.array([step.logits for step in steps]), np.array([step.attention for step in steps]) @ member


def hierarchical(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """HT (Liu & Lapata 2019, sec. 3.2): local layers, global layers, a decoder over all tokens."""
    size, half = config["model_size"], config["model_size"] // 2
    texts = []
    for tokens, rank in zip(article.paragraphs, article.ranks, strict=True):
        places = positions(range(len(tokens)), size)
        if config["paragraph_positions"]:  # eq. 9
            token, ranked = positions(range(len(tokens)), half), np.tile(position(rank, half), (len(tokens), 1))
            released = config["position_order"] == "token-rank"
            places = np.concatenate((token, ranked) if released else (ranked, token), axis=1)
        x = embed(weights, tokens, scaled=config["scale_embeddings"]) + places
        for number in range(config["local_layers"]):
            x = encoder_layer(weights.of("local_layers").of(number), x, config["heads"], config["norm"])
        texts.append(x)
    for number in range(config["global_layers"]):
        texts = _global_layer(weights.of("global_layers").of(number), config, texts, article.graph)
    return _token_decoder(weights, config, np.concatenate(texts), article.flat()[1], target)


def _global_layer(weights: Weights, config: Config, texts: list[Array], graph: Array) -> list[Array]:
    """Eq. 13-24: pool each paragraph, attend among them, give the context to every token."""
    heads, size = config["pooling_heads"] or config["heads"], config["model_size"]
    pre, width = config["norm"] == "pre", config["model_size"] // heads
    entered = [layer_norm(weights.of("pooling_norm"), x) if pre else x for x in texts]
    how, projected = config["pooling_weights"], config["pooling_projection"]
    pooled = np.stack([_pool(weights.of("pooling"), x, heads, how, projected) for x in entered])  # [P, H, E]
    contexts = np.zeros((len(texts), heads, width))
    for z in range(heads):
        projection = weights.of("attention").of("project")
        if config["inter_projections"] == "shared":
            triple = linear(projection, pooled[:, z])
        else:
            triple = pooled[:, z] @ projection["weight_HEC"][z] + projection["bias_HC"][z]
        q, k, v = np.split(triple, 3, axis=-1)  # eq. 17-19
        shares = softmax(q @ k.T / (width**0.5 if config["inter_scaled"] else 1.0))  # eq. 20
        if config["graph"] != "none" and z == heads - 1:
            shares = graph / graph.sum(axis=1, keepdims=True)  # eq. 24
        contexts[:, z] = shares @ v
    told = linear(weights.of("output"), contexts.reshape(len(texts), size))  # eq. 21
    left = []
    for x, c in zip(texts, told, strict=True):
        informed = x + c
        g = feed_forward(weights.of("feed_forward"), enter(weights.of("residual"), informed, config["norm"]))  # eq. 22
        kept = informed if config["global_residual"] == "g+(x+c)" else x
        left.append(leave(weights.of("residual"), kept, g, config["norm"]))  # eq. 23
    return left


def _pool(weights: Weights, x: Array, heads: int, how: str, projected: bool) -> Array:
    """Multi-head pooling of the tokens of a paragraph, [H, E] (Liu & Lapata 2019, eq. 13-16)."""
    scores = linear(weights.of("score"), x)  # [L, H], eq. 13
    values = linear(weights.of("value"), x).reshape(len(x), heads, -1)  # eq. 14
    shares = softmax(scores.T).T if how == "normalised" else scores  # eq. 15
    pooled = np.einsum("lh,lhe->he", shares, values)
    if projected:  # W_c of eq. 16
        matrices, biases = weights["projection.weight_HEC"], weights["projection.bias_HC"]
        pooled = np.einsum("he,hec->hc", pooled, matrices) + biases
    return layer_norm(weights.of("norm"), pooled)


def _token_decoder(
    weights: Weights, config: Config, memory: Array, member: Array, target: list[int]
) -> tuple[Array, Array]:
    """The decoder over the tokens of an article [S, D]; `member` [S, P] says whose they are."""
    norm, decoder = config["norm"], weights.of("decoder")
    if norm == "pre":
        memory = layer_norm(weights.of("final_norm"), memory)
    x = _target(weights, config, target)
    attention = np.zeros((len(target), member.shape[1]))
    for number in range(config["decoder_layers"]):
        layer = decoder.of("layers").of(number)
        x = said(layer, x, config["heads"], norm)
        residual = layer.of("cross_residual")
        crossed, shares = cross_attention(
            layer.of("cross_attention"), enter(residual, x, norm), memory, config["heads"]
        )
        attention += shares @ member / config["decoder_layers"]
        x = fed(layer, leave(residual, x, crossed, norm), norm)
    if norm == "pre":
        x = layer_norm(decoder.of("final_norm"), x)
    return logits(weights, x), attention


def _target(weights: Weights, config: Config, target: list[int], start: int = 0) -> Array:
    """Embeddings of the target's tokens at the positions from `start` on."""
    places = positions(range(start, start + len(target)), config["model_size"])
    return embed(weights, target, scaled=config["scale_embeddings"]) + places


def _words(weights: Weights, config: Config, tokens: list[int]) -> Array:
    """The words of a paragraph as PHT and VHT encode them (Ma & Zong 2020, eq. 1)."""
    x = embed(weights, tokens, scaled=config["scale_embeddings"]) + positions(range(len(tokens)), config["model_size"])
    for number in range(config["encoder_layers"]):
        x = encoder_layer(weights.of("encoder_layers").of(number), x, config["heads"], "post")
    return x


def parallel(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """PHT (Ma & Zong 2020, sec. 3.1): paragraph attention weighs what is read from each paragraph's words."""
    heads, size = config["heads"], config["model_size"]
    words = [_words(weights, config, tokens) for tokens in article.paragraphs]
    embeddings = np.stack(
        [
            _paragraph_embedding(weights.of("pooling"), x, heads) + position(rank, size)  # eq. 6
            for x, rank in zip(words, article.ranks, strict=True)
        ]
    )
    x = _target(weights, config, target)
    attention = np.zeros((len(target), len(words)))
    for number in range(config["decoder_layers"]):
        layer = weights.of("decoder_layers").of(number)
        x = said(layer, x, heads, "post")
        context, alpha = cross_attention(layer.of("paragraph_attention"), x, embeddings, heads)  # eq. 7
        for p, text in enumerate(words):
            context = context + alpha[:, p : p + 1] * cross_attention(layer.of("word_attention"), x, text, heads)[0]
        attention += alpha / config["decoder_layers"]
        x = fed(layer, leave(layer.of("cross_residual"), x, context, "post"), "post")  # eq. 10
    return logits(weights, x), attention


def _paragraph_embedding(weights: Weights, x: Array, heads: int) -> Array:
    """The embedding of a paragraph of words [L, D] (Ma & Zong 2020, eq. 2-5)."""
    values = linear(weights.of("value"), x).reshape(len(x), heads, -1)  # eq. 2
    scores = np.einsum("lhe,he->hl", values, weights["score"]) / values.shape[-1] ** 0.5
    pooled = np.einsum("hl,lhe->he", softmax(scores), values)  # eq. 3
    normed = layer_norm(weights.of("pooled_norm"), linear(weights.of("output"), pooled.reshape(-1)))  # eq. 4
    return leave(weights.of("residual"), normed, feed_forward(weights.of("feed_forward"), normed), "post")  # eq. 5


def vertical(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """VHT (Ma & Zong 2020, sec. 3.2): what a position reads from the words of a paragraph is that paragraph to it."""
    heads, size = config["heads"], config["model_size"]
    words = [_words(weights, config, tokens) for tokens in article.paragraphs]
    x = _target(weights, config, target)
    attention = np.zeros((len(target), len(words)))
    for number in range(config["decoder_layers"]):
        layer = weights.of("decoder_layers").of(number)
        x = said(layer, x, heads, "post")
        read = []
        for text, rank in zip(words, article.ranks, strict=True):
            paragraph = cross_attention(layer.of("word_attention"), x, text, heads)[0] + position(rank, size)  # eq. 11
            if config["ranking_norm"]:
                query = x if config["ranking_residual"] else 0.0
                paragraph = leave(layer.of("ranking_residual"), query, paragraph, "post")
            read.append(paragraph)
        chosen = np.zeros_like(x)
        for t in range(len(x)):
            seen = np.stack([paragraph[t] for paragraph in read])
            output, alpha = cross_attention(layer.of("paragraph_attention"), x[t : t + 1], seen, heads)  # eq. 12
            chosen[t], attention[t] = output[0], attention[t] + alpha[0] / config["decoder_layers"]
        x = fed(layer, leave(layer.of("cross_residual"), x, chosen, "post"), "post")  # eq. 13
    return logits(weights, x), attention


def graphsum(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """GraphSum (Li et al. 2020): a graph bends the paragraphs' attention to each other."""
    heads, half, norm = config["heads"], config["model_size"] // 2, config["norm"]
    pre = norm == "pre"
    words, pooled = [], []
    for tokens, rank in zip(article.paragraphs, article.ranks, strict=True):
        places = np.concatenate(
            (np.tile(position(rank, half), (len(tokens), 1)), positions(range(len(tokens)), half)), axis=1
        )
        x = embed(weights, tokens, scaled=config["scale_embeddings"]) + places
        for number in range(config["word_layers"]):
            x = encoder_layer(weights.of("word_layers").of(number), x, heads, norm)
        words.append(layer_norm(weights.of("word_norm"), x) if pre else x)
        vectors = _pool(weights.of("pooling"), words[-1], heads, "normalised", False)
        pooled.append(linear(weights.of("pooled"), vectors.reshape(-1)))
    paragraphs = np.stack(pooled)
    bias = -((1.0 - np.minimum(article.graph, 1.0)) ** 2) / (2 * config["sigma"] ** 2)
    for number in range(config["graph_layers"]):
        layer = weights.of("graph_layers").of(number)
        residual = layer.of("attention_residual")
        attended = self_attention(layer.of("attention"), enter(residual, paragraphs, norm), heads, bias)
        paragraphs = fed(layer, leave(residual, paragraphs, attended, norm), norm)
    if pre:
        paragraphs = layer_norm(weights.of("graph_norm"), paragraphs)
    x = _target(weights, config, target)
    attention = np.zeros((len(target), len(words)))
    for number in range(config["decoder_layers"]):
        layer = weights.of("decoder_layers").of(number)
        x = said(layer, x, heads, norm)
        residual = layer.of("cross_residual")
        read, alpha = _by_head(layer, enter(residual, x, norm), paragraphs, words, heads)
        attention += alpha / config["decoder_layers"]
        x = fed(layer, leave(residual, x, read, norm), norm)
    return logits(weights, layer_norm(weights.of("final_norm"), x) if pre else x), attention


def _by_head(layer: Weights, x: Array, paragraphs: Array, words: list[Array], heads: int) -> tuple[Array, Array]:
    """Each head weighs what it read from the words of a paragraph by its own attention to that paragraph."""
    outer, inner = layer.of("paragraph_attention"), layer.of("word_attention")
    k, v = np.split(linear(outer.of("key_value"), paragraphs), 2, axis=-1)
    context, alpha = attend(linear(outer.of("query"), x), k, v, heads)  # alpha [H, T, P]
    told = np.zeros((len(x), heads, x.shape[1] // heads))
    for p, text in enumerate(words):
        k, v = np.split(linear(inner.of("key_value"), text), 2, axis=-1)
        read, _ = attend(linear(inner.of("query"), x), k, v, heads)
        told += alpha[:, :, p].T[:, :, None] * read.reshape(told.shape)
    output = linear(outer.of("output"), context) + linear(inner.of("output"), told.reshape(x.shape))
    return output, alpha.mean(axis=0)


def memory_compressed(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """T-DMCA: one causal stack; odd layers stay in their block, even ones see the first token and windows of tokens."""
    tokens, member = article.flat(config["source_tokens"])
    heads, norm, length, window = config["heads"], config["norm"], len(tokens), config["window"]
    x = np.concatenate(
        (
            embed(weights, tokens, scaled=config["scale_embeddings"]) + positions(range(length), config["model_size"]),
            _target(weights, config, target, start=length),  # the target goes on where the source ends
        )
    )
    slots = [member[0], *(member[at : at + window].mean(axis=0) for at in range(0, length, window))]
    attention = np.zeros((len(target), len(slots)))
    for number in range(config["layers"]):
        layer = weights.of("layers").of(number)
        residual = layer.of("attention_residual")
        entered = enter(residual, x, norm)
        if number % 2 == 0:
            attended = self_attention(layer.of("attention"), entered, heads, _blocks(length, len(x), config["block"]))
        else:
            attended, shares = _compressed(layer.of("attention"), entered, length, heads, window)
            attention += shares[length:, : len(slots)]
        x = fed(layer, leave(residual, x, attended, norm), norm)
    hidden = layer_norm(weights.of("final_norm"), x) if norm == "pre" else x
    return logits(weights, hidden[length:]), _distribution(attention @ np.stack(slots))


def _blocks(source: int, total: int, block: int) -> Array:
    """[S, S] what a token of source and target sees of its block; blocks begin again at the separator."""
    seen = np.zeros((total, total), dtype=bool)
    for i in range(total):
        begin = 0 if i < source else source
        seen[i, begin + (i - begin) // block * block : i + 1] = True
    return seen


def _compressed(weights: Weights, x: Array, source: int, heads: int, window: int) -> tuple[Array, Array]:
    """Attention to the first token, to windows of the source (the last filled with zeros) and whole ones of the target.

    Returns the output and the weights, averaged over heads: the first token, then the windows.
    """
    memory, last = [x[0]], [0]  # a vector, and the last token that it is made of
    for begin, end in ((0, source), (source, len(x))):
        for at in range(begin, end, window):
            tokens = x[at : min(at + window, end)]
            if len(tokens) < window and end != source:
                continue
            filled = np.concatenate((tokens, np.zeros((window - len(tokens), x.shape[1]))))
            memory.append(linear(weights.of("convolution"), filled.reshape(-1)))
            last.append(at + window - 1 if len(tokens) == window else end - 1)
    seen = np.array([[end <= i for end in last] for i in range(len(x))])
    # A window of the source that is not whole is there for the target alone.
    if source % window:
        seen[:source, 1 + source // window] = False
    q = query_key_value(weights, x)[0]
    _, k, v = query_key_value(weights, np.stack(memory))
    context, shares = attend(q, k, v, heads, seen)
    return linear(weights.of("output"), context), shares.mean(axis=0)


def transformer_xl(weights: Weights, config: Config, article: Article, target: list[int]) -> tuple[Array, Array]:
    """Transformer-XL: a token sees its segment up to itself and all of the segment before; positions are distances."""
    tokens, member = article.flat(config["source_tokens"])
    norm, length, reach = config["norm"], len(tokens), config["memory"]
    x = embed(weights, [*tokens, *target], scaled=config["scale_embeddings"])
    seen = np.zeros((len(x), len(x)), dtype=bool)
    for i in range(len(x)):
        if i < length:
            begin = max(0, (i // reach - 1) * reach)
        else:
            segment = (i - length) // reach
            # The source's last tokens are the segment before the target's first, and before no other.
            begin = max(0, length - reach) if segment == 0 else length + (segment - 1) * reach
        seen[i, begin : i + 1] = True
    attention = np.zeros((len(target), member.shape[1]))
    for number in range(config["layers"]):
        layer = weights.of("layers").of(number)
        residual = layer.of("attention_residual")
        attended, shares = _relative(layer.of("attention"), enter(residual, x, norm), config["heads"], seen)
        attention += shares[length:, :length] @ member
        x = fed(layer, leave(residual, x, attended, norm), norm)
    hidden = layer_norm(weights.of("final_norm"), x) if norm == "pre" else x
    return logits(weights, hidden[length:]), _distribution(attention)


def _relative(weights: Weights, x: Array, heads: int, seen: Array) -> tuple[Array, Array]:
    """Logit ((q + u) k + (q + v) W r) / sqrt(E), r the sinusoids of the distance (Dai et al. 2019)."""
    size = x.shape[1]
    width = size // heads
    q, k, v = query_key_value(weights, x)
    context, total = np.zeros_like(x), np.zeros((len(x), len(x)))
    for h in range(heads):
        columns = slice(h * width, (h + 1) * width)
        for i in range(len(x)):
            places = np.flatnonzero(seen[i])
            r = np.stack([position(i - j, size) for j in places]) @ weights["distance.weight"].T
            content = k[places][:, columns] @ (q[i, columns] + weights["content_bias"][h])
            distance = r[:, columns] @ (q[i, columns] + weights["distance_bias"][h])
            shares = softmax((content + distance) / width**0.5)
            context[i, columns] = shares @ v[places][:, columns]
            total[i, places] += shares / heads
    return linear(weights.of("output"), context), total


def _distribution(attention: Array) -> Array:
    """Rows that sum to 1, or stay zero where nothing of the source was seen."""
    total = attention.sum(axis=1, keepdims=True)
    return attention / np.where(total > 0, total, 1.0)


TWINS: dict[str, Callable[[Weights, Config, Article, list[int]], tuple[Array, Array]]] = {
    "flat": flat,
    "hierarchical": hierarchical,
    "parallel": parallel,
    "vertical": vertical,
    "graphsum": graphsum,
    "memory-compressed": memory_compressed,
    "transformer-xl": transformer_xl,
    "pointer-generator": pointer_generator,
    "bart": bart,
}
