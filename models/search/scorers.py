"""Terms of a hypothesis's score besides its normalised log-probability; several are added up.

Shapes: B articles, b of them still searched, K hypotheses an article, t tokens (the next one's attention included),
P paragraphs."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from models.search.hypotheses import Hypotheses
from models.search.settings import When

# Smaller attention counts as this, so that its logarithm stays finite for a paragraph without attention.
FLOOR = 1e-9


class Scorer(Protocol):
    """A term of the score.

    Attributes:
        when: "step" counts whenever hypotheses are compared, "end" only once a hypothesis has ended."""

    @property
    def when(self) -> When:
        """When the term counts."""

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return the term [b, K] of each hypothesis; it must not depend on the next token."""


@dataclass(frozen=True)
class AttentionAlignment:
    """How well the attention of a hypothesis covers the expected one (Ma & Zong 2022, eq. 17-18). With the attention
    predictor's output this is attAlign, with the ranker's normalised scores extProb (Ma & Zong 2022, sec. 5.3)."""

    expected: Tensor  # [B, P] float32, rows sum to 1, zero where there is no paragraph
    beta: float = 0.8  # weight of the term (Ma & Zong 2022, sec. 5.3: .8)
    when: When = "step"  # "step" as in the equations, or "end" as in the released code

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return beta times the sum over paragraphs of log min(attention, expected attention), [b, K]."""
        total_bKP = hypotheses.attention.sum(dim=2)
        share_bKP = total_bKP / total_bKP.sum(dim=-1, keepdim=True).clamp_min(FLOOR)
        expected_b1P = self.expected[hypotheses.articles].unsqueeze(1)
        aligned_bKP = torch.minimum(share_bKP, expected_b1P).clamp_min(FLOOR).log()
        term: Tensor = self.beta * aligned_bKP.masked_fill(expected_b1P == 0, 0.0).sum(dim=-1)
        return term


@dataclass(frozen=True)
class StructuralCoverage:
    """Reward for attending to paragraphs that have had little attention so far (Ma & Zong 2022, eq. 13 over paragraphs,
    strCov)."""

    weight: float = 1.0  # of the sum of eq. 13 over the tokens of a hypothesis
    when: When = "step"  # "step" or "end"

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return the weighted sum over tokens of 1 - sum_p min(attention, attention so far), [b, K]."""
        attention_bKtP = hypotheses.attention
        before_bKtP = attention_bKtP.cumsum(dim=2) - attention_bKtP
        covered_bKt = torch.minimum(attention_bKtP, before_bKtP).sum(dim=-1)
        term: Tensor = self.weight * (1.0 - covered_bKt).sum(dim=-1)
        return term
