"""Citations of a summary: for every sentence the fewest paragraphs read by its system that say it.

Attention alone proves nothing. The verifier (`tasks/verification/verifier.py`) finds the paragraph that says a
sentence, or several that say it together; attention decides between paragraphs that do so equally. A sentence that it
refuses cites the paragraphs with most of its values, so that people see what it may come from. Among sets of equally
few paragraphs with equally many values, the one with the highest product of attention and overlap in content words is
cited. If attention is missing, all paragraphs are equally likely.

As metrics they are judged by a test of support (ALCE, Gao et al. 2023, sec. 4.3). While the same verifier chooses and
judges, `citation-recall` and `supported` are equal by construction, and a citation lowers precision only if its
sentence is not supported; with a test by entailment they would differ. An empty summary scores 0, so that silence gains
nothing, and a sentence that repeats an earlier one counts as not said."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from operator import itemgetter
from typing import Literal

import numpy as np

from models.sentences import sentence_pieces
from models.values import Value, ValueIndex, find_values
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Floats, Score, Summary, SummaryScorer, first_times
from tasks.text.content_words import content_words, overlap
from tasks.verification.verifier import Support, shipped
from tasks.verification.words import read as read_text

ENOUGH_WORDS = 0.5  # of the content words of a sentence without values
MOST_CITED = 3  # paragraphs per sentence, as in ALCE's evaluation (Gao et al. 2023)
_MOST_TRIED = 40  # paragraphs from which sets are formed: 10,700 sets; only endless sentences have more candidates
_SAME_WORDS = 20  # characters of a paragraph compared to recognise a title before it

Verdict = Literal["said", "combined", "reported", "partly", "not supported", "not judged"]
_SUPPORTED: Mapping[Support, Verdict] = {
    Support.SAID: "said",
    Support.COMBINED: "combined",
    Support.REPORTED: "reported",
}
# Whether texts together support a sentence, by a verifier or a model of entailment; no texts support nothing.
SupportTest = Callable[[Sequence[str], str], bool]


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of a summary with the paragraphs that are cited for it."""

    sentence: str  # as it was written
    claim: str  # the text to be supported: the sentence, without a title that Lead put before it
    ranks: tuple[int, ...] = ()  # 0-based ranks of the cited paragraphs, in order; at most three
    # share of the sentence's attention for each of them, 0-1; empty for a system without attention
    shares: tuple[float, ...] = ()
    # said: one paragraph says it | combined: several say it together | reported: one has it as somebody's words |
    # partly: they contain some of its values or words, but do not say it | not supported: none is cited | not judged:
    # the verifier does not know its script or language
    verdict: Verdict = "not supported"
    # values that they do not contain, as written in the sentence; empty if something else is missing
    missing: tuple[str, ...] = ()
    objection: str = ""  # why paragraphs that have its words do not say it; empty if no rule objects


class ValueSupport:
    """Support by values: all names, numbers and dates of a sentence occur in the premises together. The article's title
    counts as part of every premise. A sentence without values other than the title's is supported if the premises
    contain half of its content words; words of the title count only if it has no others. `title`: of the article;
    `context`: texts on the same subject, to distinguish names at the start of a sentence from other words."""

    def __init__(self, title: str, context: ValueIndex | None = None) -> None:
        self._title, self._context = title, context
        self._known, self._title_words = ValueIndex([title]), content_words(title)

    def __call__(self, premises: Sequence[str], sentence: str) -> bool:
        """Return whether the premises, taken together, support the sentence; no premises support nothing."""
        if not premises:
            return False
        if values := self.values(sentence):
            return not self.missing(premises, values)
        premise_words = frozenset[str]().union(*map(content_words, premises))
        return overlap(self.words(sentence), premise_words) >= ENOUGH_WORDS

    def values(self, sentence: str) -> list[Value]:
        """Return the values of a sentence that are not in the title, so that they need a source."""
        return [value for value in find_values(sentence, self._context) if value not in self._known]

    def missing(self, premises: Sequence[str], values: Sequence[Value]) -> list[Value]:
        """Return the values that are neither in the premises nor in the title."""
        if not premises:
            return list(values)
        evidence = ValueIndex([self._title, *premises])
        return [value for value in values if value not in evidence]

    def lacking(self, sentence: str, premises: Sequence[str]) -> list[str]:
        """Return the values of a sentence, as written there, that neither the premises nor the title have."""
        return [written(value, sentence) for value in self.missing(premises, self.values(sentence))]

    def words(self, sentence: str) -> frozenset[str]:
        """Return the content words of a sentence, without the title's unless it has no others."""
        words = content_words(sentence)
        return words - self._title_words or words


