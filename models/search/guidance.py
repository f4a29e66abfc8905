"""Guide a search by paragraphs: by the attention expected of each, and by reading only some of them
(Ma & Zong 2022, sec. 4.2). Scorers are terms of a hypothesis's score besides its normalised log-probability; several
are added up.

Shapes: B articles, b of them still searched, K hypotheses an article, t tokens (the next one's attention included), P
paragraphs, s of them kept."""

from dataclasses import dataclass

import torch
from torch import Tensor

from models.attention_predictor import (
    AttentionPredictor,
    compress_source,
    expected_attention,
    most_attended,
    normalised_scores,
)
from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.search.settings import Guidance, When
from models.search.step import Hypotheses, Scorer

# Smaller attention counts as this, so that its logarithm stays finite for a paragraph without attention.
FLOOR = 1e-9


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


def guide(
    source: SourceBatch,  # B articles, on the summarizer's device
    guidance: Guidance,
    summarizer: Summarizer,  # in evaluation mode
    *,
    predictor: AttentionPredictor | None = None,  # of its attention, in evaluation mode, where one is needed
    scores_BP: Tensor | None = None,  # of the ranker, where they are needed
) -> tuple[SourceBatch, list[Scorer]]:
    """Return the source to read, perhaps compressed, and the scorers of its search. Under compression, the expected
    attention is normalised again over the remaining paragraphs. Raises ValueError: a predictor or scores are needed and
    missing, or the summarizer makes no paragraph embeddings."""
    predicted_BP = None
    if guidance.reads_predictor:
        if predictor is None:
            raise ValueError("alignment or compression by predicted attention needs an attention predictor, got None")
        predicted_BP = expected_attention(predictor, summarizer, source)
    expected_BP = predicted_BP if guidance.alignment == "predicted" else None
    if guidance.reads_scores:
        if scores_BP is None:
            raise ValueError("alignment with the ranker needs its scores, got None")
        expected_BP = normalised_scores(scores_BP, source.paragraph_mask)
    if guidance.kept is not None:
        assert predicted_BP is not None
        best_Bs = most_attended(source, predicted_BP, guidance.kept)
        source = compress_source(source, predicted_BP, guidance.kept)
        if expected_BP is not None:
            expected_BP = normalised_scores(expected_BP.gather(1, best_Bs), source.paragraph_mask)
    scorers: list[Scorer] = []
    if expected_BP is not None:
        scorers.append(AttentionAlignment(expected_BP, guidance.beta, guidance.when))
    if guidance.coverage:
        scorers.append(StructuralCoverage(guidance.coverage))
    return source, scorers
