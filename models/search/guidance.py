"""Guide a search by paragraphs: by the attention expected of each, and by reading only some of them
(Ma & Zong 2022, sec. 4.2).

Shapes: B articles, P paragraphs, s of them kept."""

from torch import Tensor

from models.attention_predictor import (
    AttentionPredictor,
    compress_source,
    expected_attention,
    most_attended,
    normalised_scores,
)
from models.contract import SourceBatch, Summarizer
from models.search.scorers import AttentionAlignment, Scorer, StructuralCoverage
from models.search.settings import Guidance


def guide(
    source: SourceBatch,
    guidance: Guidance,
    summarizer: Summarizer,
    *,
    predictor: AttentionPredictor | None = None,
    scores_BP: Tensor | None = None,
) -> tuple[SourceBatch, list[Scorer]]:
    """Return the source to read, perhaps compressed, and the scorers of its search.

    Under compression, the expected attention is normalised again over the remaining paragraphs.

    Args:
        source: B articles, on the summarizer's device.
        guidance: score terms and compression.
        summarizer: in evaluation mode.
        predictor: of that summarizer's attention, in evaluation mode, where one is needed.
        scores_BP: [B, P] scores of the ranker, where they are needed.

    Raises:
        ValueError: a predictor or scores are needed and missing, or the summarizer makes no paragraph embeddings."""
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
