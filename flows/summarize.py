"""A cited summary of your own web pages and files, in the terminal or on a local page (`--serve`). The command needs
no Prefect server, whose start would take longer than the summary. The flow, for the deployment `summarize`, does the
same work and shows it as a Markdown artifact."""

import re
import sys

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact

from flows.running.notification import notifying_flow
from tasks.cited_summary.exports import to_markdown
from tasks.cited_summary.pipeline import summarize as summarize_sources
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import STANDARD_INPUT, read_sources
from tasks.cited_summary.systems import find_system

_SHOWN_BYTES = 250_000  # of the artifact, whose limit of 512 KiB is counted in JSON


@notifying_flow("summarize", "summarize-{title}")
def summarize(title: str, sources: list[str], model: str | None = None, settings: SummarySettings | None = None) -> str:
    """Summarize URLs, or files of the worker's machine; return and show Markdown. ValueError names what is lacking.

    Args:
        title: what the summary is about, such as "Skerry Point Lighthouse".
        sources: addresses of web pages, and files or folders of the worker's machine (HTML, PDF, Word, EPUB,
            OpenDocument, slides, text).
        model: root of a build or folder of an exported model that writes; empty: whole sentences are chosen.
        settings: length, language and who writes; empty: 150 words in English, and no language model."""
    settings = settings or SummarySettings()
    log = get_run_logger()
    if STANDARD_INPUT in sources:
        raise ValueError(f"sources contains {STANDARD_INPUT!r}: a deployment has no standard input")
    given = read_sources(sources, settings.max_bytes, sys.stdin.buffer)
    summary, _ = summarize_sources(
        title, given, find_system(model), settings, progress=lambda now: log.info("%s", now.text)
    )
    markdown = to_markdown(summary)
    plain = re.sub(r"\[\^(\d+)\]:?", r"\\[\1\\]", markdown)  # the UI knows no footnotes
    shown = plain.encode()[:_SHOWN_BYTES].decode(errors="ignore")
    create_markdown_artifact(key="summary", markdown=shown, description=f"{title}: written by {summary.system}")
    if not summary.sentences:
        raise ValueError(
            " ".join([*summary.notes, *(f"{source.name}: {source.refused}." for source in summary.sources)])
        )
    return markdown