class Citer:
    """Cites the paragraphs of one article for any summaries of it. `title`: of the article, known to all. `paragraphs`:
    ranked, best first. `context`: further texts on the same subject, such as the lead, which are never cited. They help
    to distinguish names at the start of a sentence from other words. The verifier of the package decides; `support` has
    the values of sentences, and those that texts lack."""

    def __init__(self, title: str, paragraphs: Sequence[str], context: Sequence[str] = ()) -> None:
        self.verifier = shipped()
        self._title, self._paragraphs = title, paragraphs
        self._words = [content_words(paragraph) for paragraph in paragraphs]
        self._evidence = [ValueIndex([title, paragraph]) for paragraph in paragraphs]
        self.support = ValueSupport(title, ValueIndex([title, *paragraphs, *context]))

    def texts(self, ranks: Sequence[int]) -> list[str]:
        """Return the paragraphs of the given ranks."""
        return [self._paragraphs[rank] for rank in ranks]

    def cite(self, summary: Summary) -> list[CitedSentence]:
        """Return the sentences of a summary, in order, each with its citations and verdict. Only paragraphs that the
        system read are cited: the first `summary.read`, at most as many as have attention."""
        attention = summary.attention
        read = len(self._paragraphs[: summary.read])
        if attention is not None and attention.size:
            read = min(read, attention.shape[1])
        cited = []
        for number, (sentence, pieces) in enumerate(sentence_pieces(summary.text, summary.tokens)):
            claim = sentence if number else self.untitled(sentence)
            looked = None if attention is None or not attention.size else attention[pieces]
            prior = looked.mean(axis=0)[:read] if looked is not None and len(looked) else None
            cited.append(self._cite(sentence, claim, read, prior, by_model=summary.by_model))
        return cited

    def has(self, claim: str, read: int | None) -> bool:
        """Tell whether one of the first `read` paragraphs (None = all) has a sentence word for word."""
        lines = read_text(claim).lines
        return bool(lines) and any(lines <= read_text(text).lines for text in self._paragraphs[:read])

    def untitled(self, sentence: str) -> str:
        """Return the first sentence of a summary without titles before it, if a paragraph follows them, as in Lead."""
        rest = sentence.removeprefix(self._title).lstrip()
        if rest == sentence or not rest:
            return sentence
        begins = any(" ".join(text.split()).startswith(rest[:_SAME_WORDS]) for text in self._paragraphs)
        return rest if begins else sentence

    def _cite(self, sentence: str, claim: str, read: int, prior: Floats | None, *, by_model: bool) -> CitedSentence:
        shares = () if prior is None else tuple(map(float, prior))
        result = self.verifier.finding(claim, self._paragraphs[:read], self._title, prior, by_model=by_model)

        def of(ranks: tuple[int, ...], verdict: Verdict, missing: Sequence[Value] = ()) -> CitedSentence:
            names = tuple(written(value, claim) for value in missing)
            looked = tuple(shares[rank] for rank in ranks if shares)
            return CitedSentence(sentence, claim, ranks, looked, verdict, names, result.objection or "")

        if result.support in _SUPPORTED:
            return of(result.passages, _SUPPORTED[result.support])
        words = self.support.words(claim)
        overlaps = np.array([overlap(words, paragraph_words) for paragraph_words in self._words[:read]])
        weights = overlaps if prior is None else overlaps * prior
        if values := self.support.values(claim):
            ranks = self._needed(self._best_set(values, weights, overlaps), values)
        else:
            ranks = self._best_one(claim, weights, overlaps)
        missing = self.support.missing(self.texts(ranks), values)
        if result.support is Support.UNJUDGED:
            return of(ranks, "not judged", missing)
        return of(ranks, "partly" if ranks else "not supported", missing)

    def _best_set(self, values: Sequence[Value], weights: Floats, overlaps: Floats) -> tuple[int, ...]:
        """Return at most three paragraphs that contain most of the values; ties: the fewest, then the likeliest. Only
        the likeliest of the paragraphs with the same values is used, so that the sets are few and all can be tried."""
        likeliest: dict[frozenset[int], int] = {}
        for rank in sorted(range(len(weights)), key=lambda rank: (-weights[rank], -overlaps[rank], rank)):
            evidence = frozenset(index for index, value in enumerate(values) if value in self._evidence[rank])
            if evidence:
                likeliest.setdefault(evidence, rank)
        most = sorted(likeliest.items(), key=lambda item: -len(item[0]))[:_MOST_TRIED]
        best: tuple[int, ...] = ()
        best_key = (0, 0, 0.0, 0.0)
        holders = sorted(most, key=itemgetter(1))
        for chosen in chain.from_iterable(combinations(holders, size) for size in range(1, MOST_CITED + 1)):
            ranks = [rank for _, rank in chosen]
            covered = len(frozenset[int]().union(*(evidence for evidence, _ in chosen)))
            key = (covered, -len(ranks), float(weights[ranks].sum()), float(overlaps[ranks].sum()))
            if key > best_key:
                best, best_key = tuple(ranks), key
        return best

    def _needed(self, ranks: tuple[int, ...], values: Sequence[Value]) -> tuple[int, ...]:
        """Return the paragraphs without needless ones: texts together may contain more values than each alone."""
        missing = len(self.support.missing(self.texts(ranks), values))
        for rank in ranks:
            others = tuple(other for other in ranks if other != rank)
            if others and len(self.support.missing(self.texts(others), values)) == missing:
                return self._needed(others, values)
        return ranks

    def _best_one(self, claim: str, weights: Floats, overlaps: Floats) -> tuple[int, ...]:
        """Return the likeliest paragraph that alone has half of the words of a claim without values, if one has."""
        able = [rank for rank in range(len(weights)) if self.support([self._paragraphs[rank]], claim)]
        return tuple(sorted(able, key=lambda rank: (-weights[rank], -overlaps[rank], rank))[:1])


