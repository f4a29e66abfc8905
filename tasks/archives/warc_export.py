"""Write the pages of a finished build to WARC, from which the same corpus can be built again without a network.

With the file as `crawl.archive` and the same articles and search results, a build makes the same `documents` and
`paragraphs`, byte for byte.

A page with a body is a `response` record of the URL where the body was found. Its HTTP headers are those stored in a
row (status, Content-Type, ETag, Last-Modified, those on rights) and the length of the decoded body; requests and other
headers are not stored, so they are not written. A URL without a body is a `metadata` record with the reason, because
failures are part of the corpus too. Both kinds of record have a field for the URL that was cited.
"""

import argparse
import io
import re
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from storage.errors import StorageError
from storage.recipes import whole
from storage.store import Store
from tasks.engine.recipe import finished_build, finished_stage
from tasks.fetching.reasons import PageReason
from tasks.fetching.safety import FetchError
from tasks.fetching.urls import BadUrlError, normalise_url

# The URL in the frontier; WARC-Target-URI is the URL after redirects.
CITED_URL = "WikiSum-Cited-URL"

_FIELDS = ("reason", "status", "final_url", "mime", "charset", "bytes")  # of a metadata record
_MAX_FIELDS_BYTES = 65_536
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_HTTP_REASON = re.compile(r"http_[1-9]\d\d")
_NUMBERS = {"status": re.compile(r"[1-9]\d\d"), "bytes": re.compile(r"\d{1,18}")}


def write_row(writer: WARCWriter, row: Mapping[str, Any], undated: datetime) -> None:
    """Write a row of `pages` as one record of WARC 1.1; `undated` dates a row from which nothing arrived."""
    date = warc_date(row["fetched_at"] or undated)
    target = row["final_url"] or row["url"]
    id_ = uuid.uuid5(uuid.NAMESPACE_URL, f"{row['url']} {date} {row['sha256'] or row['reason']}")
    own = {"WARC-Date": date, "WARC-Record-ID": f"<urn:uuid:{id_}>", CITED_URL: row["url"]}
    if row["reason"] is None:
        kind, payload, headers = "response", row["body"], _http_headers(row)
    else:
        written = (f"{name}: {row[name]}\r\n" for name in _FIELDS if row[name] is not None)
        kind, payload, headers = "metadata", "".join(written).encode(), None
    record = writer.create_warc_record(
        target, kind, io.BytesIO(payload), len(payload), http_headers=headers, warc_headers_dict=own
    )
    writer.write_record(record)


def warc_date(date: datetime) -> str:
    """Return a WARC-Date in UTC with microseconds."""
    return date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _http_headers(row: Mapping[str, Any]) -> StatusAndHeaders:
    charset = f"; charset={row['charset']}" if row["charset"] else ""
    rights = (header.split(": ", 1) for header in row.get("rights_headers") or ())
    fields: list[tuple[str, str | None]] = [
        ("Content-Type", f"{row['mime']}{charset}"),
        *((name, value) for name, value in rights),
        ("ETag", row["etag"]),
        ("Last-Modified", row["last_modified"]),
        ("Content-Length", str(len(row["body"]))),
    ]
    kept = [(name, value) for name, value in fields if value is not None and _HEADER_VALUE.fullmatch(value)]
    phrase = HTTPStatus(row["status"]).phrase if row["status"] in set(HTTPStatus) else ""
    return StatusAndHeaders(f"{row['status']} {phrase}".strip(), kept, protocol="HTTP/1.1")


def read_outcome(record: Any, allowed_hosts: tuple[str, ...]) -> dict[str, Any]:
    """Return the columns of `pages` in a record of `write_row`. Raises FetchError: it is not such a record."""
    text = record.raw_stream.read(_MAX_FIELDS_BYTES).decode("utf-8", "replace")
    fields = dict(line.split(": ", 1) for line in text.split("\r\n") if ": " in line)
    reason, final = fields.get("reason", ""), fields.get("final_url")
    if reason not in set(PageReason) and not _HTTP_REASON.fullmatch(reason):
        raise FetchError(PageReason.MALFORMED_RESPONSE, f"a metadata record with the reason {reason[:80]!r}")
    try:
        return {
            "reason": reason,
            "status": _number(fields, "status"),
            "final_url": None if final is None else normalise_url(final, allowed_hosts=allowed_hosts),
            "mime": fields.get("mime"),
            "charset": fields.get("charset"),
            "bytes": _number(fields, "bytes") or 0,
        }
    except BadUrlError as error:
        raise FetchError(PageReason.MALFORMED_RESPONSE, error) from error


