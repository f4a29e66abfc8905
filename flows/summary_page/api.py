"""The HTTP API, which the page and programs call: send files; ask for, watch, find, delete a summary."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from fastapi.sse import EventSourceResponse, ServerSentEvent

from flows.summary_page.jobs import Jobs, SummaryJob, TooBusyError
from flows.summary_page.kept import KeptEntry, KeptSummaries
from flows.summary_page.requested import ChangedSentences, RequestedAnswer, RequestedSource, RequestedSummary, Uploads
from flows.summary_page.views import Systems, render
from tasks.cited_summary.editing import edited, pinned_sentences
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource

_POLL_SECONDS = 0.2  # between looks at a summary that is watched
_ANSWER_WORDS = 60  # of an answer to a question, at most


@dataclass(frozen=True)
class Given:
    """The id of what was sent."""

    id: str


@dataclass(frozen=True)
class State:
    """How far a summary is."""

    state: Literal["waiting", "working", "done", "failed", "cancelled"]
    text: str  # what is being done
    share: float  # of the work, 0-1; a guess
    error: str  # why it failed


def add_api(
    app: FastAPI,
    jobs: Jobs,
    kept: KeptSummaries,
    job_of: Callable[[str], SummaryJob],
    systems: Systems,
    settings: SummarySettings,
    shared: Mapping[str, Any],
) -> None:
    """Add the routes below /api; `job_of` raises HTTPException for an unknown summary."""
    uploads = Uploads()

    def source_of(wanted: RequestedSource) -> GivenSource:
        if wanted.file is not None:
            return uploads.take(wanted.file)
        if wanted.summary is None:
            return wanted.given()
        given = job_of(wanted.summary).given
        if wanted.number > len(given):
            raise HTTPException(422, f"source {wanted.number} of {wanted.summary}: it has {len(given)} sources")
        return given[wanted.number - 1]

    def submitted(
        title: str,
        given: Sequence[GivenSource],
        system: str,
        asked: SummarySettings,
        *,
        pinned: Sequence[str] = (),
        **of_question: str,
    ) -> Given:
        known = systems()
        if system not in known and system != "suitable":
            raise HTTPException(422, f"system is {system[:100]!r}: expected one of {', '.join(known)}")
        if list(known) == ["extractive"]:
            system = "extractive"
        try:
            check_request(given, asked)
            return Given(jobs.submit(title.strip(), given, system, asked, pinned=pinned, **of_question).id)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        except TooBusyError as error:
            raise HTTPException(503, str(error)) from error

    def state_of(job: SummaryJob) -> State:
        text, share = job.progress.text, job.progress.share
        if job.ended:
            text, share = job.state, 1.0
        elif job.state == "waiting":
            before = jobs.place(job)
            text = f"waiting: {before} {'summary is' if before == 1 else 'summaries are'} made before this one"
        return State(job.state, text, share, job.error)

    @app.post("/api/files", status_code=201, summary="Send a file", openapi_extra=_BYTES)
    async def upload(request: Request, name: str) -> Given:
        """The body is the file; its id is then a source of a summary."""
        return Given(uploads.add(name, await request.body()))

    @app.get("/api/systems", summary="Who can write")
    def offered() -> Mapping[str, str]:
        """Their names, which a request has as its system, with what they are."""
        return systems()

    @app.post("/api/summaries", status_code=202, summary="Ask for a summary")
    def start(wanted: RequestedSummary) -> Given:
        """It waits for its turn; watch /api/summaries/ID/events, then read /summary/ID/export.json."""
        given = [source_of(source) for source in wanted.sources]
        return submitted(wanted.title, given, wanted.system, wanted.settings(settings), pinned=wanted.pinned)

    @app.get("/api/summaries", summary="Find kept summaries")
    def find(search: Annotated[str, Query(description="words that it has")] = "") -> list[KeptEntry]:
        """The newest first."""
        return kept.find(search)

    @app.post("/api/summaries/{id_}/again", status_code=202, summary="Write it again with another system")
    def again(job: Annotated[SummaryJob, Depends(job_of)], system: str) -> Given:
        """It has the same sources, which are not fetched again if they are still there, and its pinned sentences."""
        pinned = pinned_sentences(job.summary)
        return submitted(
            job.title, job.given, system, job.settings, pinned=pinned, asked_of=job.asked_of, about=job.about
        )

    @app.post("/api/summaries/{id_}/questions", status_code=202, summary="Ask a question about its sources")
    def ask(job: Annotated[SummaryJob, Depends(job_of)], asked: RequestedAnswer) -> Given:
        """The answer is read as a summary is: watch its events, then read its export. It is kept with the summary."""
        if job.summary is None:
            raise HTTPException(409, "there is no summary yet: ask once it is there")
        if not asked.question.strip():
            raise HTTPException(422, "question is empty: expected a question")
        short = job.settings.model_copy(update={"words": _ANSWER_WORDS, "headings": False})
        about = job.about or job.title
        return submitted(asked.question, job.given, "suitable", short, asked_of=job.asked_of or job.id, about=about)

    @app.put("/api/summaries/{id_}/sentences", summary="Change its sentences")
    def change(job: Annotated[SummaryJob, Depends(job_of)], changed: ChangedSentences) -> Given:
        """Drop, move, pin or write sentences anew: each is checked again, and keeps or loses its mark."""
        if job.summary is None:
            raise HTTPException(409, "there is no summary yet: change it once it is there")
        try:
            summary = edited(job.summary, changed.sentences, changed.pinned)
        except ValueError as error:
            raise HTTPException(422, str(error)) from error
        kept.save(replace(job, summary=summary))  # what cannot be kept is not shown either
        job.summary = summary
        return Given(job.id)

    @app.get("/api/summaries/{id_}", summary="How far it is")
    def progress(job: Annotated[SummaryJob, Depends(job_of)]) -> State:
        """Once it is done, /summary/ID shows it and /summary/ID/export.json has it all."""
        return state_of(job)

    @app.get("/api/summaries/{id_}/events", response_class=EventSourceResponse, summary="Watch it")
    async def events(job: Annotated[SummaryJob, Depends(job_of)]) -> AsyncIterator[ServerSentEvent]:
        """Server-sent events of type progress, one for each change, until the summary is there, failed or cancelled."""
        last = None
        while True:
            now = await asyncio.to_thread(state_of, job)
            if now != last:
                yield ServerSentEvent(data=now, event="progress")
            last = now
            if now.state not in ("waiting", "working"):
                return
            await asyncio.sleep(_POLL_SECONDS)

    @app.post("/api/summaries/{id_}/cancel", status_code=202, summary="Cancel it")
    def cancel(job: Annotated[SummaryJob, Depends(job_of)]) -> Given:
        """A summary that is being made ends soon, one that waits at once."""
        jobs.cancel(job)
        return Given(job.id)

    @app.delete("/api/summaries/{id_}", summary="Delete it")
    def delete(job: Annotated[SummaryJob, Depends(job_of)]) -> Given:
        """Also the answers to questions about it, and their files; one that is being made must be cancelled first."""
        if not job.ended:
            raise HTTPException(409, "it is being made: cancel it first")
        for id_ in (job.id, *(entry.id for entry in kept.questions(job.id))):
            jobs.forget(id_)
        kept.delete(job.id)
        return Given(job.id)

    @app.get("/api/openapi.json", include_in_schema=False)
    def document() -> dict[str, Any]:
        routes = [route for route in app.routes if isinstance(route, APIRoute) and route.path.startswith("/api/")]
        made = get_openapi(title="wikisum summaries", version="1", routes=routes)
        made.setdefault("components", {})["securitySchemes"] = {"password": {"type": "http", "scheme": "bearer"}}
        return made | {"security": [{"password": []}, {}]}

    @app.get("/api", include_in_schema=False)
    def page(request: Request) -> HTMLResponse:
        return render("api.html.j2", document=document(), base=str(request.base_url).rstrip("/"), **shared)


_BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": {}}}}
