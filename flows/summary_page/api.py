"""The routes that the page's script calls: send files; ask for a summary, watch, cancel or rewrite it."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI, HTTPException, Request

from flows.summary_page.requests import Uploads, read_wanted
from tasks.cited_summary.jobs import Jobs, SummaryJob, TooBusyError
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source, is_web_address


def add_api(app: FastAPI, jobs: Jobs, job_of: Callable[[str], SummaryJob], settings: SummarySettings) -> None:
    """Add the routes below /api."""
    uploads = Uploads(settings.max_bytes)

    def submitted(title: str, given: Sequence[GivenSource], system: Choice) -> dict[str, str]:
        try:
            check_request(title, given, settings)
            return {"id": jobs.submit(title.strip(), given, system).id}
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        except TooBusyError as error:
            raise HTTPException(503, str(error)) from error

    @app.post("/api/files", status_code=201)
    async def upload(request: Request, name: str) -> dict[str, str]:
        return {"id": await uploads.receive(request, name)}

    @app.post("/api/summaries", status_code=202)
    async def start(request: Request) -> dict[str, str]:
        wanted = await read_wanted(request, settings.max_bytes)
        given = [_address(url) for url in map(str.strip, wanted.urls) if url]
        given += [uploads.take(id_) for id_ in wanted.files]
        if wanted.text.strip():
            given.append(file_source("pasted text", wanted.text.encode("utf-8", "replace")))
        return submitted(wanted.title, given, wanted.system)

    @app.post("/api/summaries/{id_}/again", status_code=202)
    def again(id_: str, system: Choice) -> dict[str, str]:
        job = job_of(id_)
        return submitted(job.title, job.given, system)

    @app.get("/api/summaries/{id_}")
    def progress(id_: str) -> dict[str, Any]:
        job = job_of(id_)
        text = job.progress.text
        if job.state == "waiting":
            before = jobs.place(job)
            text = f"waiting: {before} {'summary is' if before == 1 else 'summaries are'} made before this one"
        return {"state": job.state, "text": text, "share": job.progress.share, "error": job.error}

    @app.post("/api/summaries/{id_}/cancel", status_code=202)
    def cancel(id_: str) -> dict[str, str]:
        job = job_of(id_)
        jobs.cancel(job)
        return {"id": job.id}


def _address(url: str) -> GivenSource:
    if is_web_address(url):
        return GivenSource(url)
    return GivenSource(url, reason="this is no web address: expected one that begins with http:// or https://")
