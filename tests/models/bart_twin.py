"""BART, HED and Hie-BART read literally: one token and one head at a time, numpy, float64, from raw parameters.

Nothing of `models/` is called, and no two documents or sentences share an array, so that a mistake in how they are
batched cannot be repeated here.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.models.twin_layers import Array, Weights, layer_norm, linear, softmax

Config = Mapping[str, Any]
Source = Sequence[list[int]]  # the token ids of each document


def bart_steps(weights: Weights, config: Config, documents: Source, target: list[int]) -> tuple[Array, Array]:
    """Logits [T, V] of the target's next tokens and the attention [T, P] to the documents."""
    model, left = weights.of("model"), config["source_tokens"]
    read: list[list[int]] = []  # the first tokens of the article, document by document
    for document in documents:
        read.append(document[:left])
        left -= len(read[-1])
    states = _encode(model, config, [document for document in read if document])
    x = _embed(model, model.of("decoder"), target, range(len(target)))
    attention = np.zeros((len(target), len(documents)))
    for number in range(config["decoder_layers"]):
        layer = model.of("decoder").of("layers").of(number)
        attended = np.array([_attend(layer.of("self_attn"), config, x[t], x[: t + 1]) for t in range(len(x))])
        x = _norm(layer.of("self_attn_layer_norm"), x + linear(layer.of("self_attn").of("out_proj"), attended))
        contexts = []
        for t, query in enumerate(x):
            context, shares = _cross(layer.of("encoder_attn"), config, query, states)
            contexts.append(context)
            attention[t, : len(shares)] += np.array(shares) / config["decoder_layers"]
        crossed = linear(layer.of("encoder_attn").of("out_proj"), np.array(contexts))
        x = _fed(layer, _norm(layer.of("encoder_attn_layer_norm"), x + crossed))
    return x @ model.of("shared")["weight"].T + weights["final_logits_bias"][0], attention


def bart_looks(weights: Weights, config: Config, documents: Source) -> Array:
    """How much the tokens of each document look at each, [P, P]: the mean over all tokens, heads and layers
    (Shen et al. 2023, sec. 6.3).
    """
    model, total = weights.of("model"), np.zeros((len(documents), len(documents)))
    for number in range(config["encoder_layers"]):
        layer = model.of("encoder").of("layers").of(number).of("self_attn")
        states = _encode(model, {**config, "encoder_layers": number}, documents)  # what this layer reads
        words = np.concatenate(states)
        homes = [d for d, x in enumerate(states) for _ in x]
        for place, query in enumerate(words):
            for h in range(config["heads"]):
                size = len(query) // config["heads"]
                part = slice(h * size, (h + 1) * size)
                # What this token sees, and whose words each of these vectors is made of.
                seen, made_of = list(words), [[home] for home in homes]
                if config["hae"]:
                    first = homes.index(homes[place]) == place
                    mine = [i for i, home in enumerate(homes) if home == homes[place]]
                    mine += [i for i, home in enumerate(homes) if first and homes.index(home) == i and i not in mine]
                    seen, made_of = [words[i] for i in mine], [[homes[i]] for i in mine]
                elif h >= config["heads"] - config["sentence_heads"]:
                    sentences = _sentences([token for one in documents for token in one], config["sentence_begin"])
                    seen = [words[places].mean(axis=0) for places in sentences]
                    made_of = [[homes[i] for i in places] for places in sentences]
                for share, of in zip(softmax(_scores(layer, query, np.array(seen), part)), made_of, strict=True):
                    for home in of:
                        total[homes[place], home] += share / len(of)
    return total / total.sum()


def _encode(model: Weights, config: Config, documents: Source) -> list[Array]:
    """Hidden states of each document, [L, D] each."""
    encoder, states, place = model.of("encoder"), [], 0
    for tokens in documents:
        start = 0 if config["position_restart"] else place
        states.append(_embed(model, encoder, tokens, range(start, start + len(tokens))))
        place += len(tokens)
    for number in range(config["encoder_layers"]):
        layer, before = encoder.of("layers").of(number), states
        states = []
        for d, x in enumerate(before):
            attended = np.array([_see(layer.of("self_attn"), config, documents, before, d, i) for i in range(len(x))])
            x = _norm(layer.of("self_attn_layer_norm"), x + linear(layer.of("self_attn").of("out_proj"), attended))
            states.append(_fed(layer, x))
    return states


