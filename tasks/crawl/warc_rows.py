"""A row of `pages` as a WARC record, and back: written by export, read by replay.

A page with a body is a `response` record of the URL where the body was found. Its HTTP headers are those stored in a
row (status, Content-Type, ETag, Last-Modified, those on rights) and the length of the decoded body; requests and other
headers are not stored, so they are not written. A URL without a body is a `metadata` record with the reason, because
failures are part of the corpus too. Both kinds of record have a field for the URL that was cited."""

import io
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tasks.crawl.reasons import PageReason
from tasks.crawl.safety import FetchError
from tasks.crawl.urls import BadUrlError, normalise_url

# The URL in the frontier; WARC-Target-URI is the URL after redirects.
CITED_URL = "WikiSum-Cited-URL"

_FIELDS_TYPE = "application/warc-fields"
_MAX_FIELDS_BYTES = 65_536
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_HTTP_REASON = re.compile(r"http_[1-9]\d\d")
_NUMBERS = {"status": re.compile(r"[1-9]\d\d"), "bytes": re.compile(r"\d{1,18}")}


def write_row(writer: WARCWriter, row: Mapping[str, Any], undated: datetime) -> None:
    """Write a row of `pages` as one record of WARC 1.1; `undated` dates a row from which nothing arrived."""
    date = warc_date(row["fetched_at"] or undated)
    target = row["final_url"] or row["url"]
    own = {"WARC-Date": date, "WARC-Record-ID": _record_id(row, date), CITED_URL: row["url"]}
    if row["reason"] is None:
        record = writer.create_warc_record(
            target,
            "response",
            payload=io.BytesIO(row["body"]),
            length=len(row["body"]),
            http_headers=_http_headers(row),
            warc_headers_dict=own,
        )
    else:
        fields = _fields(row)
        record = writer.create_warc_record(
            target,
            "metadata",
            payload=io.BytesIO(fields),
            length=len(fields),
            warc_content_type=_FIELDS_TYPE,
            warc_headers_dict=own,
        )
    writer.write_record(record)


def warc_date(date: datetime) -> str:
    """Return a WARC-Date in UTC with microseconds."""
    return date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _record_id(row: Mapping[str, Any], date: str) -> str:
    name = f"{row['url']} {date} {row['sha256'] or row['reason']}"
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>"


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


def _fields(row: Mapping[str, Any]) -> bytes:
    names = ("reason", "status", "final_url", "mime", "charset", "bytes")
    return "".join(f"{name}: {row[name]}\r\n" for name in names if row[name] is not None).encode()


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
