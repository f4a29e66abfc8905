"""ROUGE-1, -2, -L and -Lsum of summaries, equal to the library `rouge-score` 0.1.2 to the last bit, but faster.

The library fills a table of Python lists for every subsequence; here n-grams and subsequences come from
`tasks/text/ngrams.py`, a reference is prepared once for all systems, and each word is stemmed once. A property test
checks that both agree. `rougeL` takes a summary as one line, `rougeLsum` as sentences (Lin 2004, sec. 3.2), which the
library expects on separate lines: `models/sentences.py` splits them, in references and summaries alike. The target
decides how both are cut into words: one in another alphabet than the Latin one by the words of Unicode
(`tasks.text.ngrams.rule_for`), where the library would see digits alone."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

from models.sentences import language_of, split_sentences
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Score, SummaryScorer
from tasks.text.ngrams import TargetNgrams, lcs_length, places_of, rule_for, split_words, stem

Sentences = Sequence[Sequence[str]]  # the words of each sentence of a text
_STEM = "-stem"


class Reference:
    """One target, prepared to score many summaries against it. `target`: the target, as text or already cut into
    sentences and (plain) words; `metrics`: the metrics that `score` returns."""

    def __init__(self, target: str | Sentences, metrics: Sequence[str] = COMPUTED["rouge"]) -> None:
        self._metrics = metrics
        whole = target if isinstance(target, str) else ""
        self._cut = rule_for(whole), language_of(whole)
        self._targets = {stems: self._words(target, stems) for stems in {metric.endswith(_STEM) for metric in metrics}}
        self._ngrams = {(n, stems): TargetNgrams(_line(own), n) for stems, own in self._targets.items() for n in (1, 2)}

    def score(self, summary: str | Sentences) -> dict[str, Score]:
        """Return every metric of a summary, given as text or as plain words."""
        summaries = {stems: self._words(summary, stems) for stems in self._targets}
        scores = {}
        for metric in self._metrics:
            kind, stems = metric.removesuffix(_STEM), metric.endswith(_STEM)
            target, own, line = self._targets[stems], summaries[stems], _line(summaries[stems])
            ngrams = self._ngrams[2 if kind == "rouge2" else 1, stems]
            if kind == "rougeL":
                hits = lcs_length(_line(target), line)
            else:
                hits = _union_hits(target, own) if kind == "rougeLsum" else ngrams.matched(line)
            candidates = max(len(line) - ngrams.n + 1, 0)
            precision, recall = (hits / total if total else 0.0 for total in (candidates, ngrams.total))
            scores[metric] = Score.of(precision, recall)
        return scores

    def _words(self, text: str | Sentences, stems: bool) -> Sentences:
        if isinstance(text, str):
            rule, language = self._cut
            text = [split_words(sentence, rule) for sentence in split_sentences(text, language)]
        return [list(map(stem, sentence)) for sentence in text] if stems else text


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Cut the lead into words and n-grams once for all summaries."""
    reference = Reference(article.lead, [metric for metric in COMPUTED["rouge"] if metric in wanted])
    return lambda summary: reference.score(summary.text)


def _line(sentences: Sentences) -> list[str]:
    return list(chain.from_iterable(sentences))


def _union_hits(target: Sentences, summary: Sentences) -> int:
    """Count the words of the union LCS (Lin 2004, eq. 15), each at most as often as it occurs in the summary."""
    candidates = [(sentence, places_of(sentence)) for sentence in summary if sentence]
    hits: Counter[str] = Counter()
    for sentence in target:
        union = set[int]().union(*(_lcs_positions(sentence, other, positions) for other, positions in candidates))
        hits.update(sentence[position] for position in union)
    return (hits & Counter(_line(summary))).total()


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
