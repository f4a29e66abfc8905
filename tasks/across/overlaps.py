"""The stages `lead_ngrams` and `overlaps`: what leads of the test articles say, and what paragraphs repeat."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import LEAD_NGRAMS, OVERLAPS, TWINS
from tasks.across.shingles import Ngrams, held_out, split_all
from tasks.across.sketches import merge_twins
from tasks.engine.grouping import join_by_article
from tasks.engine.inputs import Shards
from tasks.text.ngrams import WordRule

LEAD_WORDS = 13  # the n of the contamination study of Brown et al. 2020 (app. C); shorter runs are common phrases


def collect_lead_ngrams(shards: Shards, *, words: WordRule) -> pa.Table:
    """Return LEAD_NGRAMS of the leads of the valid and test splits, shard by shard: 8 bytes for each word."""
    found = [np.zeros(0, np.uint64)]
    for (articles,) in shards:
        leads = articles.filter(held_out(articles))["lead"].to_pylist()
        found.append(np.unique(Ngrams(split_all(leads, words), LEAD_WORDS).hashes))
    return pa.table([np.unique(np.concatenate(found))], schema=LEAD_NGRAMS.schema)


def find_overlaps(
    articles: pa.Table, paragraphs: pa.Table, twins: pa.Table, lead_ngrams: pa.Table, *, words: WordRule
) -> pa.Table:
    """Return OVERLAPS rows: what is nearly equal to an earlier paragraph or document, or has a part of a held-out lead.
    Articles and paragraphs are sorted by their ids, twins in any order, several of one paragraph; the rows are sorted
    by article, paragraph and `whole`."""
    merged = merge_twins(twins.select(TWINS.schema.names)).drop_columns(["article_shard"])
    merged = merged.append_column("lead", pa.array(np.zeros(merged.num_rows, bool)))
    with_lead = _with_lead(articles, paragraphs, lead_ngrams["ngram"].to_numpy(), words)
    key = ["article", "paragraph_id", "whole"]
    flags = [(name, "max") for name in ("in_article", "in_other", "in_held_out", "lead")]
    # A paragraph has one row in each table; of the two only the one of twins names another article.
    joined = pa.concat_tables([merged.cast(OVERLAPS.schema), with_lead]).group_by(key, use_threads=False)
    rows = joined.aggregate([*flags, ("of_article", "max"), ("of_paragraph", "max")])
    rows = rows.rename_columns([name.removesuffix("_max") for name in rows.column_names])
    return rows.select(OVERLAPS.schema.names).sort_by([(name, "ascending") for name in key]).cast(OVERLAPS.schema)


def _with_lead(articles: pa.Table, paragraphs: pa.Table, wanted: np.ndarray, rule: WordRule) -> pa.Table:
    """Return a row for each kept paragraph of a training article that contains one of the wanted n-grams."""
    training = articles.filter(pc.equal(articles["split"], "train"))
    kept = paragraphs.filter(pc.is_null(paragraphs["drop_reason"])).select(["article_id", "paragraph_id", "text"])
    rows = []
    for article, _, own in join_by_article(training, kept):
        found = Ngrams(split_all(own["text"].to_pylist(), rule), LEAD_WORDS).contain(wanted)
        number = int(article, 16)
        rows += [
            {"article": number, "paragraph_id": id_, "whole": False, "lead": True} | _NO_TWIN
            for id_ in own["paragraph_id"].to_numpy()[found].tolist()
        ]
    return pa.Table.from_pylist(rows, schema=OVERLAPS.schema)


_NO_TWIN = {"in_article": False, "in_other": False, "in_held_out": False}
