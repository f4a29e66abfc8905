"""The stages `sketches` and `twins`: what is nearly equal meets in a bucket. The MinHash bands of every kept paragraph
and document are sent to the shards of their buckets, and compared there, so that no machine ever holds the sketches of
a whole corpus."""

from itertools import chain, groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import SKETCHES, TWINS
from tasks.across.shingles import BANDS, SHINGLE_WORDS, Ngrams, band_hashes, held_out, split_all
from tasks.engine.grouping import join_by_article
from tasks.text.ngrams import WordRule

_LEAST_WORDS = 10  # shorter paragraphs are equal by chance
_WHOLE = np.uint64(0x5851F42D4C957F2D)  # keeps the buckets of documents apart from those of paragraphs


def sketch_paragraphs(
    articles: pa.Table, paragraphs: pa.Table, *, words: WordRule, buckets: int, article_shard: int
) -> pa.Table:
    """Return SKETCHES rows, by bucket shard: the bands of a shard's kept paragraphs and, joined by page, documents."""
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


_KEYS = ("article", "paragraph_id", "whole")
_FLAGS = ("in_article", "in_other", "in_held_out")


def match_sketches(sketches: pa.Table) -> pa.Table:
    """Return a TWINS row for every paragraph and document that shares a bucket with an earlier one, by article shard.
    Held-out articles come before training articles, then the order is by article and paragraph: it depends neither on
    the number of shards nor on the order of rows. What is nearly equal to an earlier one counts even if that one does
    itself, so a chain of near-duplicates keeps its first alone."""
    columns = {name: sketches[name].to_numpy() for name in sketches.schema.names}
    order = np.lexsort((columns["paragraph_id"], columns["article"], ~columns["held_out"], columns["bucket"]))
    columns = {name: values[order] for name, values in columns.items()}
    bucket, article, held = columns["bucket"], columns["article"], columns["held_out"]
    starts = _starts(bucket)
    places = np.flatnonzero(starts)
    first = np.repeat(places, np.diff(places, append=len(bucket)))
    later = ~starts
    previous = np.roll(article, 1)
    found = {
        "in_article": later & (previous == article),
        "in_other": article != article[first],
        "in_held_out": held[first] & ~held,
    }
    rows = {name: values[later] for name, values in (columns | found).items() if name in TWINS.schema.names}
    rows |= {"of_article": article[first][later], "of_paragraph": columns["paragraph_id"][first][later]}
    twins = merge_twins(pa.table([rows[name] for name in TWINS.schema.names], schema=TWINS.schema))
    return twins.sort_by([("article_shard", "ascending")])


def merge_twins(twins: pa.Table) -> pa.Table:
    """Return one row a paragraph or document, sorted: true where any of its rows is, with the first equal one."""
    columns = {name: twins[name].to_numpy() for name in twins.schema.names}
    order = np.lexsort([columns[name] for name in ("of_paragraph", "of_article", *reversed(_KEYS))])
    columns = {name: values[order] for name, values in columns.items()}
    starts = np.zeros(len(order), bool)
    for name in _KEYS:
        starts |= _starts(columns[name])
    places = np.flatnonzero(starts)
    merged = {name: values[places] for name, values in columns.items()}
    if len(places):
        merged |= {name: np.logical_or.reduceat(columns[name], places) for name in _FLAGS}
    return pa.table([merged[name] for name in twins.schema.names], schema=twins.schema)


def _starts(sorted_values: np.ndarray) -> np.ndarray:
    """Return for each value whether it differs from the one before it."""
    starts = np.ones(len(sorted_values), bool)
    starts[1:] = sorted_values[1:] != sorted_values[:-1]
    return starts
