"""Out and back in: an exported corpus as a source gives the same articles, documents and labels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.recipes import read_parts, whole
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tasks.exchange.shared_corpus.exporting import export_corpus
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings
from tests.end_to_end.test_sources import ARCHES, BRIDGE_LEAD, CHAINS, FERRY_LEAD, STORM, TOLLS, WINTER

pytestmark = pytest.mark.integration

LONG = " ".join([ARCHES, TOLLS, CHAINS, WINTER, STORM])  # one paragraph of far more than 100 words
MIXED = ["Menu", ARCHES, BRIDGE_LEAD, TOLLS]  # the first is too short, the third a clone
LINES = [
    {
        "title": "Arlen Bridge",
        "lead": f"{BRIDGE_LEAD}\nIt is a listed monument.",
        "references": [],
        "split": "valid",
        "licence": "CC BY-SA 4.0",
        "group": "Arlen",
        "documents": [
            {"url": "http://bridges.test/arlen", "title": "The bridge", "text": "\n".join(MIXED)},
            {"url": "http://history.test/", "text": LONG},
        ],
    },
    {
        "title": "Tamsin ferry",
        "lead": FERRY_LEAD,
        "split": "train",
        "licence": "CC BY-SA 4.0",
        "documents": [{"title": "The crossing", "paragraphs": [CHAINS, STORM]}, {"text": "Menu"}],
    },
    {"title": "Tolls", "lead": "It has no licence.", "split": "test", "documents": [{"text": WINTER}]},
]


def walk(root: Path, source: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Walk a source to its labels, record a build, and return the rows of the stages."""
    settings = {"preset": "records", "root": str(root), "shards": {"articles": 2, "hosts": 1}, "source": source}
    config = BuildConfig.model_validate(settings)
    store, executor = Store(str(root)), Executor()
    session = Session(config, executor, Run(store, executor), {})  # type: ignore[arg-type]
    dag.features(session)
    session.run.record_build(config.model_dump(mode="json"))
    stages = session.run.stages
    return {
        name: read_parts(store, name, map(whole, stages[name].in_order)).to_pylist()
        for name in ("articles", "paragraphs", "features")
    }


def by_title(rows: Mapping[str, list[dict[str, Any]]], *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return title -> URL, text and label of each kept paragraph, after those columns of the article."""
    titles = {row["article_id"]: row["title"] for row in rows["articles"]}
    labels = {(row["article_id"], row["paragraph_id"]): row for row in rows["features"]}
    found: dict[str, list[tuple[Any, ...]]] = {
        row["title"]: [tuple(row[name] for name in columns)] for row in rows["articles"] if not row["drop_reason"]
    }
    for row in rows["paragraphs"]:
        if row["drop_reason"] is None:
            label = labels[row["article_id"], row["paragraph_id"]]
            values = (label["rouge2_recall"], label["title_similarity"])
            found[titles[row["article_id"]]].append((row["url"], row["text"], *values))
    return found


def test_an_export_is_a_source_of_the_same_articles_documents_and_labels(tmp_path: Path) -> None:
    lines = tmp_path / "articles.jsonl"
    lines.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    out = walk(tmp_path / "one", {"kind": "records", "records": {"paths": [str(lines)]}})
    export_corpus(Store(str(tmp_path / "one")), Store(str(tmp_path / "shared")), SharedCorpusSettings())
    files = [str(tmp_path / "shared/data/*.parquet")]
    back = walk(tmp_path / "two", {"kind": "collection", "collection": {"layout": "wikisum", "paths": files}})
    columns = ("lead", "split", "group", "licence")
    expected = by_title(out, *columns)
    assert [len(rows) - 1 for _, rows in sorted(expected.items())] == [3, 2, 1]
    assert expected["Arlen Bridge"][-1][:2] == ("http://history.test/", LONG)
    assert expected["Arlen Bridge"][0][0].count("\n") == 1
    del expected["Tolls"][1]  # without a licence its text was not exported
    assert by_title(back, *columns) == expected
