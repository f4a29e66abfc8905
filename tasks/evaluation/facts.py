"""Truth by facts: a benchmark whose truth is known. For builds whose source is the mini web.

Its world knows every fact of every topic, and the templates that leads and pages are written from. So a summary is
scored without any judgement: each of its sentences is read back by the templates (`tasks.sources.miniweb.reading`), and
each fact that it states is held against the world's. On other corpora nobody knows all that is true; there values,
entailment or people have to stand in. The price: only the world's own sentences are read. A system that says the same
in words of its own is not wrong but unread.

What counts:

* right: the topic's own value, whether or not its lead happens to state this fact
* wrong: another value, for a fact that the lead states
* invented: another value for a fact that the lead does not state, or a fact that such a topic does not have: the
  sentence of a river in a summary of a company
* missed: a fact of the lead of which the summary states nothing, right or wrong
* unread: a sentence that no template reads, mostly one that is garbled; its facts are counted nowhere, so the share of
  such sentences belongs beside every other figure

A fact stated twice with one value counts once; with two values, twice. The topic's name is a fact, and so is a
person's pronoun. A summary speaks of its article: a sentence that names another topic states a wrong name, and what
it says is held against this one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Scorer, Summary
from tasks.sources.miniweb.reading import POSSESSIVE, SUBJECT
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.truth import Reading, Truth, truth_of
from tasks.text.sentences import split_sentences

METRICS = (
    Metric("facts-right", "facts right", "truth", "of the facts that a summary states, those that are true"),
    Metric("facts-recalled", "facts recalled", "truth",
           "of the facts of the lead, those that a summary states right"),
    Metric("facts-wrong", "facts wrong", "truth",
           "of the facts that a summary states, those of the lead with another value", "lower"),
    Metric("facts-invented", "facts invented", "truth",
           "of the facts that a summary states, untrue ones that the lead does not speak of", "lower"),
    Metric("facts-unread", "sentences unread", "truth",
           "sentences of a summary that are none of the mini web's, so that nothing in them could be checked", "lower"),
)  # fmt: skip

Fact = tuple[str, str]  # kind of topic, name of the fact


@dataclass(frozen=True)
class FactCounts:
    """How often a fact was stated, and how.

    Attributes:
        right: stated as it is.
        wrong: stated otherwise, where the lead states it.
        invented: stated otherwise, where the lead does not.
        missed: of those in leads, not stated at all.
        lead: leads that state it.
        recalled: of those in leads, stated right.
    """

    right: int = 0
    wrong: int = 0
    invented: int = 0
    missed: int = 0
    lead: int = 0
    recalled: int = 0

    @property
    def stated(self) -> int:
        """Statements of the fact, with any value."""
        return self.right + self.wrong + self.invented

    def __add__(self, other: "FactCounts") -> "FactCounts":
        """Return the sums."""
        return FactCounts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class Findings:
    """What was found in a summary.

    Attributes:
        facts: every fact that the lead or the summary states.
        sentences: of the summary.
        unread: those that no template reads.
    """

    facts: Mapping[Fact, FactCounts]
    sentences: int
    unread: tuple[str, ...]


def find_facts(truth: Truth, text: str) -> Findings:
    """Read a summary and hold it against what is true of its article's topic."""
    stated: set[tuple[Fact, str]] = set()
    unread: list[str] = []
    sentences = split_sentences(text)
    for sentence in sentences:
        reading = truth.read(sentence)
        if reading is None:
            unread.append(sentence)
        else:
            stated.update(_statements(truth, reading))
    kind = truth.kind
    # Most facts have one value; the two tributaries of a river are one fact with two.
    counts: dict[Fact, Counter[str]] = {
        (kind, fact): Counter(lead=len(set(truth.facts[fact].values()))) for fact in truth.lead
    }
    for (of, fact), value in stated:
        in_lead = of == kind and fact in truth.lead
        right = of == kind and value in truth.facts.get(fact, {}).values()
        count = counts.setdefault((of, fact), Counter())
        count["right" if right else "wrong" if in_lead else "invented"] += 1
    for count in counts.values():
        count["recalled"] = min(count["lead"], count["right"])
        count["missed"] = max(count["lead"] - count["right"] - count["wrong"], 0)
    return Findings({fact: FactCounts(**count) for fact, count in counts.items()}, len(sentences), tuple(unread))


def prepare(article: ArticleTexts, wanted: Collection[str]) -> Scorer:
    """Ask the article's world what is true of it; nothing is scored where there is none."""
    truth = None if article.world is None else truth_of(article.world, article.title)

    def score(summary: Summary) -> dict[str, Score]:
        if truth is None:
            return {}
        found = find_facts(truth, summary.text)
        total = sum(found.facts.values(), FactCounts())
        scores: dict[str, Score] = {}
        if total.stated:
            scores["facts-right"] = Score(total.right / total.stated)
            scores["facts-wrong"] = Score(total.wrong / total.stated)
            scores["facts-invented"] = Score(total.invented / total.stated)
        scores["facts-recalled"] = Score(total.recalled / total.lead)
        if found.sentences:
            scores["facts-unread"] = Score(len(found.unread) / found.sentences)
        return scores

    return score


def count_facts(settings: MiniwebSettings, summaries: Iterable[tuple[str, str]]) -> dict[Fact, FactCounts]:
    """Return the counts of every fact over summaries, for a table: by kind and name of the fact.

    Args:
        settings: of the mini web that the articles are from.
        summaries: (title of the article, summary).
    """
    totals: dict[Fact, FactCounts] = {}
    for title, text in summaries:
        for fact, counts in find_facts(truth_of(settings, title), text).facts.items():
            totals[fact] = totals.get(fact, FactCounts()) + counts
    return dict(sorted(totals.items()))


def _statements(truth: Truth, reading: Reading) -> Iterator[tuple[Fact, str]]:
    """Yield the facts that a sentence states, and their values. Whoever is named, it is said of the article's topic."""
    for slot, words in reading.values:
        stated = truth.stated(slot, words)
        if stated is None:
            continue
        fact, value = stated
        if reading.kind == truth.kind or slot in (SUBJECT, POSSESSIVE):
            yield (truth.kind, fact), truth.facts[fact].get(value, value)
        else:
            yield (reading.kind, fact), value
