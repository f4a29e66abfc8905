"""The frozen test split: test articles and their candidate paragraphs as they were when the first champion was made.

Later weeks bring new test articles, edited leads and dead links. If these changed the test split, scores of two weeks
would differ for reasons other than the models. So the split is copied once, as separate shards, and fixed in the
registry.

The original article still exists in the corpus and can move to training: its split depends on its title (or its group),
which can be renamed, or on the source, which may change its split. So a row of training or validation that is a frozen
article, renamed or edited (`same_article.py`), is refused with the reason `frozen_test_article`."""

from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.engine.hashing import stable_hash
from tasks.engine.recipe import Shards
from tasks.retraining.same_article import KnownArticles
from tasks.sources.source import ArticleReason

KEPT_OUT = ArticleReason.FROZEN_TEST_ARTICLE


def find_kept_out(parts: pa.Table, frozen: Iterable[tuple[pa.Table]]) -> pa.Table:
    """Return the rows of one shard that must not be used in training, as refused rows sorted by id and lead. They are a
    separate table, because it seldom changes, and articles are merged again only if it does. `parts` are INTAKE rows;
    `frozen` are the ARTICLES on which models are judged, and the result those of training and validation that are one
    of these, in whatever version."""
    known = KnownArticles((table for (table,) in frozen), [parts])
    learned = parts.filter(_learned_from(parts))
    is_frozen = [bool(found) for found in known.recognise(learned)]
    refused = learned.filter(pa.array(is_frozen, pa.bool_())).select(ARTICLES.schema.names)
    column = refused.schema.get_field_index("drop_reason")
    reasons = pa.array([KEPT_OUT] * refused.num_rows, pa.string())
    refused = refused.set_column(column, ARTICLES.schema.field("drop_reason"), reasons).cast(ARTICLES.schema)
    return refused.sort_by([("article_id", "ascending"), ("lead", "ascending")])


def without_learned(candidates: pa.Table, corpus: Collection[tuple[pa.Table]] | Shards) -> pa.Table:
    """Return the candidates of a test split that are no article of training or validation, in whatever version.
    `corpus` has the ARTICLES of the whole corpus, and is read twice."""
    return without(candidates, (table.filter(_learned_from(table)) for (table,) in corpus), corpus)


def without(candidates: pa.Table, seen: Iterable[pa.Table], corpus: Iterable[tuple[pa.Table]]) -> pa.Table:
    """Return the ARTICLES rows that are none of those seen. `corpus` says which words are rare (`KnownArticles`)."""
    known = KnownArticles([candidates], (table for (table,) in corpus))
    found = set[int]().union(*(numbers for table in seen for numbers in known.recognise(table)))
    return candidates.filter(pa.array([number not in found for number in range(len(known))], pa.bool_()))


def freeze_articles(
    shards: Shards, corpus: Collection[tuple[pa.Table]] | Shards, *, shard: int, of: int, articles: int, seed: int
) -> pa.Table:
    """Return the articles of one shard of the frozen split, sorted by id. These are ARTICLES rows of the test split
    with a kept paragraph that are no article of another split, in whatever version. `shards` are pairs of ARTICLES and
    PARAGRAPHS, of which every `of`-th is read, from number `shard` on; the `corpus` is read twice. A stable hash
    decides which at most `articles` the whole split has: fewer where more than half of those drawn are learned from."""
    tables = [ARTICLES.schema.empty_table()]
    for number in range(shard, len(shards), of):
        about, paragraphs = shards.read(number)
        with_paragraphs = pc.unique(paragraphs["article_id"].filter(pc.is_null(paragraphs["drop_reason"])))
        chosen = pc.and_(pc.equal(about["split"], "test"), pc.is_null(about["drop_reason"]))
        tables.append(about.filter(pc.and_(chosen, pc.is_in(about["article_id"], value_set=with_paragraphs))))
    most = articles // of + (shard < articles % of)
    # Twice as many as are wanted, since the whole corpus is searched for each and few are learned from.
    table = without_learned(_drawn(pa.concat_tables(tables), 2 * most, seed), corpus)
    return table.slice(0, most).sort_by("article_id").combine_chunks()


def freeze_paragraphs(articles: pa.Table, shards: Shards, *, shard: int, of: int) -> pa.Table:
    """Return the kept paragraphs of the frozen articles of a shard, sorted by article and number. `articles` are those
    of `freeze_articles` for this shard, of so many (`of`)."""
    tables = [PARAGRAPHS.schema.empty_table()]
    for number in range(shard, len(shards), of):
        _, paragraphs = shards.read(number)
        is_frozen = pc.is_in(paragraphs["article_id"], value_set=articles["article_id"].combine_chunks())
        tables.append(paragraphs.filter(pc.and_(is_frozen, pc.is_null(paragraphs["drop_reason"]))))
    order = [("article_id", "ascending"), ("paragraph_id", "ascending")]
    return pa.concat_tables(tables).sort_by(order).combine_chunks()


def _drawn(articles: pa.Table, most: int, seed: int) -> pa.Table:
    """Return some articles in the order of a stable hash."""
    draws = [stable_hash(seed, "frozen", id_) for id_ in articles["article_id"].to_pylist()]
    return articles.take(pa.array(sorted(range(len(draws)), key=draws.__getitem__)[:most], pa.int64()))


def _learned_from(articles: pa.Table) -> pa.ChunkedArray:
    """Return which rows are used for training or validation."""
    return pc.and_(pc.not_equal(articles["split"], "test"), pc.is_null(articles["drop_reason"]))
