"""The result of the scores, in a sentence."""

from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import Comparison, too_few_articles
from tasks.reporting.blocks import percent
from tasks.reporting.findings import Ranking

NOTHING_SCORED = "No summary of the test split was scored: there are no test articles with paragraphs."
SHOWN_THE_TARGET = ("greedy-rouge2", "ceiling")  # bounds, and no competitors
_FEW = 30  # articles below which percentile intervals are known to be too narrow


def is_significant(pair: Comparison, ranking: Ranking) -> bool:
    """Return whether a difference is significant at 1 - confidence after correction."""
    return pair.p_adjusted <= 1 - ranking.confidence


def comparison_sentence(pair: Comparison, ranking: Ranking) -> str:
    """Return whether a pair differs, in two words."""
    return "significant" if is_significant(pair, ranking) else "not significant"


def best_systems(ranking: Ranking) -> tuple[str | None, str | None]:
    """Return the best trained system and the best of the others that does not read the target; None: there is none."""
    trained = (system for system in ranking.systems if system in ranking.trained)
    others = (system for system in ranking.systems if system not in (*ranking.trained, *SHOWN_THE_TARGET))
    return next(trained, None), next(others, None)


def headline_sentence(ranking: Ranking) -> str:
    """Return a sentence that compares the best trained system with the best baseline that does not read the target."""
    if not ranking.systems:
        return NOTHING_SCORED
    best_trained, best_baseline = best_systems(ranking)
    if best_trained is None or best_baseline is None:
        lacking = "trained system" if best_trained is None else "baseline"
        return f"No {lacking} was scored: nothing to compare.{few_articles(ranking.articles)}"
    pair = next(
        (pair for pair in ranking.comparisons if {pair.better, pair.worse} == {best_trained, best_baseline}), None
    )
    if pair is None:
        return f"{best_trained} and {best_baseline} were not scored on a common article: nothing to compare."
    difference = pair.difference
    side = "above" if pair.better == best_trained else "below"
    low, high = 100 * difference.low, 100 * difference.high
    why = too_few_articles(ranking.comparisons, 1 - ranking.confidence)
    return (
        f"{best_trained} is {100 * difference.mean:.2f} points of {metric_name(ranking.headline)} {side} "
        f"{best_baseline} ({percent(ranking.confidence)} interval {low:.2f} to {high:.2f}): "
        f"{comparison_sentence(pair, ranking)} (p = {pair.p_adjusted:.3f} after Holm's correction"
        f"{f'; {why}' if why else ''}).{few_articles(pair.articles)}"
    )


def counted_articles(count: int) -> str:
    """Return a number of test articles in words."""
    return f"{count:,} test article{'s' if count != 1 else ''}"


def few_articles(articles: int) -> str:
    """Return a warning for few test articles, with a space before it; else an empty string."""
    return f" With only {articles:,} test articles these intervals are rough." if articles < _FEW else ""
