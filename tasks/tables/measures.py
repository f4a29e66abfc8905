"""The measured figures of the systems, computed before tables are laid out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import RANKING_SCORES, SCORES
from tasks.evaluation.significance import (
    SIGNIFICANCE,
    Comparison,
    Significance,
    SystemScore,
    compare_systems,
    summarise_scores,
)
from tasks.reporting.scores import Table1, table1


@dataclass(frozen=True)
class TableFigures:
    """All figures of this corpus that the tables show."""

    scored: pa.Table  # SCORES rows of all systems, the metric `attention` among them
    # (system, metric) -> means with intervals
    scores: Mapping[tuple[str, str], SystemScore] = field(default_factory=dict)
    table1: Table1 = field(default_factory=Table1)  # Liu & Lapata 2019
    parameters: Mapping[str, int] = field(default_factory=dict)  # trained system -> number of weights
    # trained system -> seconds and articles of one pass over the validation articles
    validation: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    # trained system -> examples of the largest batch that fits the memory limit, and how it was found
    batches: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)  # system -> why it was not run
    headline: str = "rougeL"  # metric by which systems are compared
    significance: Significance = SIGNIFICANCE  # of the intervals and tests
    seed: int = 0  # of the resamples

    def compare(self, systems: Sequence[str], metric: str) -> list[Comparison]:
        """Test every pair of some systems under a metric, corrected for the number of these pairs."""
        chosen = pc.and_(
            pc.equal(self.scored["metric"], metric), pc.is_in(self.scored["system"], pa.array(systems, pa.string()))
        )
        return compare_systems(self.scored.filter(chosen), self.significance, self.seed)

    def is_significant(self, pair: Comparison) -> bool:
        """Return whether a difference is significant at 1 - confidence after correction."""
        return pair.p_adjusted <= self.significance.level


def measure(
    scores: Iterable[tuple[pa.Table, ...]],
    attention: pa.Table,
    *,
    parameters: Mapping[str, int],
    validation: Mapping[str, tuple[float, int]],
    batches: Mapping[str, tuple[int, str]],
    reasons: Mapping[str, str],
    headline: str,
    significance: Significance,
    seed: int,
) -> TableFigures:
    """Return the measures of all systems, from SCORES of each shard after RANKING_SCORES; a missing headline is
    replaced."""
    rankings, tables = [RANKING_SCORES.schema.empty_table()], [SCORES.schema.empty_table(), attention]
    for ranking, *scored in scores:
        rankings.append(ranking)
        tables += scored
    every = pa.concat_tables(tables)
    summaries = summarise_scores(every, significance, seed)
    metrics = [score.metric for score in summaries]
    return TableFigures(
        scored=every,
        scores={(score.system, score.metric): score for score in summaries},
        table1=table1(pa.concat_tables(rankings)),
        parameters=parameters,
        validation=validation,
        batches=batches,
        reasons=reasons,
        headline=headline if headline in metrics or not metrics else metrics[0],
        significance=significance,
        seed=seed,
    )
