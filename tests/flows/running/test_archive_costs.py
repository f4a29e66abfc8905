"""The cost of pages from Common Crawl in a plan."""

from io import StringIO
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

from flows import dag
from flows.config import BuildConfig
from flows.running.building import show_plan
from flows.running.estimates import archive_line
from storage.recipes import ShardRecord
from storage.schemas import DATASETS, INDEX_FILES
from storage.store import Store, WrittenTable
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Run
from tasks.fetching.settings import CommonCrawlSettings
from tests.tasks.archives.index_table import Captured, write_part

TABLES = CommonCrawlSettings(tables=("table",), requests_per_second=10.0)


def record(dataset: str, shard: int, written: WrittenTable, drops: dict[str, int]) -> ShardRecord:
    return ShardRecord(dataset, shard, f"{shard:016x}", written, drops, {}, {}, 1, 1.0, 1)


def planned(root: Path, **done: int) -> Run:
    """A planned walk with 90,100 URLs, two tables of two files each, and so many finished shards of each stage."""
    run = Run(Store(str(root)), Executor(), planning=True)
    stages = {"frontier": ("frontier", 2), "captures-indexed": ("captures", 4), "pages": ("pages", 10)}
    for name, (dataset, shards) in stages.items():
        rows = {"frontier": 45_050, "captures": 15_000}.get(dataset, 1)
        counts = WrittenTable(rows, 1, "", "")
        drops = {"mirror_host": 50} if dataset == "frontier" else {}
        records = {shard: record(dataset, shard, counts, drops) for shard in range(done.get(name.split("-")[0], 0))}
        run.stages[name] = StageResult(dataset, range(shards), records)
    files = {"file": "x", "first": "a", "last": "b", "rows": 1, "row_groups": 5, "bytes": 1_000_000_000, "sorted": True}
    table = pa.Table.from_pylist([files, {**files, "bytes": 0}], schema=INDEX_FILES.schema)
    records = {}
    for shard in range(done.get("footers", 0)):
        path = f"index_files/part-{shard:05d}.{shard:016x}.parquet"
        written = run.store.write_table(path, table, DATASETS["index_files"])
        records[shard] = record("index_files", shard, written, {})
    run.stages["index_files"] = StageResult("index_files", range(2), records)
    return run


def test_nothing_is_said_where_nothing_is_asked_of_common_crawl(tmp_path: Path) -> None:
    assert archive_line(planned(tmp_path), CommonCrawlSettings()) is None
    assert archive_line(planned(tmp_path, frontier=2, footers=2, captures=4, pages=10), TABLES) is None


@pytest.mark.parametrize(
    ("done", "missing"), [({"footers": 2}, "the frontier is made"), ({"frontier": 2}, "the footers of its tables")]
)
def test_what_is_not_known_yet_is_said_so(done: dict[str, int], missing: str, tmp_path: Path) -> None:
    line = archive_line(planned(tmp_path, **done), TABLES)
    assert line is not None
    assert missing in line


def test_tables_cost_their_columns_and_pages_their_records(tmp_path: Path) -> None:
    """2 GB in pieces of 4 MiB are 477 requests, 4 files 12; 90,000 records of 30 kB are 2.7 GB."""
    line = archive_line(planned(tmp_path, frontier=2, footers=2), TABLES)
    assert line == (
        "Common Crawl: at most 489 requests for 2.0 GB of the columnar index and more to follow redirects, and 90,000 "
        "requests for 2.7 GB of records, of 30 kB each: 2.5 hours, at 10 requests a second. Free from Common "
        "Crawl; from a bucket of your own in another region $0.04 for requests and $0.42 for traffic "
        "($0.40 a million, $0.09 a GB)."
    )


def test_finished_look_ups_cost_nothing_and_tell_how_many_records_there_are(tmp_path: Path) -> None:
    """60,000 captures; three of ten shards of pages are done."""
    line = archive_line(planned(tmp_path, frontier=2, footers=2, captures=4, pages=3), TABLES)
    assert line is not None
    assert "at most 0 requests for 0.0 GB of the columnar index and more" in line
    assert ", and 42,000 requests for 1.3 GB of records" in line
    assert "1.2 hours" in line


def test_files_that_are_looked_through_are_left_out(tmp_path: Path) -> None:
    line = archive_line(planned(tmp_path, frontier=2, footers=2, captures=1), TABLES)
    assert line is not None
    assert "at most 248 requests for 1.0 GB of the columnar index and more" in line  # 3 files: 9 + 239
    assert "and 90,000 requests" in line


def test_servers_cost_a_look_up_for_each_url(tmp_path: Path) -> None:
    settings = CommonCrawlSettings(indexes=("https://index.commoncrawl.org/x",), requests_per_second=10.0)
    line = archive_line(planned(tmp_path, frontier=2), settings)
    assert line is not None
    assert "at most 90,000 look-ups, one in 1 s, and 90,000 requests for 2.7 GB of records" in line
    assert "27.5 hours" in line


def test_plan_of_a_new_root_prints_it(tmp_path: Path) -> None:
    (tmp_path / "articles.jsonl").write_text('{"title": "A", "lead": "A is a letter.", "references": []}\n')
    write_part(tmp_path / "table" / "a.parquet", [Captured("http://a.test/")])
    config = BuildConfig.model_validate(
        {
            "preset": "records",
            "root": str(tmp_path / "root"),
            "source": {"records": {"paths": [str(tmp_path / "articles.jsonl")]}},
            "crawl": {"common_crawl": {"tables": [str(tmp_path / "table")]}},
        }
    )
    printed = StringIO()
    show_plan(config, dag.candidates, Console(file=printed))
    assert (
        "Common Crawl: requests, hours and money are known once the frontier is made; for the records of the whole "
        "WikiSum 90,000,000 requests for 2,700.0 GB, 1,250 hours at 20 requests a second."
    ) in printed.getvalue()
    assert "captures-indexed" in printed.getvalue()
