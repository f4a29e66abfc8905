"""The terms of a score against numbers worked out by hand."""

import math

import pytest
import torch

from models.attention_predictor import AttentionAlignment, StructuralCoverage
from models.search.step import Hypotheses


def hypotheses(*attention: list[float]) -> Hypotheses:
    """One hypothesis of one article with a row of attention a token."""
    return Hypotheses(
        articles=torch.zeros(1, dtype=torch.int64),
        tokens=torch.zeros(1, 1, len(attention), dtype=torch.int64),
        log_probs=torch.zeros(1, 1),
        attention=torch.tensor(attention, dtype=torch.float64).view(1, 1, len(attention), -1),
    )


@pytest.mark.parametrize(
    ("attention", "expected", "term"),
    [
        ([[0.25, 0.75]], [0.5, 0.5], math.log(0.25) + math.log(0.5)),
        ([[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5], math.log(0.25) + math.log(0.5)),
        # A paragraph without attention counts as 1e-9 (the floor), one without expected attention not at all.
        ([[1.0, 0.0]], [0.5, 0.5], math.log(0.5) + math.log(1e-9)),
        ([[1.0, 0.0]], [1.0, 0.0], 0.0),
        # No attention at all: shares of 0, not a division by 0.
        ([[0.0, 0.0]], [0.5, 0.5], 2 * math.log(1e-9)),
    ],
)
def test_alignment_is_the_sum_of_logarithms_of_the_smaller_share(
    attention: list[list[float]], expected: list[float], term: float
) -> None:
    scorer = AttentionAlignment(torch.tensor([expected], dtype=torch.float64), beta=0.8)
    assert scorer(hypotheses(*attention)).tolist() == [[pytest.approx(0.8 * term, rel=1e-12)]]


def test_coverage_rewards_what_had_little_attention_before() -> None:
    scorer = StructuralCoverage(weight=0.5)
    # 1 for the first token, 1 - .25 for the second.
    assert scorer(hypotheses([1.0, 0.0], [0.25, 0.75])).tolist() == [[pytest.approx(0.5 * 1.75, rel=1e-12)]]
