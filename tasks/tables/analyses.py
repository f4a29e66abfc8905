"""What a paper tests and looks at beside one of its tables."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow.compute as pc
from scipy import stats

from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import bootstrap
from tasks.reporting.blocks import Block, Cell, Picture, Table, Text
from tasks.reporting.plots import bars
from tasks.tables.measures import TableFigures

_ROUGE = ("rouge1", "rouge2", "rougeL")


def rank_tests(measured: TableFigures) -> str:
    """Return Wilcoxon-Mann-Whitney tests, two-sided and unpaired, of Hie-BART and BART (Akiyama et al. 2021, 4.3)."""
    hie, bart = (_scores(measured, system, _ROUGE) for system in ("hie-bart", "bart"))
    if not all(hie[metric] and bart[metric] for metric in _ROUGE):
        return "Hie-BART and BART were not both run: no Wilcoxon-Mann-Whitney test."
    found = ", ".join(
        f"{metric_name(metric)} p = "
        f"{stats.mannwhitneyu(list(hie[metric].values()), list(bart[metric].values())).pvalue:.3f}"
        for metric in _ROUGE
    )
    return (
        f"Wilcoxon-Mann-Whitney test of Hie-BART against BART: {found}; published, R-1 and R-L with p of .05 and .10."
    )


def attention_to_documents(measured: TableFigures) -> list[Block]:
    """Return how BART+HED attends to documents beside BART, with Welch's test (Shen et al. 2023, 6.3, Figure 3)."""
    rows, drawn, articles = [], {}, 0
    for metric, where, published in _LOOKS:
        hed, bart = (_scores(measured, system, (metric,))[metric] for system in ("hed", "bart"))
        common = [article for article in hed if bart.get(article)]
        if len(common) < 2:
            rows.append([Cell(where), *[Cell("–")] * 4, Cell(published)])
            continue
        first, second = (np.array([scores[article] for article in common]) for scores in (hed, bart))
        ratio = bootstrap((first / second)[:, None], measured.significance, measured.seed)[0]
        p = stats.ttest_ind(first, second, equal_var=False).pvalue
        drawn[where] = (ratio.mean, ratio.low, ratio.high)
        articles = max(articles, len(common))
        rows.append(
            [
                Cell(where),
                Cell(f"{100 * second.mean():.2f}"),
                Cell(f"{100 * first.mean():.2f}"),
                Cell(f"{ratio.mean:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}", strong=True),
                Cell(f"{p:.3f}"),
                Cell(published),
            ]
        )
    if not drawn:
        return [Text("BART+HED and BART have no two articles with two documents in common: no analysis of attention.")]
    columns = ["attention to documents", "BART", "BART+HED", "BART+HED / BART", "p, Welch's test", "published ratio"]
    caption = f"Shen et al. 2023, sec. 6.3: points of 100, and their ratio on {articles:,} articles"
    picture = bars(drawn, "BART+HED relative to BART; 1 = equal")
    return [
        Table(caption, columns, rows, frozenset({1, 2, 3, 4})),
        Picture("Attention of BART+HED to documents relative to that of BART (Shen et al. 2023, Figure 3)", picture),
    ]


# Metric, what it says, and the ratio in Figure 3, which prints no numbers.
_LOOKS = (
    ("own-document", "encoder: to a token's own document", "above 1 on ten corpora"),
    ("cds", "decoder: deviation over documents (CDS)", "below 1 on nine corpora"),
)

ANALYSES: Mapping[str, Callable[[TableFigures], Sequence[Block]]] = {
    "003-2": attention_to_documents,
    "004-1": lambda measured: [Text(rank_tests(measured))],
}


def _scores(measured: TableFigures, system: str, metrics: tuple[str, ...]) -> dict[str, dict[str, float]]:
    rows = measured.scored.filter(pc.equal(measured.scored["system"], system))
    found: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    columns = (rows[name].to_pylist() for name in ("article_id", "metric", "value"))
    for article, metric, value in zip(*columns, strict=True):
        if metric in found:
            found[metric][article] = value
    return found
