"""The routes that the page's script calls: send files; ask for a summary, watch, cancel or rewrite it. Bodies of
requests are read within limits: files as they are, requests as JSON."""

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.cited_summary.jobs import Jobs, SummaryJob, TooBusyError
from tasks.cited_summary.pipeline import check_request
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source, is_web_address, megabytes

_WAITING_BYTES = 1 << 29  # of uploads whose request has not come yet; the oldest are forgotten beyond it


class Wanted(BaseModel):
    """A request for a summary."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(max_length=300)
    urls: list[str] = Field(default_factory=list, max_length=1000)
    text: str = ""
    files: list[str] = Field(default_factory=list, max_length=1000)
    system: Choice = "suitable"


class Uploads:
    """Files that were sent before the request that names them."""

    def __init__(self, limit: int) -> None:
        """Take the bytes that a file may have."""
        self._limit = limit
        self._files: OrderedDict[str, GivenSource] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    async def receive(self, request: Request, name: str) -> str:
        """Read a file from a request; return its id; HTTPException (413) for one too large, also if only announced."""
        given = file_source(name.rpartition("/")[2][-200:] or "file", await read_body(request, self._limit))
        id_ = secrets.token_urlsafe(12)
        with self._lock:
            self._files[id_] = given
            self._bytes += len(given.body or b"")
            while self._bytes > _WAITING_BYTES:
                self._bytes -= len(self._files.popitem(last=False)[1].body or b"")
        return id_

    def take(self, id_: str) -> GivenSource:
        """Return a file and forget it; one that is gone has that as its reason."""
        with self._lock:
            given = self._files.pop(id_, None)
            self._bytes -= len(given.body or b"") if given else 0
        return given or GivenSource("a file", reason="it is no longer here: choose it again")


async def read_body(request: Request, limit: int) -> bytes:
    """Read a body. Raises HTTPException: it is larger than the limit (413), as announced or as read."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise HTTPException(413, f"it has {megabytes(int(announced))}: expected at most {megabytes(limit)}")
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > limit:
            raise HTTPException(413, f"it has more than {megabytes(limit)}, the most that is read")
    return bytes(body)


async def read_wanted(request: Request, limit: int) -> Wanted:
    """Read a request for a summary. Raises HTTPException: it is too large (413), or not such a request (422)."""
    try:
        fields: Any = json.loads(await read_body(request, limit))
        return Wanted.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise HTTPException(422, f"{'.'.join(map(str, first['loc'])) or 'request'}: {first['msg']}") from error
    except ValueError as error:
        raise HTTPException(422, "expected JSON with title, urls, text and files") from error


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
