"""The frozen test split: test articles and their candidate paragraphs as they were when the first champion was made.

Later weeks bring new test articles, edited leads and dead links. Were they taken in, two scores of two weeks would
differ for other reasons than the models. So the split is copied once, as shards of its own, and pinned in the registry.
An article of the test split does not move to training by itself, because its split hangs on its title (or its group)
and the seed; a source that decides the splits must not move it either.
"""

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.hashing import stable_hash
from tasks.inputs import Shards


def freeze_articles(shards: Shards, *, shard: int, of: int, articles: int, seed: int) -> pa.Table:
    """Return the articles of one shard of the frozen split, sorted by id.

    Args:
        shards: pairs of ARTICLES and PARAGRAPHS of the same articles; every `of`-th is read, from number `shard` on.
        shard: which shard of the split.
        of: how many there are.
        articles: most articles of the whole split; which ones, a stable hash decides.
        seed: of that hash.

    Returns:
        ARTICLES rows of the test split that have a kept paragraph.
    """
    found = [ARTICLES.schema.empty_table()]
    for number in range(shard, len(shards), of):
        about, paragraphs = shards.read(number)
        told = pc.unique(paragraphs["article_id"].filter(pc.is_null(paragraphs["drop_reason"])))
        chosen = pc.and_(pc.equal(about["split"], "test"), pc.is_null(about["drop_reason"]))
        found.append(about.filter(pc.and_(chosen, pc.is_in(about["article_id"], value_set=told))))
    table = pa.concat_tables(found)
    draws = [stable_hash(seed, "frozen", id_) for id_ in table["article_id"].to_pylist()]
    most = articles // of + (shard < articles % of)
    lowest = sorted(range(len(draws)), key=draws.__getitem__)[:most]
    return table.take(pa.array(lowest, pa.int64())).sort_by("article_id").combine_chunks()


def freeze_paragraphs(articles: pa.Table, shards: Shards, *, shard: int, of: int) -> pa.Table:
    """Return the kept paragraphs of the frozen articles of a shard, sorted by article and number.

    Args:
        articles: what `freeze_articles` returned for this shard.
        shards: see there.
        shard: which shard of the split.
        of: how many there are.
    """
    found = [PARAGRAPHS.schema.empty_table()]
    for number in range(shard, len(shards), of):
        _, paragraphs = shards.read(number)
        mine = pc.is_in(paragraphs["article_id"], value_set=articles["article_id"].combine_chunks())
        found.append(paragraphs.filter(pc.and_(mine, pc.is_null(paragraphs["drop_reason"]))))
    order = [("article_id", "ascending"), ("paragraph_id", "ascending")]
    return pa.concat_tables(found).sort_by(order).combine_chunks()
