"""`wikisum summarize`: a summary in the terminal or a file."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.fs as pafs

from storage.writing import whole_file
from tasks.cited_summary.exports import FORMATS
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.pipeline import summarize as summarize_sources
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import read_sources
from tasks.cited_summary.systems import find_system
from tasks.writing.opening import check_writer


def summarize(
    title: str,
    sources: Sequence[str],
    model: str | None,
    system: Choice,
    settings: SummarySettings,
    form: str,
    output: Path | None,
) -> int:
    """Summarize; return the exit code, 1 if nothing could be used. Nothing is written after an interruption."""
    try:
        given = read_sources(sources, settings.max_bytes, sys.stdin.buffer)
        check_request(given, settings)
        if settings.writer is not None and system == "suitable":
            check_writer(settings.writer, settings.words)
        summary, _ = summarize_sources(
            title,
            given,
            find_system(model),
            settings,
            choice=system,
            progress=lambda now: print(f"{100 * now.share:3.0f} %  {now.text}", file=sys.stderr),
        )
    except KeyboardInterrupt as end:
        raise KeyboardInterrupt("nothing was written") from end
    write_result(FORMATS[form][1](summary), output)
    return 0 if summary.sentences else 1


def write_result(written: str, output: Path | None) -> None:
    """Write a result to a file, whole or not at all; None = to the terminal."""
    if output is None:
        print(written, end="")
    else:
        with whole_file(pafs.LocalFileSystem(), str(output.resolve())) as file:
            file.write(written.encode())
        print(f"written to {output}", file=sys.stderr)
