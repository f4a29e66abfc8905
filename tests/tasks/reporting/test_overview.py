"""Lineage and index of a build, read from the records of a real store."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storage.builds import Build
from storage.schemas import ARTICLES, DOCUMENTS, FEATURES, PARAGRAPHS
from storage.store import Store
from tasks.engine.recipe import Recipe, Shards, contents, every, gathered, same
from tasks.engine.stage import Executor, Run
from tasks.reporting.markdown import artifact
from tasks.reporting.overview import LineageStep, direct_reads, index_entries, index_page, lineage_section, trace
from tests.patience import PATIENCE


def articles(*, shard: int) -> pa.Table:
    rows = [{"article_id": f"a{shard}", "drop_reason": None}, {"article_id": f"b{shard}", "drop_reason": "no_lead"}]
    return pa.Table.from_pylist(rows, ARTICLES.schema)


def documents(*, shards: Shards, shard: int) -> pa.Table:
    """Everything goes to article shard 1."""
    return pa.Table.from_pylist([{"article_id": "a1", "article_shard": 1, "url": f"u{shard}"}], DOCUMENTS.schema)


def paragraphs(*, articles: pa.Table, documents: pa.Table) -> pa.Table:
    rows = [{"article_id": row["article_id"], "text": row["url"]} for row in documents.to_pylist()]
    return pa.Table.from_pylist(rows, PARAGRAPHS.schema)


def features(*, paragraphs: pa.Table, model: Path) -> pa.Table:
    rows = [{"article_id": row["article_id"], "paragraph_id": 0} for row in paragraphs.to_pylist()]
    return pa.Table.from_pylist(rows, FEATURES.schema)


def train(*, shards: Shards, directory: Path) -> dict[str, Any]:
    (directory / "metrics.jsonl").write_text("{}")
    (directory / "artifacts").mkdir()
    (directory / "artifacts/report-scores.md").write_text("## Scores")
    return {"published": ["metrics.jsonl"]}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    walk = Run(Store(str(tmp_path)), Executor())
    each: dict[str, Any] = {"per_shard": {"shard": range(2)}}
    first = walk.stage(Recipe(ARTICLES, articles, **each), shards=2, inputs={})
    shuffled = walk.stage(Recipe(DOCUMENTS, documents, **each), shards=2, inputs={"shards": every(first)})
    read = {"articles": same(first), "documents": gathered(shuffled)}
    kept = walk.stage(Recipe(PARAGRAPHS, paragraphs), shards=2, inputs=read)
    model = walk.directory(Recipe("models/ranker", train, version=1), inputs={"shards": every(kept)})
    walk.stage(Recipe(FEATURES, features), shards=2, inputs={"paragraphs": same(kept), "model": contents(model)})
    return walk


def parts(run: Run) -> Any:
    directories = {name: one.record for name, one in run.directories.items()}
    return {name: one.in_order for name, one in run.stages.items()}, directories


def test_what_a_stage_was_made_from_is_found_by_digests(run: Run) -> None:
    origins = {origin.name: origin for origin in trace(*parts(run))}
    assert {name: origin.reads for name, origin in origins.items()} == {
        "articles": (),
        "documents": ("articles",),
        "paragraphs": ("articles", "documents"),
        "models/ranker": ("paragraphs",),
        "features": ("paragraphs", "models/ranker"),
    }
    assert [origin.depth for origin in origins.values()] == [0, 1, 2, 3, 4]
    assert (origins["documents"].shards, origins["documents"].rows) == (2, 2)
    assert origins["models/ranker"].rows is None


def test_a_stage_without_rows_stands_before_what_read_it(tmp_path: Path) -> None:
    walk = Run(Store(str(tmp_path)), Executor())
    empty = walk.stage(Recipe(DOCUMENTS, lambda: DOCUMENTS.schema.empty_table()), shards=1, inputs={})
    read = {"articles": same(empty), "documents": same(empty)}
    walk.stage(Recipe(ARTICLES, lambda documents, articles: ARTICLES.schema.empty_table()), shards=1, inputs=read)
    assert [(origin.name, origin.reads) for origin in trace(*parts(walk))] == [
        ("documents", ()),
        ("articles", ("documents",)),
    ]


def test_equal_data_has_equal_digests_and_other_data_others(run: Run, tmp_path: Path) -> None:
    again = Run(Store(str(tmp_path / "again")), Executor())
    each: dict[str, Any] = {"per_shard": {"shard": range(2)}}
    again.stage(Recipe(ARTICLES, articles, **each), shards=2, inputs={})
    assert trace(*parts(again))[0].digest == trace(*parts(run))[0].digest
    again.stage(Recipe(ARTICLES, articles, per_shard={"shard": [0, 7]}), shards=2, inputs={})
    assert trace(*parts(again))[0].digest != trace(*parts(run))[0].digest


def test_the_lineage_is_a_picture_and_a_table(run: Run) -> None:
    page = artifact([lineage_section("b1", trace(*parts(run)))])
    assert page.startswith("## Lineage of build b1\n")
    assert page.count("](data:image/png;base64,") == 1
    assert "| features | 2 | 2 |" in page


def test_the_index_links_artifacts_in_the_order_of_the_work(run: Run) -> None:
    stages, directories = parts(run)
    entries = list(index_entries("tiny", trace(stages, directories), stages, directories))
    assert [(name, key) for name, key, _ in entries] == [
        ("articles", "tiny-stage-articles"),
        ("documents", "tiny-stage-documents"),
        ("paragraphs", "tiny-stage-paragraphs"),
        ("models/ranker", "tiny-training-ranker"),
        ("models/ranker: scores", "tiny-report-scores"),
        ("features", "tiny-stage-features"),
        ("lineage", "tiny-lineage"),
        ("spending", "tiny-spending"),
    ]
    assert entries[0][2] == "4 rows in 2 shards, 2 refused"
    page = index_page(Build("b1", "", {}, {}, {}, {}), "tiny", entries)
    assert "| [tiny-stage-paragraphs](../key/tiny-stage-paragraphs) |" in page


def test_a_picture_leaves_out_ways_that_others_imply_and_what_is_read_backwards() -> None:
    reads = {"a": (), "b": ("a",), "c": ("a", "b", "d"), "d": ("a", "b", "c")}  # c and d have equal content
    origins = [LineageStep(name, 1, 1, "0", others, depth, ()) for depth, (name, others) in enumerate(reads.items())]
    assert direct_reads(origins) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]}


_DRAW = """
import hashlib
from tasks.reporting.overview import LineageStep, lineage_picture

names = ("articles", "frontier", "pages", "documents", "features")
origins = [LineageStep(name, 1, 1, "0", (), 0, ()) for name in names]
origins.append(LineageStep("reports", 0, None, "0", names, 1, ()))
print(hashlib.sha256(lineage_picture("b", origins)).hexdigest())
"""


@pytest.mark.integration
def test_a_lineage_is_drawn_the_same_in_every_process() -> None:
    def drawn(seed: int) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        return subprocess.run(
            [sys.executable, "-c", _DRAW], env=environment, check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout

    assert drawn(1) == drawn(2)
