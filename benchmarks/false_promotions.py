"""How often a year of retraining promotes a challenger that is not better, and how many better ones it promotes.

    python -m benchmarks.false_promotions [--years 2000] [--articles 4000] [--recent 2000] [--spread 6]

Years of 52 weeks are drawn and judged by `tasks.retraining.verdict.decide`, and by the rule it replaced: a two-sided p
<= .05 on only the frozen test split, whatever the gain. A model's score on an article is a part common to all models
plus its own part with a spread of `--spread` points. A challenger may be better by a gain on all topics, or only on new
ones, which only the recent split contains. The champion keeps its random part on the frozen split until it is beaten,
and on a week of the recent split until that week leaves the split. The p-values are those of the normal distribution;
the first line prints how far they are from the test in use.

The exit status is 1 if challengers that are not better are promoted more often than the settings allow."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.frame import command
from tasks.evaluation.significance import signed_randomisation_test
from tasks.retraining.settings import FLIPS, RECENT_WEEKS, RetrainingSettings
from tasks.retraining.splits import FROZEN, POOLED, RECENT
from tasks.retraining.verdict import MetricComparison, decide

YEAR = 52
GAINS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5)
METRIC = RetrainingSettings().metric
Rule = Callable[[list[MetricComparison]], bool]


@dataclass(frozen=True)
class Simulation:
    """The sizes and score differences that are simulated."""

    articles: int  # of the frozen test split
    recent: int  # articles of the recent split, once it is full
    spread: float  # standard deviation of a model's own part of an article's score, points
    # Of a challenger over the champion, points; on the recent split, and on the frozen one too unless `new_only`
    gain: float = 0.0
    new_only: bool = False  # whether the gain is only on new topics


def main(years: int = 2000, articles: int = 4000, recent: int = 2000, spread: float = 6.0) -> int:
    """Draw the years and print the tables; return the exit code."""
    print(f"largest difference of the normal p-value from the test's: {worst_p():.4f}")
    settings = RetrainingSettings()
    rules: dict[str, Rule] = {
        "now": lambda findings: decide(findings, [], settings).promoted,
        "before": lambda findings: findings[0].points > 0 and 2 * findings[0].p_better <= 0.05,
    }
    null = Simulation(articles, recent, spread)
    false = {name: promotions_a_year(null, rule, years) for name, rule in rules.items()}
    for name, count in false.items():
        print(f"challengers that are no better, promoted a year: {count:.3f} ({name})")
    table = Table(title="share of better challengers' years with a promotion, %", title_justify="left")
    for heading in ("gain, points", "on", *(f"{name}: {weeks}" for name in rules for weeks in ("1 week", "4", "52"))):
        table.add_column(heading, justify="right")
    for new_only in (False, True):
        for gain in GAINS:
            world = Simulation(articles, recent, spread, gain, new_only)
            shares = [result for rule in rules.values() for result in power(world, rule, years // 5)]
            on = "new topics" if new_only else "all topics"
            table.add_row(f"{gain:.2f}", on, *(f"{100 * share:.0f}" for share in shares))
    Console(width=120).print(table)
    return int(false["now"] > settings.false_promotions)


def promotions_a_year(world: Simulation, rule: Rule, years: int) -> float:
    """Return how many challengers are promoted in a year, on average."""
    return sum(len(weeks_promoted(world, rule, seed)) for seed in range(years)) / years


def power(world: Simulation, rule: Rule, years: int) -> list[float]:
    """Return the shares of years in which a better challenger is promoted in 1, in 4 and in 52 weeks.

    One comes each week, better than the same champion, until it is promoted."""
    first = [next(iter(weeks_promoted(world, rule, seed, stop=True)), YEAR) for seed in range(years)]
    return [sum(week < weeks for week in first) / years for weeks in (1, 4, YEAR)]


def weeks_promoted(world: Simulation, rule: Rule, seed: int, *, stop: bool = False) -> list[int]:
    """Return the weeks of a year, from 0 on, whose challenger is promoted.

    With `stop` the year ends with the first one."""
    random = np.random.default_rng(seed)
    weeks = RECENT_WEEKS
    pieces = np.full(weeks, world.recent / weeks)

    def luck(articles: float, size: int) -> np.ndarray:
        return random.normal(0, world.spread / math.sqrt(articles), size)

    champion, recent = float(luck(world.articles, 1)[0]), luck(pieces[0], weeks)
    promoted = []
    for week in range(YEAR):
        recent = np.append(recent[1:], luck(pieces[0], 1))
        challenger, own = float(luck(world.articles, 1)[0]), luck(pieces[0], weeks)
        on_frozen = 0.0 if world.new_only else world.gain
        sizes = world.articles, world.recent
        points = on_frozen + challenger - champion, world.gain + float((own - recent).mean())
        findings = [
            *(_finding(*item, world.spread) for item in zip((FROZEN, RECENT), sizes, points, strict=True)),
            _finding(POOLED, sum(sizes), float(np.average(points, weights=sizes)), world.spread),
        ]
        if rule(findings):
            promoted.append(week)
            champion, recent = challenger, own
            if stop:
                break
    return promoted


def worst_p(articles: int = 500, samples: int = 20) -> float:
    """Return how far the normal p-value is from that of the test, at most, over drawn samples."""
    drawn = np.random.default_rng(0).normal(0.03, 0.6, (articles, samples))
    exact = signed_randomisation_test(drawn, FLIPS, seed=1)
    errors = np.sqrt((drawn**2).sum(axis=0)) / articles
    return max(
        abs(better - _above(float(mean / error)))
        for (better, _), mean, error in zip(exact, drawn.mean(axis=0), errors, strict=True)
    )


def _finding(split: str, articles: int, points: float, spread: float) -> MetricComparison:
    z = points / (spread * math.sqrt(2 / articles))
    return MetricComparison(split, METRIC, articles, 0.0, points / 100, 0.0, 0.0, _above(z), _above(-z))


def _above(z: float) -> float:
    """Return the probability of a standard normal variable above z."""
    return math.erfc(z / math.sqrt(2)) / 2


if __name__ == "__main__":
    command(main, __doc__)
