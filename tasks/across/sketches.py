"""The stage `sketches`: the MinHash bands of every kept paragraph and document, sent to the shards of their buckets.

The stage `twins` compares what meets in a bucket, so no machine ever holds the sketches of a whole corpus.
"""

from itertools import chain, groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import SKETCHES
from tasks.across.overlaps import held_out
from tasks.across.shingles import BANDS, SHINGLE_WORDS, Ngrams, band_hashes, split_all
from tasks.engine.grouping import join_by_article
from tasks.text.ngrams import WordRule

_LEAST_WORDS = 10  # shorter paragraphs are equal by chance
_WHOLE = np.uint64(0x5851F42D4C957F2D)  # keeps the buckets of documents apart from those of paragraphs


def sketch_paragraphs(
    articles: pa.Table, paragraphs: pa.Table, *, words: WordRule, buckets: int, article_shard: int
) -> pa.Table:
    """Return the bands of an article shard's kept paragraphs, and of its documents.

    A document is the kept paragraphs of one page of one article, in order.

    Args:
        articles: ARTICLES rows, sorted by article_id.
        paragraphs: PARAGRAPHS rows, sorted by article_id and paragraph_id.
        words: how texts are cut into words.
        buckets: number of bucket shards.
        article_shard: number of this shard.

    Returns:
        SKETCHES rows, sorted by bucket shard.
    """
    kept = paragraphs.filter(pc.is_null(paragraphs["drop_reason"])).select(
        ["article_id", "paragraph_id", "url", "text"]
    )
    tables = [SKETCHES.schema.empty_table()]
    for article, rows, own in join_by_article(articles, kept):
        if own.num_rows:
            sketched = _sketch(own, words)
            tables.append(_table(article, sketched, buckets, article_shard, held_out(rows)[0].as_py()))
    return pa.concat_tables(tables).sort_by([("bucket_shard", "ascending")])


def _sketch(rows: pa.Table, rule: WordRule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return paragraph ids, whether each is of a document, and bands [n, BANDS] of one article."""
    ids, urls = rows["paragraph_id"].to_numpy(), rows["url"].to_pylist()
    words = split_all(rows["text"].to_pylist(), rule)
    documents = [list(group) for _, group in groupby(range(len(urls)), key=urls.__getitem__)]
    texts = words + [list(chain.from_iterable(words[i] for i in group)) for group in documents]
    all_ids = np.concatenate([ids, ids[[group[0] for group in documents]]])
    whole = np.arange(len(texts)) >= len(words)
    long_enough = [i for i, text in enumerate(texts) if len(text) >= _LEAST_WORDS]
    bands = band_hashes(Ngrams([texts[i] for i in long_enough], SHINGLE_WORDS))
    return all_ids[long_enough], whole[long_enough], bands


def _table(
    article: str,
    sketched: tuple[np.ndarray, np.ndarray, np.ndarray],
    buckets: int,
    article_shard: int,
    is_held_out: bool,
) -> pa.Table:
    ids, whole, bands = sketched
    bucket = np.where(whole[:, None], bands ^ _WHOLE, bands).reshape(-1)
    count = len(bucket)
    return pa.table(
        [
            (bucket % np.uint64(buckets)).astype(np.int32),
            bucket,
            np.repeat(whole, BANDS),
            np.full(count, int(article, 16), np.uint64),
            np.full(count, article_shard, np.int32),
            np.full(count, is_held_out),
            np.repeat(ids, BANDS).astype(np.int32),
        ],
        schema=SKETCHES.schema,
    )
