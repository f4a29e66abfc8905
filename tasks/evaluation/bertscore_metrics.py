"""BERTScore against the lead (Zhang et al. 2020), where the settings name a folder with an encoder. Implementations
differ in the third decimal, so the one that counts, and its version, stand in the metric's name."""

from collections.abc import Callable, Collection

from tasks.evaluation.judge_settings import BertScoreSettings
from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Summary, SummaryScorer
from tasks.ranking.folders import read_config

IMPLEMENTATION, VERSION = "torchmetrics", "1.9.0"
METRICS = (
    Metric(
        "bertscore",
        f"BERTScore ({IMPLEMENTATION} {VERSION})",
        "similarity",
        "F1 of words of a summary and of the lead, each with the likest of the other, without rescaling",
        judge="bertscore",
    ),
)

# summary, lead -> F1, precision and recall: how alike they are; neither is empty
Similarity = Callable[[str, str], Score]


def check_bertscore(settings: BertScoreSettings) -> None:
    """See that the folder holds a model with the layer that is asked for. Raises FileNotFoundError: there is no such
    folder, or no model in it; ValueError: it has fewer layers."""
    layers = read_config(settings.folder, "scoring.bertscore.folder").get("num_hidden_layers")
    if isinstance(layers, int) and settings.layer > layers:
        raise ValueError(
            f"scoring.bertscore.layer is {settings.layer}: expected at most {layers}, the layers of {settings.folder!r}"
        )


def prepare(article: ArticleTexts, wanted: Collection[str], *, similarity: Similarity) -> SummaryScorer:
    """Return what compares summaries with the lead; without one there is nothing to compare."""

    def score(summary: Summary) -> dict[str, Score]:
        if not article.lead.strip():
            return {}
        if not summary.text.strip():
            return {"bertscore": Score(0.0, 0.0, 0.0)}
        return {"bertscore": similarity(summary.text, article.lead)}

    return score
