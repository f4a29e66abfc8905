"""A finished build of three articles in two shards, with everything that can be looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from storage import schemas
from storage.builds import Build, latest_build, save_build
from storage.directories import DirectoryRecord
from storage.schemas import Dataset
from storage.sealed import seal
from storage.store import Store

CITED, FAILED, MIRROR = "http://a.test/skerry", "http://b.test/gone", "http://en.wikipedia.org/wiki/Skerry"
TEXT = "The tower was built in 1847 by Thomas Ridley."
COPY = "Skerry Point is a lighthouse, and this is its lead."
BODY = f"<html><script>parent.stolen = 1</script><p>{TEXT}</p><p>{COPY}</p></html>".encode()
REPORT = '<td><a data-rows="of=documents&amp;reason=http_404"><strong>1</strong></a></td>'
TITLES = {0: ["Skerry Point", "Hallow Sands"], 1: ["Orme <b>Bridge</b>"]}


def ids(shard: int) -> list[str]:
    return [f"{shard}{number:015x}" for number in range(len(TITLES[shard]))]


def _rows(dataset: Dataset, *rows: dict[str, Any]) -> pa.Table:
    filled = [{**dict.fromkeys(dataset.schema.names), **row} for row in rows]
    return pa.Table.from_pylist(filled, schema=dataset.schema)


def _tables() -> dict[tuple[str, int], tuple[Dataset, pa.Table]]:
    article = ids(0)[0]
    this = {"article_id": article}
    about = {**this, "article_shard": 0, "host_shard": 0}
    tables = {
        ("articles", shard): (
            schemas.ARTICLES,
            _rows(
                schemas.ARTICLES,
                *(
                    {"article_id": id_, "title": title, "lead": COPY, "split": "test", "source": "records"}
                    for id_, title in zip(ids(shard), TITLES[shard], strict=True)
                ),
            ),
        )
        for shard in TITLES
    }
    frontier = _rows(
        schemas.FRONTIER,
        {**about, "url": CITED, "host": "a.test", "provenance": "citation", "rank": 0},
        {**about, "url": FAILED, "host": "b.test", "provenance": "search", "rank": 0},
        {
            **about,
            "url": MIRROR,
            "host": "en.wikipedia.org",
            "provenance": "citation",
            "rank": 1,
            "drop_reason": "mirror_host",
        },
    )
    fetched = {"fetched_at": datetime(2026, 1, 1, tzinfo=UTC), "attempts": 1, "seconds": 0.1}
    pages = _rows(
        schemas.PAGES,
        {
            **fetched,
            "url": CITED,
            "host": "a.test",
            "status": 200,
            "mime": "text/html",
            "bytes": len(BODY),
            "body": BODY,
        },
        {**fetched, "url": FAILED, "host": "b.test", "status": 404, "reason": "http_404", "bytes": 10},
    )
    document = {**this, "article_shard": 0, "provenance": "citation", "rank": 0}
    documents = _rows(
        schemas.DOCUMENTS,
        {
            **document,
            "url": CITED,
            "title": "The tower",
            "date": "2024-05-03",
            "author": "Ann Molloy",
            "paragraphs": [TEXT, COPY],
            "boilerplate": [False, False],
            "engine": "trafilatura",
        },
        {**document, "url": FAILED, "provenance": "search", "reason": "http_404"},
    )
    paragraph = {**this, "url": CITED, "provenance": "citation"}
    paragraphs = _rows(
        schemas.PARAGRAPHS,
        {**paragraph, "paragraph_id": 0, "position": 0, "text": TEXT},
        {**paragraph, "paragraph_id": 1, "position": 1, "text": COPY, "drop_reason": "clone"},
    )
    features = _rows(schemas.FEATURES, {**this, "paragraph_id": 0, "rouge2_recall": 0.25, "title_similarity": 0.5})
    ranked = _rows(
        schemas.RANKED, {**this, "rank": 0, "paragraph_id": 0, "url": CITED, "position": 0, "text": TEXT, "score": 0.75}
    )
    written = {**this, "tokens": [], "attention": []}
    baselines = _rows(
        schemas.PREDICTIONS,
        {**written, "system": "concepts", "summary": f"{TEXT} It was sold to Greta Hallow in 1902."},
    )
    return {
        **tables,
        ("frontier", 0): (schemas.FRONTIER, frontier),
        ("pages", 0): (schemas.PAGES, pages),
        ("documents", 0): (schemas.DOCUMENTS, documents),
        ("paragraphs", 0): (schemas.PARAGRAPHS, paragraphs),
        ("features", 0): (schemas.FEATURES, features),
        ("ranked", 0): (schemas.RANKED, ranked),
        ("baselines", 0): (schemas.PREDICTIONS, baselines),
    }


def small_corpus(root: Path, *, leak: bool = False) -> str:
    """Write the build, its kept paragraph refused across articles if it is a `leak`; return its root."""
    store, stages, tables = Store(str(root)), {}, _tables()
    if leak:
        dataset, paragraphs = tables["paragraphs", 0]
        kept, clone = paragraphs.to_pylist()
        tables["compared", 0] = dataset, _rows(dataset, {**kept, "drop_reason": "leak"}, clone)
    for (stage, shard), (dataset, table) in tables.items():
        path = f"{stage}/part-{shard:05d}.{'0' * 16}.parquet"
        store.write_table(path, table, dataset)
        stages.setdefault(stage, {})[str(shard)] = path
    counts = {stage: {"rows": 3, "drops": {}} for stage in stages}
    store.write_bytes("reports/0/report.html", REPORT.encode())
    save_build(store, Build("20260101-000000-abc", "2026-01-01T00:00:00+00:00", {}, stages, {}, counts, "reports/0"))
    return str(root)


def lists(root: Path, lengths: Sequence[int], scores: Sequence[float | None], lead: str = COPY) -> str:
    """Write a build of one article, whose paragraphs have so many words, and ranked ones such scores."""
    store, this = Store(str(root)), {"article_id": "a"}
    texts = [" ".join(["=1+1", *["1"] * (words - 1)]) for words in lengths]
    paragraph = {**this, "url": "http://a.test/", "provenance": "citation"}
    paragraphs = [{**paragraph, "paragraph_id": n, "text": text} for n, text in enumerate(texts)]
    ranked = [
        {**this, "rank": n, "score": score, "url": f"http://a.test/{n}", "text": texts[n % len(texts)]}
        for n, score in enumerate(scores)
    ]
    tables = {
        "articles": (schemas.ARTICLES, [{**this, "title": "=Title", "lead": lead, "source": "records"}]),
        "paragraphs": (schemas.PARAGRAPHS, paragraphs),
        "ranked": (schemas.RANKED, ranked),
    }
    stages = {}
    for stage, (dataset, rows) in tables.items():
        stages[stage] = {"0": f"{stage}/part-00000.{'0' * 16}.parquet"}
        store.write_table(stages[stage]["0"], _rows(dataset, *rows), dataset)
    save_build(store, Build("20260101-000000-abc", "2026-01-01T00:00:00+00:00", {}, stages, {}, {}))
    return str(root)


def scored_builds(root: str, scores: Mapping[str, Mapping[str, float]]) -> None:
    """Add a build of each name, of the same files, whose report has these scores; the last one is the latest."""
    store = Store(root)
    first = latest_build(store)
    assert first is not None
    for number, (name, means) in enumerate(scores.items(), 1):
        figures = {"headline": "values", "headline_scores": means}
        report = DirectoryRecord("reports", f"{number:016x}", {}, "", {}, {}, figures, 1.0)
        store.write_bytes(f"{report.path}.json", seal(asdict(report)))
        config = {"seed": 1, "training": {"steps": 10 * number}}
        created = f"2026-02-0{number}T00:00:00+00:00"
        save_build(store, replace(first, name=name, created=created, config=config, report=report.path))
