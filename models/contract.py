"""The interface of every summarizer, so that one trainer, one search and one evaluator work with all of them.

Shapes: B articles, P paragraphs, L tokens a paragraph, K hypotheses (beams) an article, T target tokens, D model size,
V vocabulary. Padding is the vocabulary's pad id; a paragraph of padding alone counts as absent."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.config import widened
from models.layers.paragraphs import SourceBatch, change_tensors


class PerArticle:
    """A dataclass in which every tensor, nested ones included, has the articles as its first dimension."""

    def select(self, articles: Tensor) -> Self:
        """Return the part of the given articles ([b] int64), so that finished ones can leave a search."""
        return change_tensors(self, lambda tensor: tensor.index_select(0, articles))


class Memory(PerArticle):
    """What `encode` returns for `decode`: an architecture's own tensors, each with the articles as first dimension."""

    mask: Tensor  # [B, ...] bool, True if there is a token

    @property
    def articles(self) -> int:
        """Number of articles, B."""
        return len(self.mask)


class Cache(ABC):
    """Keys and values of the target tokens decoded so far; made by `Summarizer.start_cache`."""

    length: int

    @abstractmethod
    def reorder(self, hypotheses: Tensor) -> None:
        """Make old row `hypotheses[i]` the new row i ([b*K] int64): state of self-attention only."""


@dataclass(frozen=True)
class CopyDistribution:
    """From where each target position would copy its next token, and with what probability."""

    weights: Tensor  # [B*K, T, S] float32, rows sum to 1: probability of copying from each source position
    gate: Tensor  # [B*K, T] float32, log-odds of taking the token from the vocabulary and not from the source
    tokens: Tensor  # [B, S] int64, the token at each source position

    def mix(self, log_probs: Tensor) -> Tensor:
        """Mix the vocabulary's log-probabilities [B*K, T, V] with those of copying (See et al. 2017, eq. 9). It is for
        decoding; a loss takes `log_prob`. Only the tokens of the source have something to add, so logarithms are taken
        of those alone. A token at several positions is written several times, with one value."""
        rows, positions, size = log_probs.shape
        ids_R1S = self.tokens.clamp_min(0).repeat_interleave(rows // len(self.tokens), dim=0).unsqueeze(1)
        ids_RTS = ids_R1S.expand(-1, positions, -1)
        copied_RTV = log_probs.new_zeros(rows, positions, size).scatter_add_(2, ids_RTS, self.weights)
        gate_RT1 = self.gate.unsqueeze(-1)
        generated_RTV = log_probs + F.logsigmoid(gate_RT1)
        copied_RTS = copied_RTV.gather(2, ids_RTS).log() + F.logsigmoid(-gate_RT1)
        return generated_RTV.scatter(2, ids_RTS, torch.logaddexp(generated_RTV.gather(2, ids_RTS), copied_RTS))

    def log_prob(self, log_prob_RT: Tensor, target_RT: Tensor) -> Tensor:
        """Return the entries of `mix` for the tokens `target_RT`, [B*K, T], given their vocabulary log-probabilities.
        No tensor of vocabulary size is made."""
        tokens_R1S = self.tokens.repeat_interleave(len(target_RT) // len(self.tokens), dim=0).unsqueeze(1)
        here_RTS = target_RT.unsqueeze(-1) == tokens_R1S
        copied_RT = (self.weights * here_RTS).sum(dim=-1).clamp_min(torch.finfo(self.weights.dtype).tiny)
        return torch.logaddexp(log_prob_RT + F.logsigmoid(self.gate), copied_RT.log() + F.logsigmoid(-self.gate))


@dataclass(frozen=True)
class Decoded:
    """What a decoder returns for target positions."""

    hidden: Tensor  # [B*K, T, D] last hidden states; `Summarizer.logits` turns them into [B*K, T, V]
    # [B*K, T, P] float32, rows sum to 1: how much each target position looks at each paragraph, averaged over heads and
    # layers (for a flat model the sum of its token weights); None if `decode` was called with `attention=False`
    paragraph_attention: Tensor | None
    copied: CopyDistribution | None = None  # of a summarizer that copies
    # [B*K, T] float32, an additional loss of each position, lambda included (the coverage loss of See et al. 2017,
    # eq. 12): part of the training objective at positions with a token to predict, never of a reported loss
    extra_loss: Tensor | None = None


@dataclass(frozen=True)
class OwnRate:
    """Weights with a learning rate of their own, such as those of a pre-trained encoder below a fresh decoder."""

    parameters: tuple[nn.Parameter, ...]
    rate: float  # multiple of the learning rate of the other weights
    warmup: int  # steps of their own warm-up


class Summarizer(nn.Module, ABC):
    """An encoder and a decoder. `decode` is used in training (the whole target, K = 1, no cache) and in search (the
    newest token, the K hypotheses of an article next to each other in the batch, a cache). Memory is never copied per
    hypothesis."""

    @property
    def pace(self) -> OwnRate | None:
        """Weights that learn at a rate of their own; None = all learn at one rate."""
        return None

    @abstractmethod
    def encode(self, source: SourceBatch) -> Memory:
        """Encode B articles."""

    @abstractmethod
    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64); with a cache, T new tokens that follow those already in it.
        `attention=False` leaves out the paragraph attention: a loss does not need it, and without it the attention
        weights are never stored."""

    @abstractmethod
    def projection(self) -> tuple[Tensor, Tensor | None]:
        """Return weight [V, D] and bias [V] of the output layer; None = it has no bias. With them, training never holds
        the [B, T, V] logits: the loss is computed from the hidden states in chunks."""

    def logits(self, hidden: Tensor) -> Tensor:
        """Turn hidden states [..., D] into vocabulary logits [..., V]."""
        return F.linear(hidden, *self.projection())

    def log_probs(self, decoded: Decoded) -> Tensor:
        """Return log-probabilities [B*K, T, V] (float32) of the next token at each target position."""
        log_probs = widened(self.logits(decoded.hidden)).log_softmax(dim=-1)
        return log_probs if decoded.copied is None else decoded.copied.mix(log_probs)

    @abstractmethod
    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article of `memory` and at most `length` target tokens."""

    def source_states(self, memory: Memory) -> tuple[Tensor, Tensor] | None:
        """Return hidden states [M, D] of the source and the tokens [M] they predict, or None. Only a decoder-only
        summarizer predicts its source. Training adds the loss of these tokens to that of the target, validation does
        not (Liu et al. 2018)."""
        return None

    def encode_watched(self, source: SourceBatch) -> tuple[Memory, Tensor | None]:
        """Encode B articles as `encode` does, and also return how much paragraphs attend to paragraphs, or None. It is
        [B, P, P] float32: the attention of the first paragraph's tokens to the second's. It is averaged over the
        article's tokens, heads and layers, so that all numbers of an article add up to 1 (Shen et al. 2023, sec. 6.3).
        Only summarizers of that paper's kinds say it."""
        return self.encode(source), None
