"""`wikisum summarize`: a summary in the terminal or a file."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.fs as pafs

from storage.writing import whole_file
from tasks.cited_summary.exports import FORMATS, to_text
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.pipeline import summarize as summarize_sources
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import read_sources
from tasks.cited_summary.systems import find_system
from tasks.writing.writer import check_writer


def summarize(
    title: str,
    question: str,
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
        if settings.writer is not None and system == "model":
            raise ValueError(
                f"--system model is the trained model of --model, and {settings.writer.model} is the language model: "
                "expected one of them; without --system the language model writes"
            )
        if settings.writer is not None and system == "suitable":
            check_writer(settings.writer, settings.words)
        system_of, told = find_system(model), lambda now: _tell(now.share, now.text)
        summary, _ = summarize_sources(
            title, given, system_of, settings, question=question, choice=system, progress=told
        )
    except KeyboardInterrupt as end:
        raise KeyboardInterrupt("nothing was written") from end
    try:
        written = FORMATS[form][1](summary)
    except ValueError:
        write_result(to_text(summary), None)  # finished work is not lost
        raise
    write_result(written, output)
    _tell_unused({source.name: source.refused for source in summary.sources}, form, output)
    return 0 if summary.sentences else 1


def _tell(share: float, text: str) -> None:
    print(f"{100 * share:3.0f} %  {text}", file=sys.stderr)


def _tell_unused(reasons: Mapping[str, str | None], form: str, output: Path | None) -> None:
    """Say why sources could not be used, where the terminal does not show the text that says it."""
    for name, reason in reasons.items():
        if reason and (output or form != "txt"):
            print(f"not used: {name}: {reason}", file=sys.stderr)


def write_result(written: str | bytes, output: Path | None) -> None:
    """Write a result to a file, whole or not at all; None = to the terminal, where only text can be."""
    if output is None:
        print(written, end="")
    else:
        with whole_file(pafs.LocalFileSystem(), str(output.resolve())) as file:
            file.write(written.encode() if isinstance(written, str) else written)
        print(f"written to {output}", file=sys.stderr)
