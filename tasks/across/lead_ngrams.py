"""The stage `lead_ngrams`: what the leads that models are judged on say, as hashes of 13 words in a row."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import LEAD_NGRAMS
from tasks.across.shingles import Ngrams, split_all
from tasks.engine.inputs import Shards
from tasks.text.ngrams import WordRule

LEAD_WORDS = 13  # the n of the contamination study of Brown et al. 2020 (app. C); shorter runs are common phrases


def collect_lead_ngrams(shards: Shards, *, words: WordRule) -> pa.Table:
    """Return the n-grams of all leads of the valid and test splits, one shard of articles in memory at a time.

    Args:
        shards: (articles,) of each shard.
        words: how texts are cut into words.

    Returns:
        LEAD_NGRAMS rows: 8 bytes for each word of a lead, so 160 MB for 160,000 leads of 139 words.
    """
    found = [np.zeros(0, np.uint64)]
    for (articles,) in shards:
        leads = articles.filter(held_out(articles))["lead"].to_pylist()
        found.append(np.unique(Ngrams(split_all(leads, words), LEAD_WORDS).hashes))
    return pa.table([np.unique(np.concatenate(found))], schema=LEAD_NGRAMS.schema)


def held_out(articles: pa.Table) -> pa.ChunkedArray:
    """Return for each article whether models are judged on it: it is kept, and of the valid or test split."""
    return pc.and_(pc.is_in(articles["split"], pa.array(["valid", "test"])), pc.is_null(articles["drop_reason"]))
