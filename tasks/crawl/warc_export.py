"""Write the pages of a finished build to WARC, from which the same corpus can be built again without a network.

With the file as `crawl.archive` and the same articles and search results, a build makes the same `documents` and
`paragraphs`, byte for byte. `tasks.crawl.warc_rows` describes the records.
"""

import argparse
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pyarrow as pa
from warcio.warcwriter import WARCWriter

from storage.errors import StorageError
from storage.parts import whole
from storage.store import Store
from tasks.crawl.warc_rows import warc_date, write_row
from tasks.engine.inputs import finished_build, finished_stage

_PROGRAM = "python -m tasks.crawl.warc_export"
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
    `pages` gets a file. Build None = the latest. Raises StorageError: there is no such build, or a file could not be
    written; ValueError: the build has no pages, or the file name is not valid for WARC; CorruptShardError: a shard of
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
