"""`wikisum summarize`: a summary in the terminal or a file, made here, or with `--watch` by the server of a page."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyarrow.fs as pafs

from flows.running.serve_options import CREDENTIALS
from storage.writing import whole_file
from tasks.cited_summary.exports import FILES, FORMATS, to_text
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.pipeline import summarize as summarize_sources
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import GivenSource, read_sources
from tasks.cited_summary.systems import find_system
from tasks.writing.writer import check_writer

_PATIENCE = httpx.Timeout(60.0)  # seconds, of a server that makes summaries meanwhile


def watch(
    where: str, title: str, sources: Sequence[str], system: str, settings: SummarySettings, form: str, to: Path | None
) -> int:
    """Have a server make a summary of sources that are read here, and write it as `summarize` does; return the exit
    code. `where`: of the server, or without sources of one of its summaries. Raises ValueError: it does not answer,
    refuses, or the summary failed."""
    parts = urlsplit(where)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"--watch is {where!r}: expected the address of a page such as http://127.0.0.1:4300")
    user, _, password = os.environ.get(CREDENTIALS, "").partition(":")
    auth = (user, password) if user else None
    try:
        with httpx.Client(base_url=f"{parts.scheme}://{parts.netloc}", auth=auth, timeout=_PATIENCE) as client:
            given = read_sources(sources, settings.max_bytes, sys.stdin.buffer)
            id_ = parts.path.rpartition("/")[2] if not given else _ask(client, title, given, system, settings)
            if not id_:
                raise ValueError(f"there is no source: expected some, or the address of a summary at {where}")
            _follow(client, id_)
            answer = _said(client.get(f"/summary/{id_}/export.{form}"))
            written = answer.content if form in FILES else answer.text
            found = client.get(f"/summary/{id_}/export.json").json()
    except httpx.HTTPError as error:
        raise ValueError(f"{where} does not answer: {error or type(error).__name__}") from error
    write_result(written, to)
    _tell_unused({one["name"]: one["refused"] for one in found["sources"]}, form, to)
    return 0 if found["sentences"] else 1


def _ask(client: httpx.Client, title: str, given: Sequence[GivenSource], system: str, settings: SummarySettings) -> str:
    sources = list[dict[str, str]]()
    for one in given:
        if one.is_url:
            sources.append({"url": one.name})
        elif one.body is None:
            print(f"not sent: {one.name}: {one.reason}", file=sys.stderr)
        else:
            sent = _said(client.post("/api/files", params={"name": one.name}, content=one.body))
            sources.append({"file": sent.json()["id"]})
    wanted: dict[str, Any] = {"title": title, "sources": sources, "system": system}
    wanted |= settings.model_dump(include={"words", "language", "headings"})
    return str(_said(client.post("/api/summaries", json=wanted)).json()["id"])


def _follow(client: httpx.Client, id_: str) -> None:
    """Show the progress of a summary until it is there."""
    now = dict[str, Any]()
    with client.stream("GET", f"/api/summaries/{id_}/events", timeout=None) as events:
        if not events.is_success:
            events.read()
        for line in _said(events).iter_lines():
            if line.startswith("data:"):
                now = json.loads(line.removeprefix("data:"))
                _tell(now["share"], now["text"])
    if now.get("state") != "done":
        raise ValueError(now.get("error") or f"the summary is {now.get('state', 'gone')}")


def _said(answer: httpx.Response) -> httpx.Response:
    """Return an answer. Raises ValueError, with what the server says: it refuses."""
    if answer.is_success:
        return answer
    try:
        said = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        said = answer.text[:200]
    where = f"{CREDENTIALS} has user and password; `serve` keeps its own in Prefect's profile wikisum"
    hint = f" ({where})" if answer.status_code == 401 else ""
    raise ValueError(f"{answer.url.host}:{answer.url.port} answers {answer.status_code}: {said}{hint}")


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
        if settings.writer is not None and system == "model":
            raise ValueError(
                f"--system model is the trained model of --model, and {settings.writer.model} is the language model: "
                "expected one of them; without --system the language model writes"
            )
        if settings.writer is not None and system == "suitable":
            check_writer(settings.writer, settings.words)
        system_of, told = find_system(model), lambda now: _tell(now.share, now.text)
        summary, _ = summarize_sources(title, given, system_of, settings, choice=system, progress=told)
    except KeyboardInterrupt as end:
        raise KeyboardInterrupt("nothing was written") from end
    try:
        written = FORMATS[form][1](summary)
    except ValueError:
        write_result(to_text(summary), None)  # what was made is not lost
        raise
    write_result(written, output)
    _tell_unused({one.name: one.refused for one in summary.sources}, form, output)
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
