"""The frozen test split: test articles and their candidate paragraphs as they were when the first champion was made.

Later weeks bring new test articles, edited leads and dead links. If these changed the test split, scores of two weeks
would differ for reasons other than the models. So the split is copied once, as separate shards, and fixed in the
registry.

The original article still exists in the corpus and can move to training: its split depends on its title (or its group),
which can be renamed, or on the source, which may change its split. So a row of training or validation with the id or
the lead of a frozen article is refused with the reason `frozen_test_article`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.engine.hashing import stable_hash
from tasks.engine.inputs import Shards

KEPT_OUT = "frozen_test_article"
_WORD = re.compile(r"\w+")


def lead_words(lead: str) -> str:
    """Return a lead in the form used for comparison: words in lower case, without punctuation."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", lead).casefold()))


def find_kept_out(parts: pa.Table, frozen: Iterable[tuple[pa.Table]]) -> pa.Table:
    """Return the rows of one shard that must not be used in training, as refused rows sorted by id and lead.

    They are a separate table, because it seldom changes, and articles are merged again only if it does.

    Args:
        parts: INTAKE rows of the shard.
        frozen: ARTICLES tables of the test articles on which models are judged.

    Returns:
        ARTICLES rows of training and validation with the id or the lead of one of these.
    """
    ids: set[str] = set()
    leads: set[str] = set()
    for (table,) in frozen:
        ids.update(table["article_id"].to_pylist())
        leads.update(map(lead_words, table["lead"].to_pylist()))
    is_frozen = [id_ in ids or lead_words(lead) in leads for id_, lead in _pairs(parts)]
    refused = parts.filter(pc.and_(pa.array(is_frozen, pa.bool_()), _learned_from(parts))).select(ARTICLES.schema.names)
    column = refused.schema.get_field_index("drop_reason")
    reasons = pa.array([KEPT_OUT] * refused.num_rows, pa.string())
    refused = refused.set_column(column, ARTICLES.schema.field("drop_reason"), reasons).cast(ARTICLES.schema)
    return refused.sort_by([("article_id", "ascending"), ("lead", "ascending")])


def leads_learned_from(articles: Iterable[tuple[pa.Table]], wanted: set[str]) -> set[str]:
    """Return those of the given leads (`lead_words`) that also occur in training or validation.

    Args:
        articles: ARTICLES tables of the whole corpus.
        wanted: the leads.
    """
    leads: set[str] = set()
    for (table,) in articles:
        leads.update(wanted.intersection(lead_words(lead) for _, lead in _pairs(table.filter(_learned_from(table)))))
    return leads


def freeze_articles(
    shards: Shards, corpus: Iterable[tuple[pa.Table]], *, shard: int, of: int, articles: int, seed: int
) -> pa.Table:
    """Return the articles of one shard of the frozen split, sorted by id.

    Args:
        shards: pairs of ARTICLES and PARAGRAPHS of the same articles; every `of`-th is read, from number `shard` on.
        corpus: ARTICLES of all shards.
        shard: number of the shard of the split.
        of: number of its shards.
        articles: maximum number of articles of the whole split; a stable hash decides which.
        seed: of that hash.

    Returns:
        ARTICLES rows of the test split with a kept paragraph, and with a lead that no article of another split has.
    """
    tables = [ARTICLES.schema.empty_table()]
    for number in range(shard, len(shards), of):
        about, paragraphs = shards.read(number)
        with_paragraphs = pc.unique(paragraphs["article_id"].filter(pc.is_null(paragraphs["drop_reason"])))
        chosen = pc.and_(pc.equal(about["split"], "test"), pc.is_null(about["drop_reason"]))
        tables.append(about.filter(pc.and_(chosen, pc.is_in(about["article_id"], value_set=with_paragraphs))))
    table = pa.concat_tables(tables)
    leads = [lead_words(lead) for lead in table["lead"].to_pylist()]
    learned = leads_learned_from(corpus, set(leads))
    table = table.filter(pa.array([lead not in learned for lead in leads], pa.bool_()))
    draws = [stable_hash(seed, "frozen", id_) for id_ in table["article_id"].to_pylist()]
    most = articles // of + (shard < articles % of)
    lowest = sorted(range(len(draws)), key=draws.__getitem__)[:most]
    return table.take(pa.array(lowest, pa.int64())).sort_by("article_id").combine_chunks()


def freeze_paragraphs(articles: pa.Table, shards: Shards, *, shard: int, of: int) -> pa.Table:
    """Return the kept paragraphs of the frozen articles of a shard, sorted by article and number.

    Args:
        articles: result of `freeze_articles` for this shard.
        shards: see there.
        shard: number of the shard of the split.
        of: number of its shards.
    """
    tables = [PARAGRAPHS.schema.empty_table()]
    for number in range(shard, len(shards), of):
        _, paragraphs = shards.read(number)
        is_frozen = pc.is_in(paragraphs["article_id"], value_set=articles["article_id"].combine_chunks())
        tables.append(paragraphs.filter(pc.and_(is_frozen, pc.is_null(paragraphs["drop_reason"]))))
    order = [("article_id", "ascending"), ("paragraph_id", "ascending")]
    return pa.concat_tables(tables).sort_by(order).combine_chunks()


def _learned_from(articles: pa.Table) -> pa.ChunkedArray:
    """Return which rows are used for training or validation."""
    return pc.and_(pc.not_equal(articles["split"], "test"), pc.is_null(articles["drop_reason"]))


def _pairs(articles: pa.Table) -> Iterator[tuple[str, str]]:
    """Yield id and lead of each row."""
    return zip(articles["article_id"].to_pylist(), articles["lead"].to_pylist(), strict=True)
