"""A summary with its evidence: sentences, the passages they cite, and the sources as read, numbered for people."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from models.words import written_words
from tasks.engine.data_files import read_data
from tasks.evaluation.citations import CitedSentence, Citer, Verdict
from tasks.evaluation.metrics import Summary
from tasks.extractive.differences import Difference

EMPTY = "There is no summary, because no paragraph of the sources could be used."
_EACH = "each passage says one"
_TESTED: dict[Verdict, str] = read_data("tasks.cited_summary", "words.toml")["found"]


def on_one_line(text: str) -> str:
    """Return a text in which a sign joins the lines of notes."""
    return " · ".join(line for line in text.split("\n") if line.strip())


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of a source, and why it was not used; None for one that was."""

    text: str
    refused: str | None = None

    @property
    def shown(self) -> str:
        """Its text for people, on one line."""
        return on_one_line(self.text)


@dataclass(frozen=True)
class SummarySource:
    """A page or file."""

    number: int  # from 1, in the order given
    name: str  # URL or file name, as given
    title: str | None = None  # of the page, or None
    refused: str | None = None  # a sentence on why nothing of it was used; None for a source that was
    paragraphs: Sequence[Paragraph] = ()  # its text
    fetched: bool = False  # whether its bytes are kept, so that the page can show it as fetched
    date: str | None = None  # on which it was published, as YYYY-MM-DD, or None
    author: str | None = None  # names, separated by "; ", or None
    site: str | None = None  # name of its site, or None

    @property
    def origin(self) -> str:
        """Author, site and date for people, as far as they are known."""
        return ", ".join(part for part in (self.author, self.site, self.date) if part)


def place_of(position: int, page: int | None) -> str:
    """Return the place of a paragraph in its source, in words; `position` from 0, `page` of a file from 1."""
    return f"{'' if page is None else f'page {page}, '}paragraph {position + 1}"


@dataclass(frozen=True)
class Passage:
    """A paragraph that is cited."""

    number: int  # from 1, in the order of first citation
    source: int  # number of the source; 0 if unknown
    position: int  # 0-based position of the paragraph in it
    text: str  # the paragraph
    quotes: Sequence[str] = ()  # the sentences of it that are closest to the sentences that cite it, each once
    page: int | None = None  # page of its file on which it begins, from 1; None = the source has no pages

    @property
    def place(self) -> str:
        """Its place in its source, for people."""
        return place_of(self.position, self.page)

    @property
    def shown(self) -> str:
        """Its text for people, on one line."""
        return on_one_line(self.text)


@dataclass(frozen=True)
class SummarySentence:
    """A sentence of the summary."""

    text: str  # as written
    verdict: Verdict  # as in `tasks.evaluation.citations.CitedSentence`
    passages: Sequence[int] = ()  # numbers of the cited passages
    quotes: Sequence[str] = ()  # of each cited passage, the sentence that is closest to this one
    missing: Sequence[str] = ()  # names, numbers and dates that the quotes do not contain
    tested: str = ""  # the verifier's result, in a few words for people
    heading: str = ""  # heading of the section that it begins
    sides: Sequence[str] = ()  # if sources differ, the sentence of each passage
    pinned: bool = False  # whether a reader wants it first in every summary that is written of it again
    copied: bool = False  # whether a paragraph that the system read has it word for word; if not, it is its own

    @property
    def supported(self) -> bool:
        """Whether the passages say it, one of them or several together."""
        return self.verdict in {"said", "combined"}

    @property
    def stated(self) -> Sequence[tuple[str, int]]:
        """Each side with its passage's number; none if it does not state a difference."""
        return list(zip(self.sides, self.passages, strict=True)) if self.sides else []


@dataclass(frozen=True)
class CitedSummary:
    """A summary and everything needed to check it; JSON-able by `dataclasses.asdict`."""

    title: str  # the topic
    system: str  # name of the system
    why: str  # a sentence on why it is this system
    sentences: Sequence[SummarySentence]
    passages: Sequence[Passage]
    sources: Sequence[SummarySource]
    notes: Sequence[str] = ()  # notes for the reader, as sentences
    seconds: float = 0.0  # from the first fetch to the last citation
    made: str = ""  # UTC time, ISO 8601
    about: str = ""  # the topic of which `title` is a question; empty where `title` is the topic
    by_model: bool = False  # whether a language model wrote the sentences

    @property
    def told(self) -> Sequence[SummarySentence]:
        """Its sentences, except those on what sources say differently."""
        return [sentence for sentence in self.sentences if not sentence.sides]

    @property
    def differing(self) -> Sequence[SummarySentence]:
        """A sentence for each difference between sources."""
        return [sentence for sentence in self.sentences if sentence.sides]

    @property
    def differing_after(self) -> Mapping[int | None, Sequence[SummarySentence]]:
        """The same by the 0-based number, in `told`, of the first sentence that cites one of their passages; None =
        no sentence does."""
        results: defaultdict[int | None, list[SummarySentence]] = defaultdict(list)
        for item in self.differing:
            cites = (n for n, sentence in enumerate(self.told) if not set(item.passages).isdisjoint(sentence.passages))
            results[next(cites, None)].append(item)
        return results

    def named(self, number: int) -> str:
        """Return title or name of the source of a passage by its number, and its date as far as it is known."""
        sources = {source.number: source for source in self.sources}
        source = next((sources.get(item.source) for item in self.passages if item.number == number), None)
        if source is None:
            return f"passage {number}"
        return ", ".join(filter(None, (source.title or source.name, source.date)))


