"""The stages `lead_ngrams` and `overlaps`: what leads of the test articles say, and what paragraphs repeat."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import LEAD_NGRAMS, OVERLAPS
from tasks.across.shingles import Ngrams, held_out, split_all
from tasks.across.sketches import near_duplicates
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
    articles: pa.Table, paragraphs: pa.Table, twin_words: pa.Table, lead_ngrams: pa.Table, *, words: WordRule
) -> pa.Table:
    """Return OVERLAPS rows: what is nearly equal to an earlier paragraph or document, or has a part of a held-out lead.
    Articles and paragraphs are sorted by their ids, `twin_words` in any order, several of one paragraph; the rows are
    sorted by article, paragraph and `whole`. What is nearly equal to an earlier one counts even if that one does
    itself."""
    alike = near_duplicates(paragraphs, twin_words, words)
    with_lead = _with_lead(articles, paragraphs, lead_ngrams["ngram"].to_numpy(), words)
    key, flags = ["article", "paragraph_id", "whole"], ["in_article", "in_other", "in_held_out", "lead"]
    first = [("in_held_out", "descending"), ("of_article", "ascending"), ("of_paragraph", "ascending")]
    groups = pa.concat_tables([alike, with_lead]).sort_by(first).group_by(key, use_threads=False)
    rows = groups.aggregate([*((name, "max") for name in flags), ("of_article", "first"), ("of_paragraph", "first")])
    rows = rows.rename_columns([name.removesuffix("_max").removesuffix("_first") for name in rows.column_names])
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
