"""Hypotheses: those that a search still extends, and the one it returns.

Shapes: b articles still searched, K hypotheses an article, t tokens so far, P paragraphs."""

from dataclasses import dataclass

import torch
from torch import Tensor

from models.contract import PerArticle


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