def support_note(sentences: Sequence[SummarySentence]) -> str | None:
    """Return a sentence on how many sentences the sources support; None if they support all."""
    supported = sum(sentence.supported for sentence in sentences)
    if supported == len(sentences):
        return None
    return f"{supported} of {counted(len(sentences), 'sentence')} supported by the sources; the others are marked."


def counted(number: int, what: str) -> str:
    """Return a number with its noun: "1 sentence", "2 sentences"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass
class PassageNumbers:
    """Numbers the passages of one article as they are cited."""

    texts: Sequence[str]  # the ranked paragraphs, best first
    places: Sequence[tuple[int, int]]  # (source number, position) of each
    pages: Sequence[int | None] = ()  # page of its file on which each begins, from 1; empty = none has pages
    passages: list[Passage] = field(default_factory=list)  # those cited so far
    _numbers: dict[int, int] = field(default_factory=dict)

    def of(
        self, title: str, summary: Summary, heading: str = "", told: Sequence[Difference] = (), words: int | None = None
    ) -> list[SummarySentence]:
        """Return the sentences of a summary, or of its section of this heading, with the numbers of their passages.
        Unsupported ones stay. Those that state one side of a listed difference are left out. `words`: of the sentences
        together, at most, but the first one always stays; None = no limit."""
        citer = Citer(title, self.texts)
        stay = [item for item in citer.cite(summary) if not any(other.stated_in(item.sentence) for other in told)]
        ends = accumulate(len(written_words(item.sentence)) for item in stay)
        kept = len(stay) if words is None else max(1, sum(end <= words for end in ends))
        results = [self._sentence(citer, item, summary.read) for item in stay[:kept]]
        return [replace(one, heading="" if number else heading) for number, one in enumerate(results)]

    def differing(self, told: Sequence[Difference]) -> list[SummarySentence]:
        """Return a sentence for each difference between sources, with a passage for each value."""
        results = []
        for item in told:
            numbers = tuple(self.number(each.passage, each.sentence) for each in item.statements)
            quotes = tuple(each.sentence for each in item.statements)
            results.append(SummarySentence(item.line, "combined", numbers, quotes, (), _EACH, sides=quotes))
        return results

    def _sentence(self, citer: Citer, cited: CitedSentence, read: int | None) -> SummarySentence:
        quotes = tuple(citer.verifier.quote(cited.claim, text) for text in citer.texts(cited.ranks))
        numbers = tuple(self.number(rank, quote) for rank, quote in zip(cited.ranks, quotes, strict=True))
        missing = tuple[str, ...]()
        if cited.verdict in _TESTED:
            tested = _TESTED[cited.verdict]
        else:
            missing = tuple(citer.support.lacking(cited.claim, quotes))
            if cited.objection:
                tested = cited.objection
            elif not quotes:
                tested = "no passage has its names, numbers or half of its words"
            elif missing:
                tested = f"not found: {', '.join(missing)}"
            else:
                tested = "its names and numbers are there, but no passage says this"
        copied = cited.verdict == "said" and citer.has(cited.claim, read)
        return SummarySentence(cited.sentence, cited.verdict, numbers, quotes, missing, tested, copied=copied)

    def number(self, rank: int, quote: str) -> int:
        """Return the number of a passage, a new one on its first citation, and note what is quoted of it. `rank`: its
        index in `texts`."""
        number = self._numbers.setdefault(rank, len(self.passages) + 1)
        if number > len(self.passages):
            source, position = self.places[rank]
            page = self.pages[rank] if self.pages else None
            self.passages.append(Passage(number, source, position, self.texts[rank], page=page))
        passage = self.passages[number - 1]
        if quote not in passage.quotes:
            self.passages[number - 1] = replace(passage, quotes=(*passage.quotes, quote))
        return number
