"""The routes of a summary: its page, exports, and its sources as fetched."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Response
from fastapi.responses import HTMLResponse

from flows.summary_page.views import inert_response, render, summary_view
from tasks.cited_summary.exports import FORMATS
from tasks.cited_summary.jobs import SummaryJob
from tasks.cited_summary.kept import KeptSummaries


def add_results(
    app: FastAPI,
    job_of: Callable[[str], SummaryJob],
    kept: KeptSummaries,
    systems: Callable[[], Mapping[str, str]],
    shared: Mapping[str, Any],
) -> None:
    """Add the routes below /summary and the list; `shared` is what every template gets. `job_of` raises HTTPException
    for no job."""

    @app.get("/summaries")
    def past(search: str = "") -> HTMLResponse:
        return render("past.html.j2", search=search, found=kept.find(search), **shared)

    @app.get("/summary/{id_}")
    def result(id_: str) -> HTMLResponse:
        job = job_of(id_)
        view = None if job.summary is None else summary_view(job.summary, job.choice, systems())
        return render("summary.html.j2", job=job, view=view, systems=systems(), **shared)

    @app.get("/summary/{id_}/export.{kind}")
    def export(id_: str, kind: str) -> Response:
        summary = job_of(id_).summary
        if summary is None or kind not in FORMATS:
            raise HTTPException(404, "There is nothing to export yet, or not in this format.")
        mime, write = FORMATS[kind]
        named = {"Content-Disposition": f'attachment; filename="summary.{kind}"'}
        return Response(write(summary), media_type=f"{mime}; charset=utf-8", headers=named)

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
        text = next((one.text for one in job.summary.passages if one.number == passage), "")
        return inert_response(page.body, page.mime, page.charset, text)
