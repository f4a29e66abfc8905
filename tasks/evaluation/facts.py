"""Truth by facts: a benchmark whose truth is known, for builds whose source is the mini web.

Its world knows every fact of every topic, and the templates from which leads and pages are written. So a summary is
scored without a judge: the templates parse each of its sentences (`topic_truth.py`), and each fact that it states is
compared with the world's. Other corpora do not list all facts: values, entailment or people must replace this test for
them. Its limit: only the world's own sentences are understood. A system that says the same in other words is not wrong
but unread.

What counts:

* right: the topic's own value, whether or not its lead states this fact
* wrong: another value, for a fact that the lead states
* invented: a wrong value for a fact that the lead does not state, or a fact that such a topic cannot have (a sentence
  about a river in a summary of a company)
* missed: a fact of the lead that the summary does not state, neither right nor wrong
* unread: a sentence that matches no template, mostly a garbled one; its facts are not counted, so every other figure
  must be shown with the share of such sentences

A sentence is true if three conditions hold. It states a fact besides its topic's name ("the bakery opens at five" may
be said of any town). Every fact that it states is right, also its topic's name and kind. It has no value twice:
"starring A and A" is not true of a film that stars A and B. A sentence that repeats one before it is not true again.
The share of true sentences is the strictest of these figures, because a garbled sentence is not true either. A summary
that states nothing has no true sentence and no right fact, which counts as 0; shares of what is wrong, where lower is
better, are not defined for it.

A fact stated twice with one value counts once; with two values, twice. The topic's name is a fact, and so is a
person's pronoun. A summary is about its article: a sentence that names another topic states a wrong name, and its
facts are compared with this article's."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from models.sentences import split_sentences
from tasks.evaluation.metrics import ArticleTexts, Score, Summary, SummaryScorer, first_times
from tasks.evaluation.topic_truth import NAME, POSSESSIVE, PRONOUN, SUBJECT, Reading, Truth, truth_of

Fact = tuple[str, str]  # kind of topic, name of the fact


@dataclass(frozen=True)
class Findings:
    """The facts found in a summary."""

    # How often each fact of the lead or the summary is right, wrong, invented and missed, as above;
    # how often the lead states it; and how often what the lead states is right in the summary: recalled.
    facts: Mapping[Fact, Counter[str]]
    sentences: int  # number of sentences of the summary
    true: int  # of these, how many are read and state nothing but right facts
    unread: tuple[str, ...]  # sentences that match no template


def find_facts(truth: Truth, text: str) -> Findings:
    """Read a summary and compare it with the facts of its article's topic."""
    stated: set[tuple[Fact, str]] = set()
    unread: list[str] = []
    kind, true = truth.kind, 0
    sentences = split_sentences(text)
    for sentence, new in zip(sentences, first_times(sentences), strict=True):
        reading = truth.read(sentence)
        if reading is None:
            unread.append(sentence)
        else:
            statements = list(_statements(truth, reading))
            stated_here = [statement for statement in statements if statement[0][1] not in (NAME, PRONOUN)]
            # Two numbers of a topic may be equal; two names or words of one sentence are not.
            places = [(value.isnumeric() and fact, value) for (_, fact), value in stated_here]
            told = 0 < len(places) == len(set(places))
            true += new and told and all(_is_right(truth, statement) for statement in statements)
            stated.update(statements)
    # Most facts have one value; the two tributaries of a river are one fact with two.
    counts: dict[Fact, Counter[str]] = {
        (kind, fact): Counter(lead=len(set(truth.facts[fact].values()))) for fact in truth.lead
    }
    for statement in stated:
        owner, fact = statement[0]
        in_lead = owner == kind and fact in truth.lead
        count = counts.setdefault((owner, fact), Counter())
        count["right" if _is_right(truth, statement) else "wrong" if in_lead else "invented"] += 1
    for count in counts.values():
        count["recalled"] = min(count["lead"], count["right"])
        count["missed"] = max(count["lead"] - count["right"] - count["wrong"], 0)
    return Findings(counts, len(sentences), true, tuple(unread))


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Look up the facts of the article in its world; without a world nothing is scored."""
    truth = None if article.world is None else truth_of(article.world, article.title)

    def score(summary: Summary) -> dict[str, Score]:
        if truth is None:
            return {}
        facts = find_facts(truth, summary.text)
        total = sum(facts.facts.values(), Counter[str]())
        stated = total["right"] + total["wrong"] + total["invented"]
        scores = {
            "facts-sentences": Score(facts.true / max(facts.sentences, 1)),
            "facts-right": Score(total["right"] / max(stated, 1)),
            "facts-recalled": Score(total["recalled"] / total["lead"]),
        }
        if stated:
            scores["facts-wrong"] = Score(total["wrong"] / stated)
            scores["facts-invented"] = Score(total["invented"] / stated)
        if facts.sentences:
            scores["facts-unread"] = Score(len(facts.unread) / facts.sentences)
        return scores

    return score


def _is_right(truth: Truth, statement: tuple[Fact, str]) -> bool:
    (owner, fact), value = statement
    return owner == truth.kind and value in truth.facts.get(fact, {}).values()


def _statements(truth: Truth, reading: Reading) -> Iterator[tuple[Fact, str]]:
    """Yield the facts that a sentence states about the article's topic, whatever it names, with their values."""
    for slot, words in reading.values:
        stated = truth.stated(slot, words)
        if stated is None:
            continue
        fact, value = stated
        if reading.kind == truth.kind or slot in (SUBJECT, POSSESSIVE):
            yield (truth.kind, fact), truth.facts[fact].get(value, value)
        else:
            yield (reading.kind, fact), value
