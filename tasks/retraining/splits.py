"""The test splits on which versions are judged: the frozen one, test articles and their candidate paragraphs as they
were when the first champion was made, and the newest articles, a small split each week.

If new test articles, edited leads and dead links changed the test split, scores of two weeks would differ for reasons
other than the models. So it is copied once, as separate shards, and fixed in the registry. An article of it can still
move to training in the corpus, by another title, group or split of its source. So a row of training or validation that
is a frozen article, renamed or edited (`same_article.py`), is refused with the reason `frozen_test_article`.

The frozen split ages, and a model that handles new topics better is not rewarded on it. So each week fixes the test
articles that have come in since the week before; those of the last weeks are the second, rolling test split."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, PARAGRAPHS
from storage.tables import with_values
from tasks.engine.hashing import shard_of, stable_hash
from tasks.engine.recipe import DirectoryResult, Shards, StageResult
from tasks.retraining.same_article import KnownArticles
from tasks.sources.source import ArticleReason

FROZEN, RECENT = "frozen", "recent"
Tables = Collection[tuple[pa.Table]] | Shards  # of one stage, shard by shard; they can be read again
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


def new_articles(now: Tables, before: Tables, known: Tables, *, articles: int, seed: int) -> pa.Table:
    """Return test articles that were in no split a week ago, sorted by id.

    An article that was used in training and then moved to the test split, by a rename or by its source, is not new,
    even if it was also edited. Champion and challenger have seen it. The corpus of this week (`now`) is read several
    times; those of the week before and of the test articles that are fixed already (`known`) are read twice. A stable
    hash decides which at most `articles` are taken."""
    tables = (
        table.filter(pc.and_(pc.equal(table["split"], "test"), pc.is_null(table["drop_reason"]))) for (table,) in now
    )
    candidates = pa.concat_tables([ARTICLES.schema.empty_table(), *tables])
    seen_ids: set[str] = set()  # first, because most candidates are found by it, and leads take long to compare
    for table in _kept(before, known):
        seen_ids.update(table["article_id"].to_pylist())
    new_ids = pa.array([id_ not in seen_ids for id_ in candidates["article_id"].to_pylist()], pa.bool_())
    fresh = without_learned(without(candidates.filter(new_ids), _kept(before, known), now), now)
    return _drawn(fresh, articles, seed, "recent").sort_by("article_id").combine_chunks()


def _kept(*groups: Iterable[tuple[pa.Table]]) -> Iterator[pa.Table]:
    """Yield the tables of some groups without refused rows."""
    return (table.filter(pc.is_null(table["drop_reason"])) for (table,) in chain(*groups))


def new_paragraphs(articles: pa.Table, shards: Shards) -> pa.Table:
    """Return the kept paragraphs of new articles, sorted by article and number. Of the PARAGRAPHS of this week's
    corpus, sharded by article, only shards with new articles are read."""
    numbers = sorted({shard_of(id_, len(shards)) for id_ in articles["article_id"].to_pylist()})
    return _paragraphs_of(articles, (shards.read(number)[0] for number in numbers))


def find_kept_out(parts: pa.Table, frozen: Iterable[tuple[pa.Table]]) -> pa.Table:
    """Return the rows of one shard that must not be used in training, as refused rows sorted by id and lead. These are
    rows of INTAKE `parts` in training and validation that are a version of one of the `frozen` ARTICLES on which models
    are judged. They are a separate table, because it rarely changes, and articles are merged again only if it does."""
    known = KnownArticles((table for (table,) in frozen), [parts])
    learned = parts.filter(_learned_from(parts))
    is_frozen = [bool(result) for result in known.recognise(learned)]
    refused = learned.filter(pa.array(is_frozen, pa.bool_())).select(ARTICLES.schema.names)
    refused = with_values(refused, "drop_reason", [ArticleReason.FROZEN_TEST_ARTICLE] * refused.num_rows)
    return refused.cast(ARTICLES.schema).sort_by([("article_id", "ascending"), ("lead", "ascending")])


def without_learned(candidates: pa.Table, corpus: Tables) -> pa.Table:
    """Return the candidates of a test split of which training and validation have no version.
    `corpus` has the ARTICLES of the whole corpus, and is read twice."""
    return without(candidates, (table.filter(_learned_from(table)) for (table,) in corpus), corpus)


def without(candidates: pa.Table, seen: Iterable[pa.Table], corpus: Iterable[tuple[pa.Table]]) -> pa.Table:
    """Return the ARTICLES rows that are none of those seen. `corpus` says which words are rare (`KnownArticles`)."""
    known = KnownArticles([candidates], (table for (table,) in corpus))
    results = set[int]().union(*(numbers for table in seen for numbers in known.recognise(table)))
    return candidates.filter(pa.array([number not in results for number in range(len(known))], pa.bool_()))


def freeze_articles(shards: Shards, corpus: Tables, *, shard: int, of: int, articles: int, seed: int) -> pa.Table:
    """Return the articles of one shard of the frozen split, sorted by id. These are ARTICLES rows of the test split
    with a kept paragraph, of which other splits have no version. `shards` are pairs of ARTICLES and PARAGRAPHS, of
    which every `of`-th is read, from number `shard` on; the `corpus` is read twice. A stable hash decides which at most
    `articles` the whole split has: fewer if more than half of those drawn are used in training."""
    tables = [ARTICLES.schema.empty_table()]
    for number in range(shard, len(shards), of):
        about, paragraphs = shards.read(number)
        with_paragraphs = pc.unique(paragraphs["article_id"].filter(pc.is_null(paragraphs["drop_reason"])))
        chosen = pc.and_(pc.equal(about["split"], "test"), pc.is_null(about["drop_reason"]))
        tables.append(about.filter(pc.and_(chosen, pc.is_in(about["article_id"], value_set=with_paragraphs))))
    most = articles // of + (shard < articles % of)
    # Twice as many as are needed, because the whole corpus is searched for each and few are used in training.
    table = without_learned(_drawn(pa.concat_tables(tables), 2 * most, seed, "frozen"), corpus)
    return table.slice(0, most).sort_by("article_id").combine_chunks()


def freeze_paragraphs(articles: pa.Table, shards: Shards, *, shard: int, of: int) -> pa.Table:
    """Return the kept paragraphs of the frozen articles of a shard, sorted by article and number. `articles` are those
    of `freeze_articles` for this shard, of so many (`of`)."""
    return _paragraphs_of(articles, (shards.read(number)[1] for number in range(shard, len(shards), of)))


def _paragraphs_of(articles: pa.Table, tables: Iterable[pa.Table]) -> pa.Table:
    """Return the kept rows of PARAGRAPHS that are of some articles, sorted by article and number."""
    chosen = [PARAGRAPHS.schema.empty_table()]
    for table in tables:
        is_theirs = pc.is_in(table["article_id"], value_set=articles["article_id"].combine_chunks())
        chosen.append(table.filter(pc.and_(is_theirs, pc.is_null(table["drop_reason"]))))
    order = [("article_id", "ascending"), ("paragraph_id", "ascending")]
    return pa.concat_tables(chosen).sort_by(order).combine_chunks()


def _drawn(articles: pa.Table, most: int, seed: int, name: str) -> pa.Table:
    """Return some articles in the order of a stable hash."""
    draws = [stable_hash(seed, name, id_) for id_ in articles["article_id"].to_pylist()]
    return articles.take(pa.array(sorted(range(len(draws)), key=draws.__getitem__)[:most], pa.int64()))


def _learned_from(articles: pa.Table) -> pa.ChunkedArray:
    """Return which rows are used for training or validation."""
    return pc.and_(pc.not_equal(articles["split"], "test"), pc.is_null(articles["drop_reason"]))
