"""Tests that a paper makes beside one of its tables, in a sentence each."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow.compute as pc
from scipy import stats

from tasks.evaluation.registry import metric_name
from tasks.tables.measures import Measured
from tasks.tables.settings import TableName

_ROUGE = ("rouge1", "rouge2", "rougeL")


def rank_tests(measured: Measured) -> str:
    """Return the Wilcoxon-Mann-Whitney tests of Hie-BART against BART (Akiyama et al. 2021, sec. 4.3).

    It is the two-sided test of independent samples, so that it does not see that both summarize the same articles.
    """
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


def relative_cds(measured: Measured) -> str:
    """Return how evenly BART+HED attends to documents beside BART (Shen et al. 2023, sec. 6.3, Figure 3b).

    The mean over articles of the ratio of their CDS, with Welch's test of the two as in their released code.
    """
    hed, bart = (_scores(measured, system, ("cds",))["cds"] for system in ("hed", "bart"))
    common = [article for article in hed if bart.get(article)]
    if len(common) < 2:
        return "BART+HED and BART have no two articles with CDS in common: their attention cannot be compared."
    first, second = (np.array([scores[article] for article in common]) for scores in (hed, bart))
    p = stats.ttest_ind(first, second, equal_var=False).pvalue
    return (
        f"CDS of BART+HED is {float((first / second).mean()):.3f} times that of BART on {len(common):,} articles "
        f"({first.mean():.3g} and {second.mean():.3g}, Welch's test p = {p:.3f}); published, below 1 on nine corpora "
        "(p <= .001): attention spread more evenly over documents."
    )


ANALYSES: Mapping[TableName, Callable[[Measured], str]] = {"003-2": relative_cds, "004-1": rank_tests}


def _scores(measured: Measured, system: str, metrics: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return metric -> article -> score of a system."""
    rows = measured.scored.filter(pc.equal(measured.scored["system"], system))
    found: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    columns = (rows[name].to_pylist() for name in ("article_id", "metric", "value"))
    for article, metric, value in zip(*columns, strict=True):
        if metric in found:
            found[metric][article] = value
    return found
