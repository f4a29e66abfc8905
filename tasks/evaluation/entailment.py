"""Whether one text entails another (natural language inference, NLI), and truth of sentences, pages and citations by a
model of entailment, if the settings name its folder.

SummaC (zero-shot, Laban et al. 2022): a sentence of a summary has the highest P(entailment) of all paragraphs read, a
summary the mean over its sentences. Paragraphs stay whole, as in their released code; single sentences would make four
times as many pairs. That code also subtracts the highest P(contradiction), which the many paragraphs of our inputs
would drive up whatever a sentence says; here entailment counts alone, as a share.

NED (Shen et al. 2023, app. H): the pages that entail a sentence, on average. A page does if the highest P(entailment)
of its paragraphs minus their highest P(contradiction) is above .5, as in the released code. Their Table 13 also has the
threshold .2, which finds rephrased sentences that .5 misses.

Citations are those of `citations.py`, chosen by values; here the test of their support is entailment, as in
ALCE's evaluation (Gao et al. 2023, sec. 4.3). The article's title precedes the texts, because all sides know it.

An empty summary has 0 of each share, so that silence gains nothing, and no NED, which is a mean over its sentences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from tasks.evaluation.citations import CitedSentence, Citer, citation_scores
from tasks.evaluation.metrics import ArticleTexts, Floats, Score, Summary, SummaryScorer
from tasks.ranking.folders import read_config

Pair = tuple[str, str]  # premise, hypothesis
# pairs -> [N, 2], P(entailment) and P(contradiction) of each of N pairs, 0-1
Entailment = Callable[[Sequence[Pair]], Floats]
ENTAILED = 0.5  # more likely than not
_LABELS = ("entailment", "contradiction")
_PAGE_ENTAILS = {"ned": 0.5, "ned-0.2": 0.2}  # Shen et al. 2023, app. H


def premise(title: str, texts: Sequence[str]) -> str:
    """Return texts as one premise, after the title of their article, which is known to all."""
    return "\n".join([title, *texts])


def label_ids(folder: str, setting: str) -> list[int]:
    """Return the ids of entailment and contradiction, as the configuration of the folder's model names them. Raises
    FileNotFoundError: the folder or a model in it is missing; ValueError: it classifies no texts, or into other
    classes; they name the setting."""
    config = read_config(folder, setting)
    kinds = config.get("architectures") or []
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ValueError(
            f"{setting} is {folder!r}: expected a model for sequence classification, got "
            f"{', '.join(kinds) or 'one that does not say what it is'}"
        )
    labels: Mapping[str, str] = config.get("id2label") or {}
    ids = {name.lower(): int(number) for number, name in labels.items()}
    if not ids.keys() >= set(_LABELS):
        raise ValueError(
            f"{setting} is {folder!r}: expected the labels {' and '.join(_LABELS)} in its id2label, got "
            f"{', '.join(labels.values()) or 'none'}"
        )
    return [ids[label] for label in _LABELS]


def _remembered(entailment: Entailment) -> Entailment:
    """Return a model with a cache of its answers, because systems that copy write the same sentences."""
    known: dict[Pair, Floats] = {}

    def answers(pairs: Sequence[Pair]) -> Floats:
        if new := [pair for pair in dict.fromkeys(pairs) if pair not in known]:
            known.update(zip(new, entailment(new), strict=True))
        return np.array([known[pair] for pair in pairs]).reshape(-1, 2)

    return answers


def prepare(article: ArticleTexts, wanted: Collection[str], *, entailment: Entailment) -> SummaryScorer:
    """Return a scorer of summaries by a model, whose answers are cached."""
    citer = Citer(article.title, article.ranked, [article.lead, *article.sources])
    model = _remembered(entailment)

    def score(summary: Summary) -> dict[str, Score]:
        cited = citer.cite(summary)
        if not cited:
            shares = ("summac", "citation-recall-entailed", "citation-precision-entailed")
            return {name: Score(0.0) for name in shares if name in wanted}
        scores = {}
        if not {"summac", *_PAGE_ENTAILS}.isdisjoint(wanted):
            read = article.ranked[: summary.read]
            answers = model([(text, sentence.claim) for sentence in cited for text in read])
            table = answers.reshape(len(cited), len(read), 2)
            scores["summac"] = Score(summac(table))
            if article.pages:
                for name, threshold in _PAGE_ENTAILS.items():
                    scores[name] = Score(entailing_pages(table, article.pages[: len(read)], threshold))
        if not {"citation-recall-entailed", "citation-precision-entailed"}.isdisjoint(wanted):
            recall, precision = _citations(cited, citer, article.title, model)
            scores["citation-recall-entailed"] = Score(recall)
            scores["citation-precision-entailed"] = Score(precision)
        return scores

    return score


def summac(table: Floats) -> float:
    """Return the zero-shot SummaC score of a summary, 0-1; 0 where nothing was read. `table`: [S, N, 2], P(entailment)
    and P(contradiction) of each of its S sentences, S > 0, by each of N texts."""
    return float(table[:, :, 0].max(axis=1, initial=0.0).mean())


def entailing_pages(table: Floats, pages: Sequence[str], threshold: float) -> float:
    """Return how many pages entail a sentence, on average (NED). `table`: as in `summac`; `pages`: the page of each of
    the N texts; `threshold`: a page entails a sentence if its score, -1 to 1, is above."""
    places: dict[str, list[int]] = {}
    for index, page in enumerate(pages):
        places.setdefault(page, []).append(index)
    counts = np.zeros(len(table))
    for own in places.values():
        entailed, contradicted = table[:, own].max(axis=1).T
        counts += entailed - contradicted > threshold
    return float(counts.mean())


def _citations(cited: Sequence[CitedSentence], citer: Citer, title: str, model: Entailment) -> tuple[float, float]:
    """Return citation recall and precision; all pairs that they may need are given to the model at once."""
    with_texts = [(sentence.claim, citer.texts(sentence.ranks)) for sentence in cited]
    sets = [
        (premise(title, chosen), claim)
        for claim, texts in with_texts
        for size in range(1, len(texts) + 1)
        for chosen in combinations(texts, size)
    ]
    model(sets)

    def support(premises: Sequence[str], sentence: str) -> bool:
        return bool(premises) and bool(model([(premise(title, premises), sentence)])[0, 0] > ENTAILED)

    return citation_scores(with_texts, support)
