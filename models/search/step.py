"""One step of a beam search: from the log-probabilities of the next token to the hypotheses that continue, and the one
that a search returns.

Pure tensor algebra over all articles at once; the loop that calls the model is `models.search.beam`.

Shapes: b articles still searched, K hypotheses an article, t tokens so far, P paragraphs, V vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from models.contract import PerArticle
from models.search.settings import SearchSettings
from models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Hypothesis:
    """The summary found for an article."""

    tokens: list[int]  # its T token ids, without begin and end
    score: float  # the score by which it was chosen
    log_prob: float  # its log-probability, the end token included
    attention: Tensor  # [T, P] float32 on the CPU: how much each token looked at each paragraph


@dataclass(frozen=True)
class Hypotheses(PerArticle):
    """The hypotheses that a search still extends. Scorers see them with the attention of the next, unchosen token."""

    articles: Tensor  # [b] int64, index of each article in the batch
    tokens: Tensor  # [b, K, t] int64, without begin
    log_probs: Tensor  # [b, K] float32, -inf for an empty slot of the beam
    # [b, K, t, P] float32, one row per token; for scorers [b, K, t + 1, P], with that of the next token
    attention: Tensor

    @classmethod
    def start(cls, articles: int, beam: int, paragraphs: int, device: torch.device) -> "Hypotheses":
        """Return one empty hypothesis for each article and `beam` - 1 empty slots."""
        log_probs = torch.full((articles, beam), -torch.inf, device=device)
        log_probs[:, 0] = 0.0
        return cls(
            articles=torch.arange(articles, device=device),
            tokens=torch.zeros(articles, beam, 0, dtype=torch.int64, device=device),
            log_probs=log_probs,
            attention=torch.zeros(articles, beam, 0, paragraphs, device=device),
        )

    @property
    def length(self) -> int:
        """Tokens so far, t."""
        return self.tokens.shape[-1]

    def attended(self, attention_bKP: Tensor) -> "Hypotheses":
        """Return the same hypotheses with the attention of the next token added."""
        attention = torch.cat((self.attention, attention_bKP.unsqueeze(2)), dim=2)
        return Hypotheses(self.articles, self.tokens, self.log_probs, attention)

    def extended(self, parents_bK: Tensor, tokens_bK: Tensor, log_probs_bK: Tensor) -> "Hypotheses":
        """Return hypotheses that continue `parents_bK` (indices in the beam) by one token each."""
        row = torch.arange(len(parents_bK), device=parents_bK.device).unsqueeze(1)
        tokens = torch.cat((self.tokens[row, parents_bK], tokens_bK.unsqueeze(-1)), dim=-1)
        return Hypotheses(self.articles, tokens, log_probs_bK, self.attention[row, parents_bK])


class Scorer(Protocol):
    """A term of the score, whenever hypotheses are compared."""

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return the term [b, K] of each hypothesis; it must not depend on the next token."""


@dataclass(frozen=True)
class TokenRules:
    """The ids that a search treats specially."""

    end: int  # the id that ends a hypothesis
    never: tuple[int, ...]  # ids that are never generated
    exempt: tuple[int, ...] = ()  # ids to which `SearchSettings.block_recent` does not apply


@dataclass(frozen=True)
class Ended(PerArticle):
    """For each article the best hypothesis that has ended so far, and the scores of the K best."""

    score: Tensor  # [b] float32, -inf where none has ended
    log_prob: Tensor  # [b] float32
    tokens: Tensor  # [b, most] int64, `length` of them filled
    length: Tensor  # [b] int64, the end token not counted
    attention: Tensor  # [b, most, P] float32
    best: Tensor  # [b, K] float32, the K best scores, -inf where fewer have ended

    @classmethod
    def start(cls, articles: int, beam: int, most: int, paragraphs: int, device: torch.device) -> "Ended":
        """Return the state in which nothing has ended, with space for `most` tokens."""
        return cls(
            score=torch.full((articles,), -torch.inf, device=device),
            log_prob=torch.full((articles,), -torch.inf, device=device),
            tokens=torch.zeros(articles, most, dtype=torch.int64, device=device),
            length=torch.zeros(articles, dtype=torch.int64, device=device),
            attention=torch.zeros(articles, most, paragraphs, device=device),
            best=torch.full((articles, beam), -torch.inf, device=device),
        )


