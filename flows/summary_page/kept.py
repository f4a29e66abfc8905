"""Finished summaries as small files on the root, which can be listed, searched, read again and deleted."""

import re
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from flows.summary_page.jobs import SummaryJob
from storage.store import Store
from tasks.cited_summary.cited import CitedSummary, SummarySource
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, is_web_address
from tasks.text.language import LanguageCode

FOLDER = "summaries"
_ID = re.compile(r"[\w-]{22}", re.ASCII)  # as `Jobs` makes them, so that a name cannot leave the folder


@dataclass(frozen=True)
class _Kept:
    """The content of a file: the summary, and its request."""

    choice: str
    words: int
    language: LanguageCode | None
    headings: bool | None
    summary: CitedSummary
    asked_of: str = ""


@dataclass(frozen=True)
class KeptEntry:
    """A line of the list."""

    id: str
    title: str
    made: str  # UTC time, ISO 8601
    system: str
    sources: int  # how many were given
    begins: str  # the first sentence
    asked_of: str = ""  # id of the summary of whose sources it answers a question


class KeptSummaries:
    """The files; usable from many threads. Their text is held in memory for the search."""

    def __init__(self, store: Store, settings: SummarySettings) -> None:
        """Take the root, and the settings that a summary's file does not have."""
        self._store, self._settings = store, settings
        self._file = TypeAdapter(_Kept)
        self._listed: dict[str, tuple[KeptEntry, str] | None] = {}  # None for a file that is not a summary

    def save(self, job: SummaryJob) -> None:
        """Keep a finished summary. Raises StorageError: it cannot be written."""
        if job.summary is None:
            return
        asked = job.settings
        sources = [replace(one, fetched=False) for one in job.summary.sources]  # their bytes are not kept
        summary = replace(job.summary, sources=sources)
        kept = _Kept(job.choice, asked.words, asked.language, asked.headings, summary, job.asked_of)
        self._store.write_bytes(_name(job.id), self._file.dump_json(kept, indent=1))
        self._listed.pop(job.id, None)

    def get(self, id_: str) -> SummaryJob | None:
        """Return a summary as if it had just been made; None if there is none of that id. Its sources are the texts
        that were read, or addresses to be fetched again."""
        if (kept := self._read(id_)) is None:
            return None
        given = [_given(source) for source in kept.summary.sources]
        settings = self._settings.model_copy(
            update={"words": kept.words, "language": kept.language, "headings": kept.headings}
        )
        job = SummaryJob(id_, kept.summary.title, given, kept.choice, settings, "done", summary=kept.summary)
        job.asked_of, job.about = kept.asked_of, kept.summary.about
        return job

    def delete(self, id_: str) -> None:
        """Remove a summary, and the answers to questions that were asked of it, if it is there."""
        if _ID.fullmatch(id_):
            for entry in self.questions(id_):
                self._store.delete(_name(entry.id))
            self._store.delete(_name(id_))

    def questions(self, id_: str) -> list[KeptEntry]:
        """Return the questions that were asked of a summary, in the order in which they were answered."""
        asked = [entry for entry, _ in self._entries() if entry.asked_of == id_]
        return sorted(asked, key=lambda entry: entry.made)

    def find(self, search: str) -> list[KeptEntry]:
        """Return the summaries that contain every word of a search, in title, sentences or names of sources; the newest
        first. Answers to questions are with their summaries. Raises StorageError: the root cannot be listed."""
        words = search.casefold().split()
        found = [entry for entry, text in self._entries() if not entry.asked_of and all(word in text for word in words)]
        return sorted(found, key=lambda entry: entry.made, reverse=True)

    def _entries(self) -> list[tuple[KeptEntry, str]]:
        """Return every kept summary with its text in lower case."""
        there = [name.removesuffix(".json") for name in self._store.sizes(FOLDER)]
        for id_ in [item for item in there if item not in self._listed]:
            kept = self._read(id_)
            self._listed[id_] = None if kept is None else _listed(id_, kept)
        return [line for id_ in there if (line := self._listed[id_]) is not None]

    def _read(self, id_: str) -> _Kept | None:
        if not _ID.fullmatch(id_):
            return None
        try:
            return self._file.validate_json(self._store.read_bytes(_name(id_)))
        except (FileNotFoundError, ValidationError):  # another version of this program may have written it
            return None


def _listed(id_: str, kept: _Kept) -> tuple[KeptEntry, str]:
    summary = kept.summary
    texts = [one.text for one in summary.sentences]
    names = [f"{one.name} {one.title or ''}" for one in summary.sources]
    entry = KeptEntry(
        id_, summary.title, summary.made, summary.system, len(summary.sources), "".join(texts[:1]), kept.asked_of
    )
    return entry, " ".join([summary.title, *texts, *names]).casefold()


def _given(source: SummarySource) -> GivenSource:
    if source.paragraphs:
        text = "\n".join(paragraph.text for paragraph in source.paragraphs)
        return GivenSource(source.name, text.encode(), "text/plain")
    if is_web_address(source.name):
        return GivenSource(source.name)
    return GivenSource(source.name, reason=source.refused)


def _name(id_: str) -> str:
    return f"{FOLDER}/{id_}.json"
