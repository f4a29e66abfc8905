"""Which system writes a summary.

A model that was trained on other texts writes nonsense. Its vocabulary may show this beforehand, because it spells
unknown words in many pieces. Its summary shows it too, because the sources support nearly none of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from models.exported import vocabulary_in
from models.vocabulary import Vocabulary
from models.words import written_words
from tasks.cited_summary.cited import SummarySentence
from tasks.cited_summary.settings import Choice
from tasks.cited_summary.systems import SummarySystem
from tasks.writing.settings import WriterSettings

# Pieces a word from which a model does not suit. The vocabulary of a mini web spells pages of wikigraph in 2.21 to 2.62
# pieces a word. Vocabularies of 4,000 and 8,000 pieces, trained on the pages of the other groups, take 1.69 to 2.09.
MOST_PIECES = 2.2
# Share of a model's sentences that the sources must support; a sentence that only several passages together support
# counts half. All of 30 topics of the demo pass, and none of 24 outside it. A higher share would also refuse summaries
# of the demo, because one passage alone supports few of their sentences.
LEAST_BORNE_OUT = 0.25
# Share of the requested words, or of the sources' words if these are fewer. 2 to 5 % of the demo's summaries are below
# it.
LEAST_WORDS = 0.2
_SAMPLE = 200  # paragraphs whose pieces are counted


@dataclass(frozen=True)
class Request:
    """A request, and the available systems."""

    system: SummarySystem  # the best system that is there, or the chosen one
    choice: Choice = "suitable"
    writer: WriterSettings | None = None  # a language model that is to write; None for none
    question: bool = False  # whether a question is answered instead of a summary
    words: int = 150  # of the summary


class Attempt(NamedTuple):
    """A system's summary."""

    system: SummarySystem
    sentences: Sequence[SummarySentence] = ()  # with their verdicts
    fault: str = ""  # why it wrote nothing; empty if it did not fail


def decide(request: Request, texts: Sequence[str], attempt: Attempt | None = None) -> SummarySystem:
    """Return the system that writes. `texts`: the usable paragraphs of the sources. `attempt`: the summary of the
    chosen system, None before it is written. The same system is returned if its summary is shown, else the one that
    replaces it."""
    if attempt is not None:
        return _by_attempt(request, texts, attempt)
    system = request.system
    if request.choice == "extractive":
        others = system.summarizer or system.writer or request.writer
        return system.extractive("The extractive system was asked for.") if others else system
    if request.question and request.writer is None:
        return system.extractive("Sentences of the sources answer the question.")
    if request.choice == "model":
        return system
    if request.writer is not None:
        return system.written_by(request.writer)
    strange = _strangeness(system, texts)
    return system if strange is None else _unsuited(request, strange)


def _by_attempt(request: Request, texts: Sequence[str], attempt: Attempt) -> SummarySystem:
    system = attempt.system
    if attempt.fault:
        why = f"{system.name} gave no summary ({attempt.fault}), so whole sentences of the sources are chosen."
        return replace(system.without_models(why), note=why)
    if request.choice != "suitable" or system.summarizer is None or not texts:
        return system
    words = min(request.words, sum(len(written_words(text)) for text in texts))
    doubts = _doubts(system.name, attempt.sentences, words)
    return system if doubts is None else _unsuited(request, doubts)


def _unsuited(request: Request, why: str) -> SummarySystem:
    """Return the extractive system, ranked by similarity, because the models do not suit the sources."""
    system, note = request.system, ""
    if system.summarizer is not None:
        note = f"The trained model {system.name} does not suit these sources: sentences of theirs are shown."
    return replace(system.without_models(why), note=note)


def _strangeness(system: SummarySystem, texts: Sequence[str]) -> str | None:
    """Return why the vocabulary of a system's models does not suit the texts; None if it does, or there is none."""
    folder = system.summarizer or system.ranker
    if folder is None or not texts:
        return None
    rate = pieces_per_word(vocabulary_in(folder), texts[:_SAMPLE])
    if rate <= MOST_PIECES:
        return None
    return (
        f"The model was trained on other texts (its vocabulary spells a word of these sources in {rate:.2f} pieces, "
        f"where at most {MOST_PIECES} suit), so whole sentences of the sources are chosen."
    )


def _doubts(name: str, sentences: Sequence[SummarySentence], words: int) -> str | None:
    """Return why sentences of the sources should replace a model's summary; None if its summary is good enough. `name`:
    of the model; `sentences`: what it wrote, judged; `words`: how many could have been written."""
    wrote = sum(len(written_words(sentence.text)) for sentence in sentences)
    if not sentences or wrote < LEAST_WORDS * words:
        wrote_so = f"only {wrote} of {words} words" if sentences else "nothing"
        return f"{name} wrote {wrote_so}, so whole sentences of the sources are chosen."
    supported = sum(sentence.supported for sentence in sentences)
    said = sum(sentence.verdict == "said" for sentence in sentences)
    if supported + said >= 2 * LEAST_BORNE_OUT * len(sentences):
        return None
    return (
        f"{name} wrote {len(sentences)} sentences: the sources support {supported} of them, and one passage alone says "
        f"{said}, so whole sentences of the sources are chosen."
    )


def pieces_per_word(vocabulary: Vocabulary, texts: Sequence[str]) -> float:
    """Return the mean number of pieces of a word as written; 0 without words."""
    words = sum(len(written_words(text)) for text in texts)
    return sum(map(len, vocabulary.encode_batch(list(texts)))) / words if words else 0.0
