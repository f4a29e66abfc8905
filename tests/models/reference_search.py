"""Beam search for one article at a time, without a cache, in plain Python: what `models.search` has to equal.

It reads as the definition does and shares no code with the search proper but its settings.
"""

import math
from dataclasses import dataclass, replace

import torch

from models.contract import CopyDistribution, Memory, Summarizer
from models.layers.paragraphs import SourceBatch
from models.search.settings import SearchSettings


@dataclass(frozen=True)
class Found:
    tokens: list[int]
    score: float
    log_prob: float
    attention: list[list[float]]  # a row for each token, the end included


@dataclass(frozen=True)
class Rules:
    begin: int
    end: int
    never: frozenset[int]
    exempt: frozenset[int] = frozenset()
    expected_attention: tuple[float, ...] | None = None  # attention alignment (Ma & Zong 2022, eq. 17-18)
    beta: float = 0.0
    coverage: float = 0.0  # structural coverage (Ma & Zong 2022, eq. 13)
    first: int | None = None


def reference_search(model: Summarizer, source: SourceBatch, settings: SearchSettings, rules: Rules) -> list[Found]:
    return [_search_one(model, _article(source, b), settings, rules) for b in range(len(source.tokens))]


def _article(source: SourceBatch, b: int) -> SourceBatch:
    graph = None if source.graph is None else source.graph[b : b + 1]
    row = slice(b, b + 1)
    return replace(source, tokens=source.tokens[row], ranks=source.ranks[row], title=source.title[row], graph=graph)


def _search_one(model: Summarizer, source: SourceBatch, settings: SearchSettings, rules: Rules) -> Found:
    with torch.no_grad():
        memory = model.encode(source)
    alive = [Found([], 0.0, 0.0, [])]
    ended: list[Found] = []
    for length in range(settings.max_length + 1):
        candidates: list[Found] = []
        for hypothesis in alive:
            log_probs, attention = _next(model, memory, rules.begin, hypothesis.tokens)
            rows = [*hypothesis.attention, attention]
            for token, log_prob in enumerate(log_probs):
                if rules.first is not None and not length:
                    if token != rules.first:
                        continue
                    log_prob = 0.0
                elif _blocked(hypothesis.tokens, token, settings, rules):
                    continue
                elif settings.as_transformers and length == settings.max_length:
                    log_prob = 0.0
                total = hypothesis.log_prob + log_prob
                score = total / _normaliser(settings, length + 1)
                score += _alignment(rows, rules) + rules.coverage * _coverage(rows)
                candidates.append(Found([*hypothesis.tokens, token], score, total, rows))
        candidates.sort(key=lambda candidate: -candidate.score)
        candidates = candidates[: 2 * settings.beam]
        ended.extend(candidate for candidate in candidates[: settings.beam] if candidate.tokens[-1] == rules.end)
        alive = [candidate for candidate in candidates if candidate.tokens[-1] != rules.end][: settings.beam]
        if not alive:
            break
        if len(ended) >= settings.beam:
            best = sorted((found.score for found in ended), reverse=True)[: settings.beam]
            if best[-1 if settings.as_transformers else 0] >= alive[0].score:
                break
    if not ended:
        return Found([], -math.inf, -math.inf, [])
    best = max(ended, key=lambda candidate: candidate.score)
    return replace(best, tokens=best.tokens[:-1])


def _next(model: Summarizer, memory: Memory, begin: int, tokens: list[int]) -> tuple[list[float], list[float]]:
    with torch.no_grad():
        decoded = model.decode(torch.tensor([[begin, *tokens]]), memory)
        log_probs = model.logits(decoded.hidden[0, -1]).log_softmax(dim=-1)
        if decoded.copied is not None:
            log_probs = _with_copies(log_probs, decoded.copied)
    return log_probs.tolist(), decoded.paragraph_attention[0, -1].tolist()


def _with_copies(log_probs: torch.Tensor, copied: CopyDistribution) -> torch.Tensor:
    """Mix the newest position's vocabulary with the places it points at, one place after another."""
    generate = copied.gate[0, -1].double().sigmoid()
    mixed = generate * log_probs.double().exp()
    for place, token in enumerate(copied.tokens[0].tolist()):
        if token >= 0:
            mixed[token] += (1 - generate) * copied.weights[0, -1, place].double()
    return mixed.log()


def _blocked(tokens: list[int], token: int, settings: SearchSettings, rules: Rules) -> bool:
    if token in rules.never:
        return True
    if token == rules.end:
        return len(tokens) < settings.min_length
    if len(tokens) >= settings.max_length:
        return True
    n = settings.block_ngrams
    if n:
        grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
        if tuple([*tokens, token][-n:]) in grams:
            return True
    recent = tokens[-settings.block_recent :] if settings.block_recent else []
    return token in recent and token not in rules.exempt


def _normaliser(settings: SearchSettings, length: int) -> float:
    if settings.normalisation == "wu":
        return ((5 + length) ** settings.alpha) / (6**settings.alpha)
    return float(length) if settings.normalisation == "average" else 1.0


def _alignment(rows: list[list[float]], rules: Rules) -> float:
    if rules.expected_attention is None:
        return 0.0
    sums = [sum(column) for column in zip(*rows, strict=True)]
    shares = [value / sum(sums) for value in sums]
    pairs = zip(shares, rules.expected_attention, strict=True)
    return rules.beta * sum(math.log(max(1e-9, min(share, wanted))) for share, wanted in pairs if wanted > 0)


def _coverage(rows: list[list[float]]) -> float:
    total = 0.0
    for t, row in enumerate(rows):
        before = [sum(earlier[p] for earlier in rows[:t]) for p in range(len(row))]
        total += 1.0 - sum(min(now, past) for now, past in zip(row, before, strict=True))
    return total