def advance(
    alive: Hypotheses,  # before the step
    token_log_probs_bKV: Tensor,  # float32, of the next token
    attention_bKP: Tensor,  # of the next token
    ended: Ended,  # before the step
    settings: SearchSettings,
    rules: TokenRules,
    scorers: Sequence[Scorer] = (),  # terms of the score besides the normalised log-probability
    forced: int | None = None,  # the token that must come next
) -> tuple[Hypotheses, Tensor, Ended, Tensor]:
    """Take the 2K best continuations of each article. Those among the best K that end become finished hypotheses; the
    best K of those that do not end continue.

    Return these, one token longer; the index in the old beam that each of them continues, [b, K] int64; the best that
    have ended; and [b] bool, True if the search is over. It is over when at least K hypotheses have ended and none that
    continues scores higher than the best of them, when the maximum length is reached, or when no hypothesis can
    continue."""
    beam = alive.tokens.shape[1]
    allowed_bKV = restrict(alive.tokens, token_log_probs_bKV, settings, rules, forced)
    attended = alive.attended(attention_bKP)
    term_bK = sum((scorer(attended) for scorer in scorers), torch.zeros_like(attended.log_probs))

    total_bKV = alive.log_probs.unsqueeze(-1) + allowed_bKV
    # Within a hypothesis the score rises with the log-probability, so its 2K best can be chosen before scoring.
    width = min(2 * beam, total_bKV.shape[-1])
    total_bKc, token_bKc = total_bKV.topk(width, dim=-1)
    score_bKc = total_bKc / settings.normaliser(alive.length + 1) + term_bK.unsqueeze(-1)
    score_bC, flat_bC = score_bKc.flatten(1).topk(min(2 * beam, beam * width), dim=1)
    parent_bC = flat_bC // width
    token_bC = token_bKc.flatten(1).gather(1, flat_bC)
    total_bC = total_bKc.flatten(1).gather(1, flat_bC)

    ends_bC = (token_bC == rules.end) & score_bC.isfinite()
    ended = _collect(ended, attended, ends_bC[:, :beam], score_bC, total_bC, parent_bC)

    # Continuations that end or are forbidden sort last and become empty slots.
    score_bC = score_bC.masked_fill(token_bC == rules.end, -torch.inf)
    best_bK = score_bC.argsort(dim=1, descending=True, stable=True)[:, :beam]
    log_probs_bK = total_bC.gather(1, best_bK).masked_fill(score_bC.gather(1, best_bK).isneginf(), -torch.inf)
    parents_bK = parent_bC.gather(1, best_bK)
    over = alive.length >= settings.max_length
    # A wide beam soon has K poor early endings, so the search continues while a live hypothesis is better than all of
    # them (or, as transformers has it, than the worst).
    to_beat_b = ended.best.amin(dim=1) if settings.as_transformers else ended.score
    enough_b = ended.best.isfinite().all(dim=1) & (to_beat_b >= score_bC.gather(1, best_bK).amax(dim=1))
    done_b = enough_b | log_probs_bK.isneginf().all(dim=1) | over
    ended = _or_unfinished(ended, alive, done_b, settings)
    return attended.extended(parents_bK, token_bC.gather(1, best_bK), log_probs_bK), parents_bK, ended, done_b