def _number(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name)
    if text is not None and not _NUMBERS[name].fullmatch(text):
        raise FetchError(PageReason.MALFORMED_RESPONSE, f"a metadata record with the {name} {text[:80]!r}")
    return None if text is None else int(text)


_PROGRAM = "python -m tasks.archives.warc_export"
_SHARD = "{shard}"


@dataclass
class WarcExport:
    """The result of an export."""

    pages: int = 0  # pages with a body
    failed: Counter[str] = field(default_factory=Counter)  # URLs without one, by reason
    bytes: int = 0  # body bytes
    files: int = 0  # files written


def export_build(store: Store, build_name: str | None, to: str) -> WarcExport:
    """Write the pages of a build; one batch of them is in memory at a time.

    The name of the file `to` decides the compression (`.gz`: one member per record); with `{shard}` in it each shard of
    `pages` gets a file. Build None = the latest. Raises StorageError: the build does not exist, or a file could not be
    written. ValueError: the build has no pages, or the file name is not valid for WARC. CorruptShardError: a shard of
    pages is damaged.
    """
    folder, _, name = to.rpartition("/")
    if not name.endswith((".warc", ".warc.gz")):
        raise ValueError(f"--to {to!r}: expected a name that ends in .warc or .warc.gz")
    build = finished_build(store, build_name)
    parts = [(shard, whole(record)) for shard, record in finished_stage(store, build, "pages").records.items()]
    target = Store(folder or ("/" if to.startswith("/") else "."))
    created = datetime.fromisoformat(build.created)
    done = WarcExport()
    groups = [[part] for part in parts] if _SHARD in name else [parts]
    for group in groups:
        file = name.replace(_SHARD, f"{group[0][0]:05d}" if group else "00000")
        with target.writing(file) as sink:
            batches = (batch for _, part in group for batch in part.batches(store))
            about = {"isPartOf": build.name, "software": "wikisum", "format": "WARC File Format 1.1"}
            write_pages(sink, batches, name=file, about=about, created=created, done=done)
        done.files += 1
    return done


def write_pages(
    sink: IO[bytes],
    batches: Iterable[pa.RecordBatch],
    *,
    name: str,
    about: Mapping[str, str],
    created: datetime,
    done: WarcExport,
) -> None:
    """Write rows of `pages` to one WARC file, equal rows as equal bytes; `created` dates what did not arrive."""
    writer = WARCWriter(sink, gzip=name.endswith(".gz"), warc_version="WARC/1.1")
    first = writer.create_warcinfo_record(Path(name).name, dict(about))
    first.rec_headers.replace_header("WARC-Date", warc_date(created.astimezone(UTC)))
    first.rec_headers.replace_header(
        "WARC-Record-ID", f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{about} {name}')}>"
    )
    writer.write_record(first)
    for batch in batches:
        for number in range(batch.num_rows):
            row = batch.slice(number, 1).to_pylist()[0]
            write_row(writer, row, created)
            if row["reason"] is None:
                done.pages += 1
                done.bytes += len(row["body"])
            else:
                done.failed[row["reason"]] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options and export; return the exit code: 0, or 1 for an error."""
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("--root", required=True, help="folder or URI of the corpus")
    parser.add_argument(
        "--to",
        required=True,
        help="WARC file to write, .warc or .warc.gz, path or URI; {shard} in its name: a file for each shard of pages",
    )
    parser.add_argument("--build", help="build to export (default: the latest)")
    options = parser.parse_args(arguments)
    try:
        done = export_build(Store(options.root), options.build, options.to)
    except (StorageError, ValueError, OSError) as error:
        sys.stderr.write(f"{_PROGRAM} stopped: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing half-written was kept\n")
        return 130
    failed = ", ".join(f"{reason} {count:,}" for reason, count in done.failed.most_common())
    sys.stdout.write(
        f"{done.pages:,} pages, {done.bytes / 1e6:.1f} MB, {done.failed.total():,} URLs without a page"
        f"{f' ({failed})' if failed else ''} in {done.files} file{'s' if done.files != 1 else ''}: {options.to}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
