"""Summaries kept on the root, a small file each: listed, searched, read again and deleted."""

import re
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from storage.store import Store
from tasks.cited_summary.cited import CitedSummary, SummarySource
from tasks.cited_summary.jobs import SummaryJob
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, is_web_address
from tasks.text.language import LanguageCode

FOLDER = "summaries"
_ID = re.compile(r"[\w-]{22}", re.ASCII)  # as `Jobs` makes them: no name leads out of the folder


@dataclass(frozen=True)
class _Kept:
    """What a file holds: the summary, and what it was asked with."""

    choice: str
    words: int
    language: LanguageCode | None
    headings: bool | None
    summary: CitedSummary


@dataclass(frozen=True)
class KeptEntry:
    """A line of the list."""

    id: str
    title: str
    made: str  # UTC time, ISO 8601
    system: str
    sources: int  # how many were given
    begins: str  # the first sentence


class KeptSummaries:
    """The files; usable from many threads. What they say is held in memory for the search."""

    def __init__(self, store: Store, settings: SummarySettings) -> None:
        """Take the root, and the settings that a summary does not bring itself."""
        self._store, self._settings = store, settings
        self._file = TypeAdapter(_Kept)
        self._listed: dict[str, tuple[KeptEntry, str] | None] = {}  # None for a file that is no summary

    def save(self, job: SummaryJob) -> None:
        """Keep a finished summary. Raises StorageError: it cannot be written."""
        if job.summary is None:
            return
        asked = job.settings
        sources = [replace(one, fetched=False) for one in job.summary.sources]  # their bytes are not kept
        kept = _Kept(job.choice, asked.words, asked.language, asked.headings, replace(job.summary, sources=sources))
        self._store.write_bytes(_name(job.id), self._file.dump_json(kept, indent=1))

    def get(self, id_: str) -> SummaryJob | None:
        """Return a summary as if it had just been made; None if there is none of that id. Its sources are the texts
        that were read, or addresses to be fetched again."""
        if (kept := self._read(id_)) is None:
            return None
        given = [_given(source) for source in kept.summary.sources]
        settings = self._settings.model_copy(
            update={"words": kept.words, "language": kept.language, "headings": kept.headings}
        )
        return SummaryJob(id_, kept.summary.title, given, kept.choice, settings, "done", summary=kept.summary)

    def delete(self, id_: str) -> None:
        """Remove a summary if it is there."""
        if _ID.fullmatch(id_):
            self._store.delete(_name(id_))

    def find(self, search: str) -> list[KeptEntry]:
        """Return the summaries that contain every word of a search, in title, sentences or names of sources; the newest
        first. Raises StorageError: the root cannot be listed."""
        there = [name.removesuffix(".json") for name in self._store.sizes(FOLDER)]
        for id_ in [one for one in there if one not in self._listed]:
            kept = self._read(id_)
            self._listed[id_] = None if kept is None else _listed(id_, kept.summary)
        words = search.casefold().split()
        listed = [line for id_ in there if (line := self._listed[id_]) is not None]
        found = [entry for entry, text in listed if all(word in text for word in words)]
        return sorted(found, key=lambda entry: entry.made, reverse=True)

    def _read(self, id_: str) -> _Kept | None:
        if not _ID.fullmatch(id_):
            return None
        try:
            return self._file.validate_json(self._store.read_bytes(_name(id_)))
        except (FileNotFoundError, ValidationError):  # another version of this program may have written it
            return None


def _listed(id_: str, summary: CitedSummary) -> tuple[KeptEntry, str]:
    texts = [one.text for one in summary.sentences]
    names = [f"{one.name} {one.title or ''}" for one in summary.sources]
    entry = KeptEntry(id_, summary.title, summary.made, summary.system, len(summary.sources), "".join(texts[:1]))
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
