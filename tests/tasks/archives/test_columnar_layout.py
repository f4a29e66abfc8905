"""What the footers of a table's files say, and files that are none of the index."""

import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.schemas import INDEX_FILES
from tasks.archives.columnar import IndexFiles, TableFile, find_tables, index_files
from tasks.fetching.settings import CrawlSettings
from tests.tasks.archives.index_table import LAYOUT, Captured, crawl_folder, write_part

LETTERS = [Captured(f"http://{letter}.test/") for letter in "abcdefg"]


def footers(folder: Path) -> list[dict[str, Any]]:
    settings = CrawlSettings.model_validate({"common_crawl": {"tables": [str(folder)]}})
    table = index_files(settings, table=find_tables(settings, {})[0], connect_to={})
    assert table.schema.equals(INDEX_FILES.schema)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_footers_tell_keys_and_size(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = write_part(tmp_path / "part-0.parquet", LETTERS[:4])
    second = write_part(tmp_path / "part-1.parquet", LETTERS[4:])
    rows = footers(tmp_path)
    groups = [pq.ParquetFile(first).metadata.row_group(number) for number in range(2)]
    names = {
        "url_surtkey",
        "fetch_time",
        "fetch_status",
        "fetch_redirect",
        "content_truncated",
        "warc_filename",
        "warc_record_offset",
        "warc_record_length",
    }
    read = [group.column(n) for group in groups for n in range(group.num_columns)]
    size = sum(column.total_compressed_size for column in read if column.path_in_schema in names)
    assert rows[0] == {
        "file": str(first),
        "first": "test,a)/",
        "last": "test,d)/",
        "rows": 4,
        "row_groups": 2,
        "bytes": size,
        "sorted": True,
    }
    assert (rows[1]["file"], rows[1]["first"], rows[1]["last"]) == (str(second), "test,e)/", "test,g)/")
    assert 0 < size < first.stat().st_size / 2
    assert not caplog.records


def test_table_that_is_not_sorted_is_said_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_part(tmp_path / "part-0.parquet", [LETTERS[5], *LETTERS[:4]], rows=2, is_sorted=False)
    write_part(tmp_path / "part-1.parquet", LETTERS[3:6])
    with caplog.at_level(logging.WARNING):
        rows = footers(tmp_path)
    assert [(row["first"], row["last"], row["sorted"]) for row in rows] == [
        ("test,a)/", "test,f)/", False),
        ("test,d)/", "test,f)/", True),
    ]
    assert "not sorted by url_surtkey, or lacks its statistics (in 1 of 2 files; 1 files overlap)" in caplog.text


def test_pages_and_redirects_are_sorted_by_themselves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The keys of both subsets run from a to e and from f to g; only files of one subset may not overlap."""
    for subset in ("warc", "crawldiagnostics"):
        write_part(tmp_path / crawl_folder(subset=subset) / "part-0.parquet", LETTERS[:5])
        write_part(tmp_path / crawl_folder(subset=subset) / "part-1.parquet", LETTERS[5:])
    footers(tmp_path)
    assert not caplog.records
    write_part(tmp_path / crawl_folder(subset="crawldiagnostics") / "part-1.parquet", LETTERS[3:])
    with caplog.at_level(logging.WARNING):
        footers(tmp_path)
    assert "(in 0 of 4 files; 1 files overlap)" in caplog.text


def test_file_without_statistics_may_have_any_key(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([capture.row() for capture in LETTERS], schema=LAYOUT)
    pq.write_table(table, tmp_path / "a.parquet", write_statistics=False)
    (row,) = footers(tmp_path)
    assert (row["first"], row["last"], row["sorted"]) == (None, None, False)


def changed(path: Path, name: str, values: pa.Array | None) -> None:
    """Write the file again without a column, or with other values."""
    table = pq.read_table(path)
    position = table.schema.get_field_index(name)
    pq.write_table(table.remove_column(position) if values is None else table.set_column(position, name, values), path)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("warc_filename", None, "has no column warc_filename: expected a file of Common Crawl's columnar index"),
        ("url_surtkey", None, "has no column url_surtkey"),
        ("warc_record_offset", pa.array(["1"] * 7), "column warc_record_offset is of type string, expected a whole"),
        ("fetch_time", pa.array(range(7)), "column fetch_time is of type int64, expected a time"),
        ("url_surtkey", pa.array(range(7)), "column url_surtkey is of type int64, expected text"),
    ],
)
def test_file_of_another_layout_is_refused(name: str, values: pa.Array, message: str, tmp_path: Path) -> None:
    path = write_part(tmp_path / "part-0.parquet", LETTERS)
    changed(path, name, values)
    with pytest.raises(ValueError, match=r"part-0\.parquet") as raised:
        footers(tmp_path)
    assert message in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"<html>Please log in</html>", b"PAR1" + bytes(100) + b"PAR1", b"x" * 9])
def test_file_that_is_not_parquet_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "part-0.parquet").write_bytes(content)
    with pytest.raises(Exception, match=r"part-0\.parquet (is not a Parquet file|cannot be read)"):
        footers(tmp_path)


def test_file_that_is_gone_is_named(tmp_path: Path) -> None:
    table = IndexFiles((TableFile(str(tmp_path), "gone.parquet", ""),))
    with pytest.raises(Exception, match=r"gone\.parquet cannot be read"):
        index_files(CrawlSettings(), table=table, connect_to={})
