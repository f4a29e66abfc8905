"""From sources to a cited summary: the stages of a build, one after another, on tables in memory."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.exported import vocabulary_in
from models.extractive import first_words
from storage.schemas import DOCUMENTS, FEATURES, PARAGRAPHS
from tasks.chat.client import ChatError
from tasks.chat.completions import NoAnswerError
from tasks.cited_summary.cited import (
    EMPTY,
    CitedSummary,
    PassageNumbers,
    SummarySentence,
    SummarySource,
    counted,
    support_note,
)
from tasks.cited_summary.deciding import Attempt, Request, decide
from tasks.cited_summary.reading import (
    NOTE_ENGINES,
    article,
    fetch,
    keep_notes,
    list_sources,
    read_notes,
    suggest_title,
)
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import GivenSource
from tasks.cited_summary.systems import SummarySystem
from tasks.engine.progress import Progress
from tasks.evaluation.metrics import Summary
from tasks.extraction.documents import extract_documents
from tasks.extraction.settings import ExtractSettings
from tasks.extractive.answers import answers
from tasks.extractive.choosing import choose
from tasks.extractive.differences import Difference, find_differences
from tasks.extractive.pile import PilePassage
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.ranking.features import compute_features
from tasks.ranking.ranking import rank_paragraphs
from tasks.summarization.decoding import decode_shard
from tasks.summarization.examples import build_examples
from tasks.summarization.graphs import build_graphs
from tasks.writing.checking import as_summary
from tasks.writing.writer import open_writer


@dataclass(frozen=True)
class SourcePage:
    """A source as it was fetched or given."""

    mime: str | None
    charset: str | None
    body: bytes


Report = Callable[[Progress], None]


def summarize(
    title: str,
    given: Sequence[GivenSource],
    system: SummarySystem,
    settings: SummarySettings,
    *,
    question: str = "",
    choice: Choice = "suitable",
    progress: Report,
    connect_to: Mapping[str, str] | None = None,
) -> tuple[CitedSummary, dict[int, SourcePage]]:
    """Summarize sources under a title. `title`: the topic, by which paragraphs are ranked, "" = one is made of the
    sources. `given`: those that cannot be used are in the result, with the reason. `question`: about the topic, which
    sentences of the sources or a language model answer instead of a summary; "" = none. `choice`: when the extractive
    system replaces the model of `system`: if the model or its summary does not suit the sources (`doubts`), never, or
    always. `progress`: called at the start of each step, and about once a second while pages are fetched. `connect_to`:
    pattern of host -> `address:port` where its connections are made instead.

    Returns: the summary, without sentences if no source could be used, and the pages by number of the source. Raises
    ValueError: no source or too many are given, or the model cannot be used."""
    check_request(given, settings)
    started = time.monotonic()
    progress(Progress(f"reading {counted(len(given), 'source')}", 0.02))
    frontier, pages = fetch(
        title,
        given,
        settings,
        connect_to=connect_to or {},
        progress=lambda now: progress(Progress(f"fetching: {now.done} of {now.total} pages", 0.05 + 0.35 * now.share)),
    )
    extracted = extract_documents(frontier, _counted(pages, progress), ExtractSettings())
    documents = read_notes(pa.Table.from_batches(extracted, schema=DOCUMENTS.schema))
    progress(Progress("choosing paragraphs", 0.7))
    title = title.strip() or suggest_title(documents, [source.name for source in given])
    topic = article(question or title)
    kept = system.paragraphs.model_copy(update={"filter": settings.filter})
    built = build_paragraphs(topic, documents, kept, words=system.words)
    paragraphs = keep_notes(pa.Table.from_batches(built, schema=PARAGRAPHS.schema), documents)
    sources = list_sources(given, frontier, documents, paragraphs, settings.language)
    texts = paragraphs["text"].filter(pc.is_null(paragraphs["drop_reason"])).to_pylist()
    request = Request(system, choice, settings.writer, bool(question), settings.words)
    system = decide(request, texts)
    number_of = {row["url"]: row["rank"] + 1 for row in frontier.to_pylist() if row["drop_reason"] is None}
    engines = dict(zip(documents["url"].to_pylist(), documents["engine"].to_pylist(), strict=True))
    of = {url: _ReadSource(sources[number - 1], engines.get(url) in NOTE_ENGINES) for url, number in number_of.items()}
    try:
        made = _cited(title, question, topic, paragraphs, system, settings, of, progress)
        attempt = Attempt(system, made.sentences)
    except (ChatError, NoAnswerError) as fault:
        attempt = Attempt(system, fault=str(fault))
    if (system := decide(request, texts, attempt)) is not attempt.system:
        made = _cited(title, question, topic, paragraphs, system, settings, of, progress)
    notes = [system.note] if system.note else []
    if settings.headings and system.summarizer is not None:
        notes.append(f"{system.name} writes no headings.")
    made.sentences += made.citations.differing(made.told)
    notes += _notes(made, [source.refused for source in sources], question=bool(question))
    about, passages = title if question else "", made.citations.passages
    cited = CitedSummary(
        question or title,
        system.name,
        system.why,
        made.sentences,
        passages,
        sources,
        notes,
        about=about,
        by_model=system.writer is not None,
    )
    bodies = {
        number_of[row["url"]]: SourcePage(row["mime"], row["charset"], row["body"])
        for row in pages.select(["url", "mime", "charset", "body"]).to_pylist()
        if row["body"] is not None
    }
    seconds, now = round(time.monotonic() - started, 2), datetime.now(UTC).isoformat(timespec="seconds")
    return replace(cited, seconds=seconds, made=now), bodies


def check_request(given: Sequence[GivenSource], settings: SummarySettings) -> None:
    """Raise ValueError, which says what was expected, for an impossible request."""
    if not given:
        raise ValueError("there is no source: expected at least one web address, file or text to summarize")
    if len(given) > settings.max_sources:
        raise ValueError(f"{len(given)} sources are too many: expected at most {settings.max_sources}")


def _counted(pages: pa.Table, progress: Report) -> Iterator[pa.RecordBatch]:
    for index in range(pages.num_rows):
        progress(Progress(f"extracting: page {index + 1} of {pages.num_rows}", 0.4 + 0.3 * index / pages.num_rows))
        yield from pages.slice(index, 1).to_batches()


@dataclass(frozen=True)
class _ReadSource:
    """A source in the list of the summary, and whether it is a note."""

    listed: SummarySource
    note: bool


@dataclass
class _Made:
    """A system's text, its citations, the number of its sentences that were left out, and the differences between
    sources."""

    sentences: list[SummarySentence]
    citations: PassageNumbers
    left_out: int
    told: Sequence[Difference]


def _cited(
    title: str,
    question: str,
    topic: pa.Table,
    paragraphs: pa.Table,
    system: SummarySystem,
    settings: SummarySettings,
    of: Mapping[str, _ReadSource],
    progress: Report,
) -> _Made:
    """Return what a system writes; `of` has the sources by URL."""
    begun = 0.75 if system.summarizer or system.writer else 0.9  # the extractive system may replace it, and is quick
    progress(Progress("ranking paragraphs", begun))
    features = pa.Table.from_batches(compute_features(topic, paragraphs, system.words), schema=FEATURES.schema)
    ranked = rank_paragraphs(topic, paragraphs, features, system.ranker, system.ranking)
    left_out = 0
    rows = ranked.select(["text", "url", "position"]).to_pylist()
    passages = [
        PilePassage(row["text"], row["url"], row["position"], of[row["url"]].listed.title or "", of[row["url"]].note)
        for row in rows
    ]
    pages = {
        (row["url"], row["position"]): row["page"] for row in paragraphs.select(["url", "position", "page"]).to_pylist()
    }
    places = [(of[passage.source].listed.number, passage.position) for passage in passages]
    told = find_differences(title, passages)
    sections = [("", Summary(""))]
    if passages:
        writing = f"writing with {system.name}"
        progress(Progress(writing, begun + 0.03))
        if system.summarizer is not None:
            sections = [("", _write(topic, ranked, system, system.summarizer))]
        elif system.writer is None and question:
            found = [one.text for one in answers(question, passages, title)]
            sections = [("", Summary("\n".join(found)))]
            told = [one for one in told if any(map(one.stated_in, found))]
        elif system.writer is None:
            named = [passage.title or of[passage.source].listed.name for passage in passages]
            headings = named if settings.headings else None
            sections = _choose(title, passages, settings, headings, told)
        else:
            with open_writer(
                system.writer, words=settings.words, language=settings.language, headings=settings.headings
            ) as writer:
                written = writer.write(
                    question or title,
                    [passage.text for passage in passages],
                    lambda now: progress(Progress(f"{writing}: {now}", begun + 0.05)),
                )
            sections = [(heading, as_summary(drafts, written.read)) for heading, drafts in written.sections]
            left_out = written.left_out
    progress(Progress("citing", begun + 0.06))
    begins = [pages[passage.source, passage.position] for passage in passages]
    citations = PassageNumbers([passage.text for passage in passages], places, begins)
    words = settings.words if system.summarizer else None  # the other systems know the length that they write
    sentences = [item for heading, summary in sections for item in citations.of(title, summary, heading, told, words)]
    return _Made(sentences, citations, left_out, told)


def _choose(
    title: str,
    passages: Sequence[PilePassage],
    settings: SummarySettings,
    headings: Sequence[str] | None,
    told: Sequence[Difference],
) -> list[tuple[str, Summary]]:
    """Return sentences of the passages as sections with their headings: one section without a heading, or one a
    heading. `headings`: of each passage; None for none. `told`: differences; no sentence may state one side of them."""
    sections: dict[str, list[str]] = {}
    for item in choose(title, passages, settings.words, language=settings.language, told=told):
        sections.setdefault(headings[item.passage] if headings else "", []).append(item.text)
    if not sections:  # without a whole sentence, the first words
        return [("", Summary(first_words([passage.text for passage in passages], settings.words)))]
    # They get lines of their own, so that they are also cited one by one.
    return [(heading, Summary("\n".join(texts))) for heading, texts in sections.items()]


def _write(topic: pa.Table, ranked: pa.Table, system: SummarySystem, summarizer: Path) -> Summary:
    vocabulary = vocabulary_in(summarizer)
    examples = build_examples(topic, ranked, vocabulary, system.examples)
    (row,) = decode_shard(
        examples,
        summarizer,
        system.decoding,
        predictor=system.predictor,
        ranked=ranked,
        graphs=build_graphs(ranked, system.graphs, system.words),
    ).to_pylist() or [{"summary": "", "tokens": [], "attention": []}]
    return Summary(row["summary"], tokens=row["tokens"], attention=np.array(row["attention"], np.float32))


def _notes(made: _Made, refused: Sequence[str | None], *, question: bool) -> Iterator[str]:
    if unused := sum(reason is not None for reason in refused):
        yield f"{unused} of {counted(len(refused), 'source')} could not be used; the list of sources says why."
    if question and not made.sentences and made.citations.texts:
        yield "No sentence of the sources answers this question."
        return
    if not made.sentences:
        yield EMPTY
        return
    if note := support_note(made.sentences):
        yield note
    if made.left_out:
        yield f"{counted(made.left_out, 'sentence')} left out, because no passage says so."