def _see(weights: Weights, config: Config, documents: Source, states: list[Array], d: int, i: int) -> Array:
    """The context [D] of token i of document d."""
    query = states[d][i]
    if config["hae"]:  # Shen et al. 2023, sec. 4.1.2: the first token also sees the other documents' first ones
        others = [other[0] for number, other in enumerate(states) if number != d] if i == 0 else []
        return _attend(weights, config, query, np.array([*states[d], *others]))
    words = np.concatenate(states)
    context = _attend(weights, config, query, words)
    if config["sentence_heads"]:  # Akiyama et al. 2021, eq. 3-5
        sentences = _sentences([token for document in documents for token in document], config["sentence_begin"])
        means = np.array([words[places].mean(axis=0) for places in sentences])
        join = (config["heads"] - config["sentence_heads"]) * (len(query) // config["heads"])
        context = np.concatenate((context[:join], _attend(weights, config, query, means)[join:]))
    return context


def _sentences(tokens: list[int], mark: int) -> list[list[int]]:
    """The places of each sentence's tokens; what comes before the first mark belongs to the first sentence."""
    sentences: list[list[int]] = [[]]
    for place, token in enumerate(tokens):
        if token == mark and mark in tokens[:place]:
            sentences.append([])
        sentences[-1].append(place)
    return sentences


def _cross(weights: Weights, config: Config, query: Array, states: list[Array]) -> tuple[Array, list[float]]:
    """The context [D] of a target token, and its attention to each document, averaged over heads."""
    size = len(query) // config["heads"]
    contexts, shares = [], np.zeros(len(states))
    for h in range(config["heads"]):
        part = slice(h * size, (h + 1) * size)
        scores = [_scores(weights, query, x, part) for x in states]
        if config["had"]:
            scale = softmax(np.array([score[0] for score in scores]))  # eq. 5
            shared = [scale[n] * softmax(score) for n, score in enumerate(scores)]  # eq. 4, 6
        else:
            whole = softmax(np.concatenate(scores))
            ends = np.cumsum([len(score) for score in scores])
            shared = np.split(whole, ends[:-1])
        values = [linear(weights.of("v_proj"), x)[:, part] for x in states]
        contexts.append(sum(share @ value for share, value in zip(shared, values, strict=True)))
        shares += np.array([share.sum() for share in shared]) / config["heads"]
    return np.concatenate(contexts), shares.tolist()


def _attend(weights: Weights, config: Config, query: Array, seen: Array) -> Array:
    """The context [D] of one token that sees the vectors `seen`, heads next to each other."""
    size, values = len(query) // config["heads"], linear(weights.of("v_proj"), seen)
    parts = [slice(h * size, (h + 1) * size) for h in range(config["heads"])]
    return np.concatenate([softmax(_scores(weights, query, seen, part)) @ values[:, part] for part in parts])


def _scores(weights: Weights, query: Array, seen: Array, part: slice) -> Array:
    """The scores of one head, scaled."""
    q = linear(weights.of("q_proj"), query)[part]
    return linear(weights.of("k_proj"), seen)[:, part] @ q / math.sqrt(len(q))


def _embed(model: Weights, stack: Weights, tokens: list[int], places: range) -> Array:
    """Words and learned positions, whose first two rows are not used."""
    positions = stack.of("embed_positions")["weight"][[place + 2 for place in places]]
    return _norm(stack.of("layernorm_embedding"), model.of("shared")["weight"][tokens] + positions)


def _fed(layer: Weights, x: Array) -> Array:
    inner = linear(layer.of("fc1"), x)
    gelu = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return _norm(layer.of("final_layer_norm"), x + linear(layer.of("fc2"), gelu))


def _norm(weights: Weights, x: Array) -> Array:
    return layer_norm(weights, x, epsilon=1e-5)
