"""Articles and paragraphs as short as a test can say them, and a walk over the stages that compare them."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import ARTICLES, OVERLAPS, PARAGRAPHS, SKETCHES, TWIN_WORDS, TWINS
from tasks.near_duplicates.overlaps import (
    attach_words,
    collect_lead_ngrams,
    find_overlaps,
    match_sketches,
    sketch_paragraphs,
)

LOCK = (
    "The lock was built in 1894 to lift barges past the weir, and it was rebuilt after the flood of 1912 had carried "
    "away its gates and most of the lower wall together with the cottage of the keeper, who was never found."
)
LOCK_EDITED = LOCK.replace("never found", "not found")
MILL = (
    "Below the bridge stands a mill whose two wheels ground corn for the garrison until the river was turned into the "
    "new channel, since when the building has housed a school, a brewery and at last a small museum of tools."
)
FERRY = (
    "A ferry crossed at the bend for six hundred years, worked by one family that held it from the abbey and then from "
    "the crown, and the rope by which they pulled it is shown in the church on the far bank."
)
LEAD = "The town grew at a ford of the river where two roads met before the Romans built their bridge in stone."

Article = tuple[str, str, list[tuple[str, str]]]
"""Id (hex), split, and its paragraphs: URL and text."""


def articles(given: Sequence[Article], lead: str = LEAD) -> pa.Table:
    rows = [{"article_id": id_, "split": split, "lead": lead, "drop_reason": None} for id_, split, _ in sorted(given)]
    return pa.Table.from_pylist(rows, ARTICLES.schema)


def paragraphs(given: Sequence[Article]) -> pa.Table:
    rows = [
        {"article_id": id_, "paragraph_id": number, "url": url, "text": text}
        for id_, _, texts in sorted(given)
        for number, (url, text) in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, PARAGRAPHS.schema)


class Leads:
    """All leads, as a stage reads them: shard by shard."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        self._tables = tables

    def __iter__(self):
        return ((table,) for table in self._tables)


def compared(given: Sequence[Article], shards: int = 2, lead: str = LEAD) -> list[dict]:
    """The rows of `overlaps` for articles spread over shards by their order, whatever shard a row comes from."""
    parts = [sorted(given)[shard::shards] for shard in range(shards)]
    ngrams = collect_lead_ngrams(Leads([articles(part, lead) for part in parts]), words="rouge")
    sketches = pa.concat_tables(
        sketch_paragraphs(articles(part), paragraphs(part), words="rouge", buckets=shards, article_shard=shard)
        for shard, part in enumerate(parts)
    )
    assert sketches.schema == SKETCHES.schema
    buckets = [sketches.filter(pc.equal(sketches["bucket_shard"], shard)) for shard in range(shards)]
    twins = pa.concat_tables(match_sketches(rows) for rows in reversed(buckets))
    assert twins.schema == TWINS.schema
    worded = pa.concat_tables(
        attach_words(paragraphs(part), twins.filter(pc.equal(twins["of_shard"], shard)), words="rouge")
        for shard, part in enumerate(parts)
    )
    assert worded.schema == TWIN_WORDS.schema
    rows = []
    for shard, part in enumerate(parts):
        own = worded.filter(pc.equal(worded["article_shard"], shard))
        found = find_overlaps(articles(part, lead), paragraphs(part), own, ngrams, words="rouge")
        assert found.schema == OVERLAPS.schema
        rows += found.to_pylist()
    return sorted(rows, key=lambda row: (row["article"], row["paragraph_id"], row["whole"]))
