"""ROUGE-1, -2, -L and -Lsum of summaries, equal to the library `rouge-score` 0.1.2 to the last bit, but faster.

The library fills a table of Python lists for every subsequence; here n-grams and subsequences come from
`tasks/text/ngrams.py`, a reference is prepared once for all systems, and each word is stemmed once. A property test
checks that both agree. `rougeL` takes a summary as one line, `rougeLsum` as sentences (Lin 2004, sec. 3.2), which the
library expects on separate lines: `models/sentences.py` splits them, in references and summaries alike."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import chain
from typing import Literal, get_args

from models.sentences import split_sentences
from tasks.evaluation.metrics import ArticleTexts, Score, SummaryScorer
from tasks.text.ngrams import TargetNgrams, lcs_length, places_of, split_words, stem

Metric = Literal[
    "rouge1", "rouge2", "rougeL", "rougeLsum", "rouge1-stem", "rouge2-stem", "rougeL-stem", "rougeLsum-stem"
]
METRICS: tuple[Metric, ...] = get_args(Metric)
_STEM = "-stem"


class Words:
    """The words of each sentence of one text, plain or stemmed."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self.sentences = sentences

    @classmethod
    def of(cls, text: str) -> "Words":
        """Cut a text into sentences and words."""
        return cls([split_words(sentence) for sentence in split_sentences(text)])

    def stemmed(self) -> "Words":
        """Return the same sentences, each word stemmed."""
        return Words([[stem(word) for word in sentence] for sentence in self.sentences])

    @cached_property
    def line(self) -> list[str]:
        """All words as one list."""
        return list(chain.from_iterable(self.sentences))


class Reference:
    """One target, prepared to score many summaries against it. `target`: the target, as text or already cut into
    sentences and (plain) words; `metrics`: the metrics that `score` returns."""

    def __init__(self, target: str | Words, metrics: Sequence[Metric] = METRICS) -> None:
        self._metrics = tuple(metrics)
        self._stems = sorted({metric.endswith(_STEM) for metric in metrics})
        plain = Words.of(target) if isinstance(target, str) else target
        self._words = {stems: plain.stemmed() if stems else plain for stems in self._stems}
        self._ngrams = {(n, stems): TargetNgrams(words.line, n) for stems, words in self._words.items() for n in (1, 2)}

    def score(self, summary: str | Words) -> dict[str, Score]:
        """Return every metric of a summary, given as text or as plain words."""
        plain = Words.of(summary) if isinstance(summary, str) else summary
        words = {stems: plain.stemmed() if stems else plain for stems in self._stems}
        return {metric: self._score(metric, words[metric.endswith(_STEM)]) for metric in self._metrics}

    def _score(self, metric: Metric, summary: Words) -> Score:
        stems = metric.endswith(_STEM)
        reference = self._words[stems]
        kind = metric.removesuffix(_STEM)
        if kind.startswith("rougeL"):
            of_lines = kind == "rougeL"
            hits = lcs_length(reference.line, summary.line) if of_lines else _union_hits(reference, summary)
            return _rouge(hits, len(summary.line), len(reference.line))
        ngrams = self._ngrams[int(kind[-1]), stems]
        return _rouge(ngrams.matched(summary.line), max(len(summary.line) - ngrams.n + 1, 0), ngrams.total)


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Cut the lead into words and n-grams once for all summaries."""
    reference = Reference(article.lead, [metric for metric in METRICS if metric in wanted])
    return lambda summary: reference.score(summary.text)


def _rouge(hits: int, candidates: int, wanted: int) -> Score:
    return Score.of(hits / candidates if candidates else 0.0, hits / wanted if wanted else 0.0)


def _union_hits(reference: Words, summary: Words) -> int:
    """Count the words of the union LCS (Lin 2004, eq. 15), each at most as often as it occurs in both texts."""
    left_reference, left_summary = Counter(reference.line), Counter(summary.line)
    hits = 0
    candidates = [(sentence, places_of(sentence)) for sentence in summary.sentences if sentence]
    for sentence in reference.sentences:
        union: set[int] = set()
        for candidate, positions in candidates:
            union |= _lcs_positions(sentence, candidate, positions)
        for position in sorted(union):
            word = sentence[position]
            if left_reference[word] > 0 and left_summary[word] > 0:
                hits += 1
                left_reference[word] -= 1
                left_summary[word] -= 1
    return hits


def _lcs_positions(reference: Sequence[str], candidate: Sequence[str], positions: dict[str, int]) -> set[int]:
    """Return the positions in `reference` of the longest common subsequence that rouge-score picks. If several are
    longest, the library's walk back through its table decides. Row i of that table is stored as an integer with a 0 bit
    where the row rises (as in `tasks.text.ngrams.lcs_length`), so t[i][j] is the number of 0 bits below bit j."""
    row = everywhere = (1 << len(candidate)) - 1
    rows = [row]
    for word in reference:
        occurrences = positions.get(word)
        if occurrences is not None:
            hits = row & occurrences
            row = ((row + hits) | (row - hits)) & everywhere
        rows.append(row)
    matched: set[int] = set()
    if row == everywhere:
        return matched
    i, j = len(reference), len(candidate)
    while i > 0 and j > 0:
        if reference[i - 1] == candidate[j - 1]:
            i, j = i - 1, j - 1
            matched.add(i)
            continue
        below = (1 << (j - 1)) - 1
        beside = j - 1 - (rows[i] & below).bit_count()
        above = j - (rows[i - 1] & (2 * below + 1)).bit_count()
        if beside > above:
            j -= 1
        else:
            i -= 1
    return matched
