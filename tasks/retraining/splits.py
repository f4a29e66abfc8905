"""The test splits on which versions are judged: the frozen one, and the newest articles, a small split each week.

The frozen split never changes, so that scores of two weeks can be compared; but it ages, and a model that handles new
topics better is not rewarded on it. So each week fixes the test articles that have come in since the week before, and
those of the last weeks together are the second, rolling test split."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.engine.hashing import shard_of, stable_hash
from tasks.engine.recipe import DirectoryResult, Shards, StageResult
from tasks.retraining.frozen import without, without_learned

FROZEN, RECENT = "frozen", "recent"
POOLED = "pooled"  # the articles of both


@dataclass(frozen=True)
class TestSplit:
    """Articles and their candidate paragraphs, shard by shard."""

    __test__ = False  # otherwise pytest collects it as a test

    articles: StageResult
    paragraphs: StageResult


@dataclass(frozen=True)
class EvaluatedVersion:
    """A version's models, and their results on the test splits: what a plan and a verdict both name."""

    vocabulary: StageResult
    models: Mapping[str, DirectoryResult]  # name -> directory
    predictions: StageResult  # its summaries
    scores: StageResult  # their scores


@dataclass(frozen=True)
class HeldOutSplits:
    """Both test splits."""

    frozen: TestSplit  # the one that never changes
    # Week -> articles that came in then, oldest first; empty in the first week
    recent: Mapping[str, TestSplit] = field(default_factory=dict)

    @property
    def articles(self) -> StageResult:
        """The articles of all, those of the frozen split first."""
        return joined(self.frozen.articles, *(split.articles for split in self.recent.values()))

    @property
    def paragraphs(self) -> StageResult:
        """The paragraphs of all, in the same order."""
        return joined(self.frozen.paragraphs, *(split.paragraphs for split in self.recent.values()))

    def apart(self, result: StageResult) -> dict[str, StageResult]:
        """Return test split -> shards, for a stage computed on the shards of both."""
        records, cut = result.in_order, len(self.frozen.articles.shards)
        parts = {FROZEN: records[:cut], RECENT: records[cut:]}
        return {
            name: StageResult(result.stage, range(len(part)), dict(enumerate(part)))
            for name, part in parts.items()
            if part
        }


def joined(first: StageResult, *others: StageResult) -> StageResult:
    """Return the shards of several results of one stage as one result."""
    records, count = {}, 0
    for part in (first, *others):
        records.update(
            {count + index: part.records[shard] for index, shard in enumerate(part.shards) if shard in part.records}
        )
        count += len(part.shards)
    return StageResult(first.stage, range(count), records)


def new_articles(
    now: Collection[tuple[pa.Table]] | Shards,
    before: Collection[tuple[pa.Table]] | Shards,
    known: Collection[tuple[pa.Table]] | Shards,
    *,
    articles: int,
    seed: int,
) -> pa.Table:
    """Return test articles that were in no split a week ago, sorted by id.

    An article that was used in training and then moved to the test split, by a rename or by its source, is not new, and
    neither is one that was edited then: champion and challenger have seen it. The corpus of this week (`now`) is read
    several times; those of the week before and of the test articles that are fixed already (`known`) are read twice. A
    stable hash decides which at most `articles` are taken."""
    tables = [ARTICLES.schema.empty_table()]
    for (table,) in now:
        tables.append(table.filter(pc.and_(pc.equal(table["split"], "test"), pc.is_null(table["drop_reason"]))))
    candidates = pa.concat_tables(tables)
    seen_ids: set[str] = set()  # first, because those of most candidates are seen, and leads take long to compare
    for table in _kept(before, known):
        seen_ids.update(table["article_id"].to_pylist())
    new_ids = pa.array([id_ not in seen_ids for id_ in candidates["article_id"].to_pylist()], pa.bool_())
    fresh = without_learned(without(candidates.filter(new_ids), _kept(before, known), now), now)
    ids = fresh["article_id"].to_pylist()
    lowest = sorted(range(len(ids)), key=lambda index: stable_hash(seed, "recent", ids[index]))[:articles]
    return fresh.take(pa.array(lowest, pa.int64())).sort_by("article_id").combine_chunks()


def _kept(*groups: Iterable[tuple[pa.Table]]) -> Iterator[pa.Table]:
    """Yield the tables of some groups without refused rows."""
    return (table.filter(pc.is_null(table["drop_reason"])) for (table,) in chain(*groups))


def new_paragraphs(articles: pa.Table, shards: Shards) -> pa.Table:
    """Return the kept paragraphs of new articles, sorted by article and number. Of the PARAGRAPHS of this week's
    corpus, sharded by article, only shards with new articles are read."""
    tables = [PARAGRAPHS.schema.empty_table()]
    for number in sorted({shard_of(id_, len(shards)) for id_ in articles["article_id"].to_pylist()}):
        (paragraphs,) = shards.read(number)
        is_new = pc.is_in(paragraphs["article_id"], value_set=articles["article_id"].combine_chunks())
        tables.append(paragraphs.filter(pc.and_(is_new, pc.is_null(paragraphs["drop_reason"]))))
    order = [("article_id", "ascending"), ("paragraph_id", "ascending")]
    return pa.concat_tables(tables).sort_by(order).combine_chunks()