def restrict(
    tokens_bKt: Tensor,
    token_log_probs_bKV: Tensor,
    settings: SearchSettings,
    rules: TokenRules,
    forced: int | None = None,
) -> Tensor:
    """Return the log-probabilities with -inf for every token that may not come next. A forced token gets
    log-probability 0: it is given, not chosen."""
    length, vocabulary_size = tokens_bKt.shape[-1], token_log_probs_bKV.shape[-1]
    allowed_bKV = token_log_probs_bKV.clone()
    allowed_bKV[..., list(rules.never)] = -torch.inf
    for mask_bKV in (
        repeated_ngrams(tokens_bKt, settings.block_ngrams, vocabulary_size),
        recent_tokens(tokens_bKt, settings.block_recent, vocabulary_size, rules.exempt),
    ):
        if mask_bKV is not None:
            allowed_bKV.masked_fill_(mask_bKV, -torch.inf)
    if length < settings.min_length:
        allowed_bKV[..., rules.end] = -torch.inf
    elif length >= settings.max_length:
        end_bK = 0.0 if settings.as_transformers else allowed_bKV[..., rules.end].clone()
        allowed_bKV.fill_(-torch.inf)
        allowed_bKV[..., rules.end] = end_bK
    if forced is not None:
        allowed_bKV.fill_(-torch.inf)
        allowed_bKV[..., forced] = 0.0
    return allowed_bKV


def _collect(
    ended: Ended, attended: Hypotheses, ends_bK: Tensor, score_bC: Tensor, total_bC: Tensor, parent_bC: Tensor
) -> Ended:
    """Return the best ended hypotheses after adding the continuations that end now."""
    beam, length = ends_bK.shape[1], attended.length
    parent_bK = parent_bC[:, :beam]
    score_bK = score_bC[:, :beam].masked_fill(~ends_bK, -torch.inf)
    score_b, place_b = score_bK.max(dim=1)
    parent_b = parent_bK.gather(1, place_b[:, None]).squeeze(1)
    article = torch.arange(len(parent_b), device=parent_b.device)
    # The last row, the attention of the end token, belongs to no token of the summary.
    result = attended.tokens[article, parent_b], attended.attention[article, parent_b, :length]
    better_b, log_prob_b = score_b > ended.score, total_bC.gather(1, place_b[:, None]).squeeze(1)
    best = torch.cat((ended.best, score_bK), dim=1).topk(beam, dim=1).values
    return _replaced(replace(ended, best=best), better_b, score_b, log_prob_b, *result)


def _replaced(
    ended: Ended, new_b: Tensor, score_b: Tensor, log_prob_b: Tensor, tokens_bt: Tensor, attention_btP: Tensor
) -> Ended:
    """Return the best ended hypotheses with others for the articles where `new_b` is True."""
    length, tokens, attention = tokens_bt.shape[1], ended.tokens.clone(), ended.attention.clone()
    tokens[:, :length] = torch.where(new_b[:, None], tokens_bt, tokens[:, :length])
    attention[:, :length] = torch.where(new_b[:, None, None], attention_btP, attention[:, :length])
    score_b = torch.where(new_b, score_b, ended.score)
    log_prob_b = torch.where(new_b, log_prob_b, ended.log_prob)
    return Ended(score_b, log_prob_b, tokens, ended.length.masked_fill(new_b, length), attention, ended.best)


def _or_unfinished(ended: Ended, alive: Hypotheses, done_b: Tensor, settings: SearchSettings) -> Ended:
    """Return the hypotheses that have ended; if the search is over before any could, the best unfinished one. The end
    may be forbidden too: in the middle of a name that is written as the source has it, at the greatest length or where
    every way on would repeat an n-gram."""
    stuck_b = done_b & ended.score.isneginf()
    if not stuck_b.any():
        return ended
    article, best_b = torch.arange(len(stuck_b), device=stuck_b.device), alive.log_probs.argmax(dim=1)
    log_prob_b = alive.log_probs[article, best_b]
    score_b = log_prob_b / settings.normaliser(max(alive.length, 1))
    result = alive.tokens[article, best_b], alive.attention[article, best_b]
    return _replaced(ended, stuck_b, score_b, log_prob_b, *result)


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
