"""Whether the sentences of a summary are supported by what is cited for them (ALCE, Gao et al. 2023, sec. 4.3).

Citations are chosen (`tasks/evaluation/citations.py`), for no system writes any, and judged by a test of support. As
long as that is the test they are chosen by, `citation-recall` and `supported` agree by construction, and a citation
counts against precision only where its sentence is supported in part; a test by entailment parts them.
"""

from collections.abc import Collection, Sequence

from tasks.evaluation.citations import Citer
from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Scorer, Summary
from tasks.evaluation.support import Support

METRICS = (
    Metric("supported", "sentences supported", "truth",
           "of the sentences of a summary, those whose names, numbers and dates occur in three paragraphs it read"),
    Metric("citation-recall", "citation recall", "truth",
           "of the sentences of a summary, those that the paragraphs cited for them support together"),
    Metric("citation-precision", "citation precision", "truth",
           "of the citations of a summary, those of a supported sentence that are not needless"),
)  # fmt: skip


def prepare(article: ArticleTexts, wanted: Collection[str]) -> Scorer:
    """Look up the article's paragraphs once for all summaries."""
    citer = Citer(article.title, article.ranked, [article.lead, *article.sources])

    def score(summary: Summary) -> dict[str, Score]:
        cited = citer.cite(summary)
        if not cited:
            return {}
        recall, precision = citation_scores([(c.claim, citer.texts(c.ranks)) for c in cited], citer.support)
        supported = sum(sentence.verdict == "supported" for sentence in cited) / len(cited)
        return {
            "supported": Score(supported),
            "citation-recall": Score(recall),
            "citation-precision": Score(precision),
        }

    return score


def citation_scores(cited: Sequence[tuple[str, Sequence[str]]], support: Support) -> tuple[float, float]:
    """Return citation recall and citation precision of a summary, 0-1.

    Recall is the share of sentences that their citations support together. A citation is precise if its sentence is
    so supported and it is not needless: it is, where it does not support the sentence by itself and the others do
    without it. Precision is the share of precise citations; 0 where nothing is cited.

    Args:
        cited: the sentences, at least one, each with the texts cited for it.
        support: the test.

    Raises:
        ValueError: there is no sentence.
    """
    if not cited:
        raise ValueError("a summary without sentences has no citations to score: expected at least one sentence")
    supported = precise = 0
    for sentence, texts in cited:
        if texts and support(texts, sentence):
            supported += 1
            precise += sum(not _needless(texts, place, sentence, support) for place in range(len(texts)))
    citations = sum(len(texts) for _, texts in cited)
    return supported / len(cited), precise / citations if citations else 0.0


def _needless(texts: Sequence[str], place: int, sentence: str, support: Support) -> bool:
    others = [*texts[:place], *texts[place + 1 :]]
    return bool(others) and not support([texts[place]], sentence) and support(others, sentence)
