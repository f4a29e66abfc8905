"""Tokens that may not come next, because they would repeat.

Shapes: b articles, K hypotheses an article, t tokens so far, V vocabulary."""

from collections.abc import Sequence

import torch
from torch import Tensor

from models.vocabulary import Vocabulary


def repeated_ngrams(tokens_bKt: Tensor, n: int, vocabulary_size: int) -> Tensor | None:
    """Return [b, K, V] bool, True for tokens that would repeat an n-gram of the hypothesis; None if there are none."""
    length = tokens_bKt.shape[-1]
    if n < 1 or length < n:
        return None
    ngram_bKwn = tokens_bKt.unfold(-1, n, 1)
    suffix_bK1m = tokens_bKt[..., length - n + 1 :].unsqueeze(-2)
    repeats_bKw = (ngram_bKwn[..., :-1] == suffix_bK1m).all(dim=-1)
    return _among(ngram_bKwn[..., -1], repeats_bKw, vocabulary_size)


def recent_tokens(tokens_bKt: Tensor, count: int, vocabulary_size: int, exempt: Sequence[int] = ()) -> Tensor | None:
    """Return [b, K, V] bool, True for the newest `count` tokens other than `exempt`; None if there are none."""
    if count < 1 or tokens_bKt.shape[-1] == 0:
        return None
    recent_bKc = tokens_bKt[..., -count:]
    blocked_bKc = ~torch.isin(recent_bKc, torch.tensor(list(exempt), dtype=torch.int64, device=tokens_bKt.device))
    return _among(recent_bKc, blocked_bKc, vocabulary_size)


def _among(tokens_bKw: Tensor, chosen_bKw: Tensor, vocabulary_size: int) -> Tensor:
    """Return [b, K, V] bool, True for the tokens that are chosen at least once."""
    b, beam, _ = tokens_bKw.shape
    # Tokens not chosen go to an extra column, which is cut off: the same token may occur both chosen and not chosen.
    mask = torch.zeros(b, beam, vocabulary_size + 1, dtype=torch.bool, device=tokens_bKw.device)
    mask.scatter_(2, tokens_bKw.masked_fill(~chosen_bKw, vocabulary_size), True)
    return mask[..., :-1]


def commas(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the ids of commas, which may repeat within a short distance (Ma & Zong's (2020) released code)."""
    pieces = vocabulary.pieces(range(vocabulary.size))
    return tuple(id_ for id_, piece in enumerate(pieces) if piece.lstrip("\u2581") == ",")
