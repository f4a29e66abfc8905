"""The application: what every request passes, the form, and the routes of summaries and corpus."""

from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.base import BaseHTTPMiddleware

from flows.summary_page.api import add_api
from flows.summary_page.explorer import add_explorer
from flows.summary_page.guard import guard
from flows.summary_page.results import add_results
from flows.summary_page.views import FOLDER, render
from tasks.cited_summary.jobs import Jobs, SummaryJob
from tasks.cited_summary.settings import SummarySettings
from tasks.explorer.corpus import ExplorerCorpus


def create_app(
    jobs: Jobs, settings: SummarySettings, corpus: ExplorerCorpus | None, *, has_model: bool, credentials: str | None
) -> FastAPI:
    """Return the application; `credentials`: user:password; `has_model`: people may choose the extractive system."""
    app = FastAPI(title="summaries", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(BaseHTTPMiddleware, dispatch=guard(credentials))
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    writer = settings.writer and settings.writer.model
    shared: dict[str, Any] = {"explores": corpus is not None, "has_model": has_model, "writer": writer}

    def job_of(id_: str) -> SummaryJob:
        job = jobs.get(id_)
        if job is None:
            raise HTTPException(404, "There is no such summary: it may be too old, or the server was started again.")
        return job

    @app.exception_handler(404)
    async def missing(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"detail": error.detail}, 404)
        return render("missing.html.j2", 404, why=error.detail, **shared)

    @app.get("/")
    def form() -> HTMLResponse:
        return render("form.html.j2", settings=settings, **shared)

    add_api(app, jobs, job_of, settings)
    add_results(app, job_of, shared)
    if corpus is not None:
        add_explorer(app, corpus)
    return app
