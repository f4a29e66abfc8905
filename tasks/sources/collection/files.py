"""Rows of a file in order, one in memory at a time: JSON, JSON lines, CSV, Parquet, or two parallel texts."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from io import TextIOWrapper
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import ijson
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.sources.collection.layouts import SOURCE, TARGET
from tasks.sources.files import json_object, unzipped
from tasks.sources.parquet import parquet_rows

Row = bytes | tuple[bytes, bytes] | Any  # a line of JSON, parallel lines, or what a row holds
_BATCH = 64  # rows of Parquet in memory
_BEYOND = "\0"  # name of the fields of a row of CSV that has more of them than the header
_KINDS = ".jsonl, .json, .csv, .tsv, .parquet or .src, text also with .gz"
csv.field_size_limit(sys.maxsize)  # a field holds whole documents; the default ends at 131,072 characters


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; `parse_row` reads one. Raises ValueError: the file is of another kind, damaged, or its
    parallel file has other lines; FileNotFoundError: its parallel file is missing."""
    suffixes = path.name.removesuffix(".gz").split(".")[1:]
    try:
        if SOURCE in suffixes:
            yield from _parallel(path)
        elif suffixes[-1:] == ["jsonl"]:
            yield from _lines(path)
        elif suffixes[-1:] == ["json"]:
            yield from _array(path) if _first_byte(path) == b"[" else _lines(path)
        elif suffixes[-1:] in (["csv"], ["tsv"]):
            yield from _table(path, "\t" if suffixes[-1] == "tsv" else ",")
        elif suffixes[-1:] == ["parquet"]:
            yield from parquet_rows(pq.ParquetFile(path).iter_batches(_BATCH))
        else:
            raise ValueError(f"expected a file ending in {_KINDS}")
    except (ValueError, csv.Error, ijson.JSONError, pa.ArrowException) as error:
        if isinstance(error, UnicodeDecodeError):
            error = ValueError(f"expected UTF-8, got the byte {error.object[error.start]:#04x}")
        named = str(error).startswith(f"{path}: ")
        raise ValueError((str(error) if named else f"{path}: {error}").replace("\n", " ")) from error


def parse_row(row: Row) -> Mapping[str, Any]:
    """Return the columns of a row. Raises ValueError: it is no JSON object, not UTF-8, or has more fields than
    columns."""
    if isinstance(row, tuple):
        return {SOURCE: row[0].decode(), TARGET: row[1].decode()}
    content = json_object(row) if isinstance(row, bytes) else row
    if not isinstance(content, Mapping):
        raise ValueError(f"expected a JSON object, got {type(content).__name__}")
    if _BEYOND in content:
        raise ValueError(f"expected as many fields as columns, got {len(content[_BEYOND])} more")
    return content


def row_bytes(row: Row) -> bytes:
    """Return what a digest of a row is computed from."""
    if isinstance(row, tuple):
        return b"\0".join(row)
    return row if isinstance(row, bytes) else json.dumps(row, sort_keys=True, default=str).encode()


def _open(path: Path) -> AbstractContextManager[BinaryIO]:
    return unzipped(path) if path.suffix == ".gz" else path.open("rb")


def _lines(path: Path) -> Iterator[bytes]:
    with _open(path) as stream:
        yield from (line for line in stream if line.strip())


def _first_byte(path: Path) -> bytes:
    with _open(path) as stream:
        return stream.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _array(path: Path) -> Iterator[Any]:
    with _open(path) as stream:
        yield from ijson.items(stream, "item", use_float=True)


def _table(path: Path, delimiter: str) -> Iterator[dict[str, Any]]:
    with _open(path) as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        yield from csv.DictReader(text, delimiter=delimiter, restkey=_BEYOND, strict=True)


def _parallel(path: Path) -> Iterator[tuple[bytes, bytes]]:
    other = path.with_name(f".{TARGET}".join(path.name.rsplit(f".{SOURCE}", 1)))
    if not other.is_file():
        raise FileNotFoundError(f"no such file: {other}, the summaries of {path.name}")
    with _open(path) as sources, _open(other) as targets:
        for source, target in zip_longest(sources, targets):
            if source is None or target is None:
                got = "fewer" if source is None else "more"
                raise ValueError(f"expected as many lines as {other.name} has, got {got}")
            yield source, target
