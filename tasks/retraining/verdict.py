"""The verdict: is the challenger better than the champion on the frozen test split, and sure enough to be promoted?"""

from dataclasses import dataclass

from tasks.reporting.challenge import Challenge
from tasks.reporting.settings import ReportSettings
from tasks.reporting.verdicts import metric_name
from tasks.retraining.settings import RetrainingSettings


@dataclass(frozen=True)
class Verdict:
    """What a challenger's comparison with the champion came to.

    Attributes:
        promoted: whether the challenger becomes the champion.
        reason: why, in a few words.
        metric: what was compared, as in the `scores` dataset.
        articles: how many both were scored on.
        champion: mean F1, 0-1; None before the first champion.
        challenger: mean F1, 0-1.
        low: lower end of the bootstrap interval of challenger minus champion, 0-1; None before the first champion.
        high: upper end.
        p_value: two-sided, by approximate randomisation; None before the first champion.
    """

    promoted: bool
    reason: str
    metric: str
    articles: int
    champion: float | None
    challenger: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


def judging(settings: RetrainingSettings) -> ReportSettings:
    """Return how two versions are compared (`tasks.reporting.challenge.compare_contenders`)."""
    return ReportSettings(headline=settings.metric, significance=settings.test)


def first_verdict(score: float, articles: int, settings: RetrainingSettings) -> Verdict:
    """Promote the first version, which has nobody to beat.

    Args:
        score: its mean F1, 0-1.
        articles: how many it was scored on.
        settings: which metric that is.
    """
    return Verdict(True, "the first version", settings.metric, articles, None, score)


def decide(challenge: Challenge, settings: RetrainingSettings) -> Verdict:
    """Promote the challenger if its gain reaches the margin and is significant.

    Args:
        challenge: champion and challenger on the frozen test split.
        settings: metric, margin and significance.
    """
    found = challenge.decisive
    reason, promoted = _reason(100 * found.difference.mean, found.p_value, settings)
    return Verdict(
        promoted,
        reason,
        settings.metric,
        challenge.articles,
        found.champion.f1.mean,
        found.challenger.f1.mean,
        found.difference.low,
        found.difference.high,
        found.p_value,
    )


def _reason(points: float, p_value: float, settings: RetrainingSettings) -> tuple[str, bool]:
    gain = f"{points:+.2f} points of {metric_name(settings.metric)} (p = {p_value:.3f})"
    if points <= 0:
        return f"not better than the champion: {gain}", False
    if points < settings.margin:
        return f"{gain}, below the margin of {settings.margin:.2f} points", False
    if p_value > settings.significance:
        return f"{gain}, not significant at {settings.significance:g}", False
    return f"better than the champion: {gain}", True
