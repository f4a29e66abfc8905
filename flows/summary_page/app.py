"""The application: what every request passes, the form, and a summary's page, exports, and sources as fetched."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from flows.running.guard import RequestGuard
from flows.summary_page.api import add_api
from flows.summary_page.explorer import add_explorer
from flows.summary_page.jobs import Jobs, SummaryJob
from flows.summary_page.kept import KeptSummaries
from flows.summary_page.requested import RequestedSource, RequestedSummary
from flows.summary_page.views import FOLDER, Systems, inert_response, render, summary_view
from storage.errors import StorageError, StorageFullError
from tasks.cited_summary.editing import pinned_sentences
from tasks.cited_summary.exports import FORMATS
from tasks.cited_summary.settings import LENGTHS, SummarySettings
from tasks.cited_summary.table import MOST_QUESTIONS, asked_questions, source_table, to_csv
from tasks.explorer.corpus import ExplorerCorpus
from tasks.text.language import SUMMARIZED

_log = logging.getLogger(__name__)


def create_app(
    jobs: Jobs,
    kept: KeptSummaries,
    settings: SummarySettings,
    corpus: ExplorerCorpus | None,
    *,
    systems: Systems,
    credentials: str | None,
    hosts: Collection[str] | None,
    local: bool,
) -> FastAPI:
    """Return the application; `systems`: what people may choose; `credentials`: user:password; `hosts`: its names;
    `local`: whether only this machine reaches it."""
    app = FastAPI(title="summaries", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(RequestGuard, credentials=credentials, limit=settings.max_bytes, hosts=hosts)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    shared: dict[str, Any] = {"explores": corpus is not None}

    def job_of(id_: str) -> SummaryJob:
        job = jobs.get(id_) or kept.get(id_)
        if job is None:
            raise HTTPException(404, "There is no such summary: it was deleted, or the server was started again.")
        return job

    def refused(request: Request, status: int, heading: str, why: str) -> Response:
        if request.url.path.startswith("/api/") or "/export." in request.url.path:
            return JSONResponse({"detail": why}, status)
        return render("missing.html.j2", status, heading=heading, why=why, **shared)

    @app.exception_handler(404)
    async def missing(request: Request, error: HTTPException) -> Response:
        return refused(request, 404, "Not here", error.detail)

    @app.exception_handler(StorageError)
    @app.exception_handler(OSError)
    async def not_stored(request: Request, error: Exception) -> Response:
        _log.error("%s %s: %s", request.method, request.url.path, error)  # it names folders, which are for the log
        status = 507 if isinstance(error, StorageFullError) else 500
        return refused(request, status, "Not done", f"{_cause(error)}; the log of the server says more")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first, *others = [(_where(item["loc"]), item) for item in error.errors()]
        where, fault = first
        if fault["type"] == "json_invalid" or not where:
            return JSONResponse({"detail": "expected JSON, as /api describes it, with its Content-Type"}, 422)
        said = [_said(one) for place, one in (first, *others) if place == where]
        return JSONResponse({"detail": f"{where}: {'; or '.join(said)}"}, 422)

    @app.get("/")
    def form(of: str = "", paste: int = 0) -> HTMLResponse:
        job = job_of(of) if of else None
        asked = job.settings if job else settings
        languages = sorted(SUMMARIZED.union(filter(None, [asked.language])))
        pinned = pinned_sentences(job.summary) if job else []
        choices = {"pinned": pinned, "systems": systems(), "lengths": LENGTHS, "languages": languages}
        return render("form.html.j2", job=job, paste=paste, asked=asked, settings=settings, **choices, **shared)

    add_api(app, jobs, kept, job_of, systems, settings, shared)
    add_results(app, job_of, kept, systems, shared)
    if corpus is not None:
        add_explorer(app, corpus, local=local)
    return app


def _cause(error: BaseException) -> str:
    """Return why a file of the server could not be read or written, without its name."""
    if isinstance(error, StorageFullError):
        return "the disk of the server is full"
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, OSError) and cause.strerror):
        cause = cause.__cause__
    known = "" if cause is None else f": {cause.strerror}"
    return f"a file of the server could not be read or written{known}"


def _where(place: Sequence[int | str]) -> str:
    """Return a place in a request without its first part, and the kinds of value that were tried there."""
    return ".".join(str(part) for part in place[1:] if str(part).isidentifier() or isinstance(part, int))


def _said(fault: Mapping[str, Any]) -> str:
    """Return what a fault of a request says to people."""
    kind = RequestedSource if "sources" in fault["loc"] else RequestedSummary
    if fault["type"] == "extra_forbidden":
        return f"expected one of {', '.join(kind.model_fields)}"
    if fault["type"] == "model_attributes_type":
        return 'expected an object such as {"url": "https://example.org/page"}'
    return str(fault["msg"]).removeprefix("Value error, ")


def add_results(
    app: FastAPI, job_of: Callable[[str], SummaryJob], kept: KeptSummaries, systems: Systems, shared: Mapping[str, Any]
) -> None:
    """Add the routes below /summary and the list; every template gets `shared`; `job_of` raises HTTPException."""

    @app.get("/summaries")
    def past(search: str = "") -> HTMLResponse:
        return render("past.html.j2", search=search, found=kept.find(search), **shared)

    @app.get("/summary/{id_}")
    def result(id_: str) -> HTMLResponse:
        job = job_of(id_)
        view = None if job.summary is None else summary_view(job.summary, job.choice, systems())
        questions = kept.questions(job.asked_of or id_)
        return render("summary.html.j2", job=job, view=view, questions=questions, systems=systems(), **shared)

    @app.get("/summary/{id_}/table")
    def table(id_: str, question: Annotated[list[str] | None, Query()] = None) -> HTMLResponse:
        job, asked = job_of(id_), asked_questions(question or [])
        if job.summary is None:
            raise HTTPException(404, "There is no summary yet.")
        values = {"questions": asked, "rows": source_table(job.summary, asked), "most": MOST_QUESTIONS}
        query = urlencode([("question", one) for one in asked])
        return render("table.html.j2", job=job, query=query, **values, **shared)

    @app.get("/summary/{id_}/export.table.csv")
    def table_csv(id_: str, question: Annotated[list[str], Query()]) -> Response:
        summary = job_of(id_).summary
        if summary is None:
            raise HTTPException(404, "There is nothing to export yet.")
        named = {"Content-Disposition": 'attachment; filename="sources.csv"'}
        asked = asked_questions(question)
        written = to_csv(asked, source_table(summary, asked))
        return Response(written, media_type="text/csv; charset=utf-8", headers=named)

    @app.get("/summary/{id_}/export.{kind}")
    def export(id_: str, kind: str) -> Response:
        summary = job_of(id_).summary
        if summary is None or kind not in FORMATS:
            raise HTTPException(404, "There is nothing to export yet, or not in this format.")
        mime, write = FORMATS[kind]
        try:
            written = write(summary)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        named = {"Content-Disposition": f'attachment; filename="summary.{kind}"'}
        charset = "; charset=utf-8" if isinstance(written, str) else ""
        return Response(written, media_type=f"{mime}{charset}", headers=named)

    @app.get("/summary/{id_}/source/{number}")
    def fetched(id_: str, number: int, passage: int = 0) -> HTMLResponse:
        summary = job_of(id_).summary
        if summary is None or not 1 <= number <= len(summary.sources):
            raise HTTPException(404, "There is no such source.")
        name = summary.sources[number - 1].name
        inert = f"/summary/{id_}/inert/{number}?passage={passage}"
        return render("fetched.html.j2", name=name, back=f"/summary/{id_}", inert=inert, **shared)

    @app.get("/summary/{id_}/inert/{number}")
    def inert(id_: str, number: int, passage: int = 0) -> Response:
        job = job_of(id_)
        if job.summary is None or number not in job.pages:
            raise HTTPException(404, "This source was not fetched.")
        page = job.pages[number]
        text = next((item.text for item in job.summary.passages if item.number == passage), "")
        return inert_response(page.body, page.mime, page.charset, text)
