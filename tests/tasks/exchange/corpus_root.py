"""A root with a small finished corpus: articles in two shards, crawled pages, given documents, ranks and graphs."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from storage.builds import Build, record_build
from storage.recipes import ShardRecord, save_record, shard_path
from storage.schemas import ARTICLES, DATASETS, DOCUMENTS, FEATURES, GIVEN, GRAPHS, PARAGRAPHS, RANKED
from storage.store import Store
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.paragraphs.settings import ParagraphSettings
from tasks.ranking.features import compute_features

LEAD = "The Severn is the longest river in Great Britain and rises in the Cambrian Mountains of Wales."
WIDE = "Near its mouth the river is more than a mile wide at high tide."
BORE = "A tidal bore runs up the estuary on most days of the spring tides."
SALMON = "Anglers come to the upper reaches every autumn to fish for salmon."
WALES = "The longest river in Great Britain flows out of Wales for 220 miles."
SHORT = "Read more"  # a refused paragraph
CONFIG = {
    "seed": 7,
    "words": "rouge",
    "paragraphs": ParagraphSettings().model_dump(mode="json"),
    "crawl": {"contact": "someone@example.org"},
    "source": {"kind": "records", "records": {"paths": ["/home/someone/articles.jsonl"]}},
}


def article(number: int, split: str, **changed: Any) -> dict[str, Any]:
    return {
        "article_id": f"{number:016x}",
        "title": f"River {number}",
        "lead": LEAD,
        "references": [f"http://x.test/{number}"],
        "search_results": [],
        "split": split,
        "group": None,
        "source": "records",
        "revision": None,
        "licence": "CC BY-SA 4.0",
        "drop_reason": None,
        **changed,
    }


def document(number: int, shard: int, *texts: str, **changed: Any) -> dict[str, Any]:
    return {
        "article_id": f"{number:016x}",
        "article_shard": shard,
        "url": f"http://x.test/{number}",
        "provenance": "citation",
        "rank": 0,
        "title": f"Page of {number}",
        "date": "2024-05-03",
        "author": "Ann Molloy",
        "site": None,
        "paragraphs": list(texts),
        "boilerplate": [False] * len(texts),
        "engine": None,
        "reason": None,
        "licence": None,
        "licence_source": None,
        "reservations": [],
        "language": "en",
        "personal": {"emails": 0, "phones": 0, "ip_addresses": 0},
        **changed,
    }


SHARDS = [
    [article(1, "train"), article(2, "test", licence=None), article(3, "train", drop_reason="empty_lead")],
    [article(4, "train", title="Loire | <b>`x`</b>", group="France"), article(5, "train")],
]
CRAWLED = [
    document(1, 0, SHORT, WIDE, WALES),
    document(
        1,
        0,
        BORE,
        url="http://y.test/1",
        provenance="search",
        title=None,
        licence="CC-BY-4.0",
        licence_source="rel-license",
        reservations=["header noai", "meta noai"],
        language=None,
        personal={"emails": 2, "phones": 0, "ip_addresses": 0},
    ),
    document(1, 0, url="http://z.test/1", reason="http_404"),
    document(4, 1, SHORT, url="http://x.test/4"),
]
GIVEN_ROWS = [
    document(1, 0, SALMON, url="document:1", rank=1, licence="CC-BY-SA-4.0", licence_source="source"),
    document(2, 0, WIDE, BORE, url="document:1"),
]
RANKS = {1: [(1, 0.9), (3, 0.5)], 2: [(1, 0.25)]}  # article -> paragraph and score, best first
EDGE = {"i": 0, "j": 1, "weight": 0.5}


def make_corpus(
    root: Path, *, ranked: bool = True, config: dict[str, Any] | None = None, refused: tuple[str, str] | None = None
) -> Build:
    """Write the build below `root`; paragraphs with the first text of `refused` have the second as their reason."""
    store = Store(str(root))
    tables: dict[str, list[pa.Table]] = {
        "articles": [pa.Table.from_pylist(rows, ARTICLES.schema) for rows in SHARDS],
        "documents": [pa.Table.from_pylist(CRAWLED, DOCUMENTS.schema)],
        "given": [pa.Table.from_pylist(GIVEN_ROWS, GIVEN.schema)],
    }
    documents, given = tables["documents"][0], tables["given"][0]
    settings = ParagraphSettings(pages={"obey_training": False})
    tables["paragraphs"] = [
        pa.Table.from_batches(
            build_paragraphs(articles, _of(documents, shard), settings, given=_of(given, shard)), PARAGRAPHS.schema
        )
        for shard, articles in enumerate(tables["articles"])
    ]
    if refused is not None:
        tables["compared"] = [_without(*refused, table) for table in tables["paragraphs"]]
    compared = tables.get("compared", tables["paragraphs"])
    made = map(compute_features, tables["articles"], compared)
    tables["features"] = [pa.Table.from_batches(batches, FEATURES.schema) for batches in made]
    if ranked:
        tables["ranked"] = [_ranked(SHARDS[shard], tables["paragraphs"][shard]) for shard in range(2)]
        tables["graphs"] = [_graphs(SHARDS[shard]) for shard in range(2)]
    records = {
        stage: {shard: write_shard(store, stage, shard, table) for shard, table in enumerate(some)}
        for stage, some in tables.items()
    }
    return record_build(store, CONFIG if config is None else config, records, {})


def _of(documents: pa.Table, shard: int) -> pa.Table:
    return documents.filter(pa.compute.equal(documents["article_shard"], shard))


def _without(text: str, reason: str, paragraphs: pa.Table) -> pa.Table:
    rows = [{**row, "drop_reason": reason} if row["text"] == text else row for row in paragraphs.to_pylist()]
    return pa.Table.from_pylist(rows, paragraphs.schema)


def _ranked(articles: list[dict[str, Any]], paragraphs: pa.Table) -> pa.Table:
    texts = {(row["article_id"], row["paragraph_id"]): row for row in paragraphs.to_pylist()}
    rows = []
    for one in articles:
        for rank, (paragraph, score) in enumerate(RANKS.get(int(one["article_id"], 16), [])):
            found = texts[one["article_id"], paragraph]
            rows.append({**found, "rank": rank, "score": score})
    return pa.Table.from_pylist([{name: row[name] for name in RANKED.schema.names} for row in rows], RANKED.schema)


def _graphs(articles: list[dict[str, Any]]) -> pa.Table:
    rows = [
        {"article_id": one["article_id"], "nodes": 2, "similarity": [EDGE], "discourse": []}
        for one in articles
        if int(one["article_id"], 16) == 1
    ]
    return pa.Table.from_pylist(rows, GRAPHS.schema)


def write_shard(store: Store, stage: str, shard: int, table: pa.Table) -> ShardRecord:
    dataset, key = PARAGRAPHS if stage == "compared" else DATASETS[stage], f"{shard:016x}"
    written = store.write_table(shard_path(stage, shard, key), table, dataset)
    drops = [] if dataset.reason is None else table[dataset.reason].drop_null().to_pylist()
    counts = {reason: drops.count(reason) for reason in sorted(set(drops))}
    record = ShardRecord(stage, shard, key, written, counts, {}, {}, dataset.version, 0.0, 0)
    save_record(store, record)
    return record
