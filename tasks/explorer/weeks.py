"""The year of a root: its weekly versions of the models, what they were made of, and the money spent by month."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.builds import read_build
from storage.errors import DamagedFieldsError, StorageError
from storage.registry import Version, read_champion, read_version, version_numbers
from storage.spending import spent
from storage.store import Store
from tasks.evaluation.metrics import metric_name

_MOST_WEEKS = 60  # that are listed, the newest
_METRICS = ("values", "values-input", "rougeL")


@dataclass(frozen=True)
class WeekRow:
    """A version of the models."""

    version: Version
    in_use: bool  # whether it is the champion
    scores: Mapping[str, float]  # name of a metric -> mean on the frozen test split, percent
    articles: int | None  # of its build that were kept; None: the build was pruned
    bytes: int | None  # of all datasets of its build
    computed: int  # shards that were computed for it
    shards: int  # of its stages


@dataclass(frozen=True)
class Year:
    """The newest weeks."""

    rows: Sequence[WeekRow]  # the newest first
    promoted: int  # how many of them were
    older: int  # how many are not listed because they are older
    spent: Mapping[str, float]  # month of these weeks -> US dollars, for search and language models


def year_of(store: Store) -> Year | None:
    """Return the weeks of a root; None: it has no version. Raises StorageError: the root cannot be listed."""
    numbers = version_numbers(store)
    try:
        pointer = read_champion(store)
    except StorageError:  # damaged or gone, which other commands name
        pointer = None
    rows = []
    for number in reversed(numbers[-_MOST_WEEKS:]):
        try:
            version = read_version(store, number)
        except DamagedFieldsError:
            continue
        rows.append(_row(store, version, in_use=pointer is not None and pointer.version == number))
    months = sorted({row.version.created[:7] for row in rows})
    amounts = {month: sum(spent(store, month)[0].values()) for month in months}
    promoted = sum(row.version.verdict["promoted"] for row in rows)
    return Year(rows, promoted, len(numbers[:-_MOST_WEEKS]), amounts) if rows else None


def _row(store: Store, version: Version, *, in_use: bool) -> WeekRow:
    scores = {metric_name(name): 100 * version.scores[name] for name in _METRICS if name in version.scores}
    computed, shards = (sum(counts[place] for counts in version.computed.values()) for place in (0, 1))
    try:
        counts = read_build(store, version.build).counts
    except StorageError:
        return WeekRow(version, in_use, scores, None, None, computed, shards)
    articles = counts.get("articles")
    kept = None if articles is None else articles["rows"] - sum(articles["drops"].values())
    return WeekRow(version, in_use, scores, kept, sum(stage["bytes"] for stage in counts.values()), computed, shards)
