"""A request for a summary as JSON, and the files that are sent before it."""

import secrets
import threading
from collections import OrderedDict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.cited_summary.settings import LENGTHS, SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source, is_web_address
from tasks.text.language import LanguageCode

_WAITING_BYTES = 1 << 29  # of uploads whose request has not come yet; the oldest are forgotten beyond it


class RequestedSource(BaseModel):
    """One source: an address, a text, a file that was sent before, or a source of an earlier summary."""

    model_config = ConfigDict(extra="forbid")

    url: str | None = Field(None, description="address to fetch")
    text: str | None = Field(None, description="text, one paragraph a line")
    name: str = Field("pasted text", max_length=2000, description="what a text is called")
    file: str | None = Field(None, description="id that POST /api/files answered with")
    summary: str | None = Field(None, description="id of an earlier summary, together with number")
    number: int = Field(
        1, ge=1, description="which of its sources, from 1; read again without fetching where it is kept"
    )

    @model_validator(mode="after")
    def _is_one_of_them(self) -> "RequestedSource":
        if sum(value is not None for value in (self.url, self.text, self.file, self.summary)) != 1:
            raise ValueError("expected one of url, text, file and summary")
        return self

    def given(self) -> GivenSource:
        """Return the source of an address or a text."""
        if self.text is not None:
            text = self.text.encode("utf-8", "replace")
            return GivenSource(self.name, text, "text/plain") if text.strip() else file_source(self.name, b"")
        url = (self.url or "").strip()
        reason = "this is not a web address: expected one that begins with http:// or https://"
        return GivenSource(url, reason=None if is_web_address(url) else reason)


class RequestedSummary(BaseModel):
    """A request for a summary."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"sources": [{"url": "https://example.org/tram-4"}], "words": "short"}},
    )

    title: str = Field("", max_length=300, description="the topic, by which paragraphs are ranked; empty: suggested")
    sources: list[RequestedSource] = Field(default_factory=list, max_length=1000)
    system: str = Field("suitable", description="who writes: a name that GET /api/systems lists")
    words: Annotated[int, Field(ge=20, le=2000)] | Literal["short", "medium", "long"] = Field(
        "medium", description="length, at most: 20 to 2000, short, medium or long; default: as the server was started"
    )
    language: LanguageCode | None = Field(
        "en", description="ISO 639-1 code: text in others is not used; null: any; default: as the server was started"
    )
    pinned: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list, max_length=200, description="sentences that it begins with, such as pinned ones"
    )
    headings: bool | None = Field(None, description="whether there are sections; null: as the system likes")

    def settings(self, usual: SummarySettings) -> SummarySettings:
        """Return the settings, overridden by those of the request."""
        own: dict[str, Any] = self.model_dump(include={"words", "language", "headings"}, exclude_unset=True)
        if own.get("words") in LENGTHS:
            own["words"] = LENGTHS[own["words"]]
        return usual.model_copy(update=own)


class RequestedAnswer(BaseModel):
    """A question about the sources of a summary."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"question": "When was it built?"}})

    question: str = Field(min_length=1, max_length=300, description="one question")


class ChangedSentences(BaseModel):
    """The edited sentences of a summary."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"sentences": ["It was lit in 1901."]}})

    sentences: list[Annotated[str, Field(max_length=2000)]] = Field(
        max_length=200, description="in order; each is checked again"
    )
    pinned: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list, max_length=200, description="those of them that stay when the summary is written again"
    )


class Uploads:
    """Files that were sent before the request that names them."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, GivenSource] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, name: str, body: bytes) -> str:
        """Take a file; return its id."""
        given = file_source(name.rpartition("/")[2][-200:] or "file", body)
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