def written(value: Value, sentence: str) -> str:
    """Return a value as written in the sentence; numbers and dates in their normal form."""
    if value.kind != "name":
        return str(value)
    words = (re.escape(str(word)).replace("'", "['’]") for word in value.key) if isinstance(value.key, tuple) else ()
    match = re.search(r"\b" + r"(?:['’]s)?\s+".join(words) + r"\b", sentence, re.IGNORECASE)
    return match[0] if match else str(value)


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Look up the article's paragraphs once for all summaries."""
    citer = Citer(article.title, article.ranked, [article.lead, *article.sources])

    def support(premises: Sequence[str], sentence: str) -> bool:
        return citer.verifier.finding(sentence, premises, article.title).support in {Support.SAID, Support.COMBINED}

    def score(summary: Summary) -> dict[str, Score]:
        cited = citer.cite(summary)
        if not cited:
            return dict.fromkeys(COMPUTED["citations"], Score(0.0))
        new = first_times([sentence.sentence for sentence in cited])
        texts = [citer.texts(c.ranks) if first else [] for c, first in zip(cited, new, strict=True)]
        recall, precision = citation_scores([(c.claim, cites) for c, cites in zip(cited, texts, strict=True)], support)
        verdicts = [sentence.verdict for sentence, first in zip(cited, new, strict=True) if first]
        said, combined = verdicts.count("said"), verdicts.count("combined")
        copied = sum(first and citer.has(c.claim, summary.read) for c, first in zip(cited, new, strict=True))
        return {
            "said": Score(said / len(cited)),
            "copied": Score(copied / len(cited)),
            "supported": Score((said + combined) / len(cited)),
            "citation-recall": Score(recall),
            "citation-precision": Score(precision),
        }

    return score


def citation_scores(cited: Sequence[tuple[str, Sequence[str]]], support: SupportTest) -> tuple[float, float]:
    """Return citation recall and citation precision of a summary, 0-1. `cited`: the sentences, each with the texts
    cited for it. Raises ValueError: no sentence is given.

    Recall is the share of sentences that their citations support together. A citation is precise if its sentence is
    supported in this way and the citation is not needless. It is needless if it does not support the sentence alone and
    the others support it without this one. Precision is the share of precise citations; 0 without citations."""
    if not cited:
        raise ValueError("a summary without sentences has no citations to score: expected at least one sentence")
    supported = precise = 0
    for sentence, texts in cited:
        if texts and support(texts, sentence):
            supported += 1
            precise += sum(not _needless(texts, index, sentence, support) for index in range(len(texts)))
    citations = sum(len(texts) for _, texts in cited)
    return supported / len(cited), precise / citations if citations else 0.0


def _needless(texts: Sequence[str], index: int, sentence: str, support: SupportTest) -> bool:
    others = [*texts[:index], *texts[index + 1 :]]
    return bool(others) and not support([texts[index]], sentence) and support(others, sentence)
