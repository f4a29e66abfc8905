"""Whether a source says the sentences of a summary, and their citations (ALCE, Gao et al. 2023, sec. 4.3).

No system writes citations, so they are chosen (`tasks/evaluation/citations.py`) and judged by a test of support. While
the same verifier chooses and judges, `citation-recall` and `supported` are equal by construction, and a citation lowers
precision only if its sentence is not supported; with a test by entailment they would differ. An empty summary scores 0,
so that silence wins nothing."""

from collections.abc import Callable, Collection, Sequence

from tasks.evaluation.citations import Citer
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Score, Summary, SummaryScorer
from tasks.verification.verifier import Support

# Whether texts, taken together, support a sentence, as a verifier or a model of entailment says; none support nothing.
SupportTest = Callable[[Sequence[str], str], bool]


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Look up the article's paragraphs once for all summaries."""
    citer = Citer(article.title, article.ranked, [article.lead, *article.sources])

    def support(premises: Sequence[str], sentence: str) -> bool:
        return citer.verifier.finding(sentence, premises, article.title).support in {Support.SAID, Support.COMBINED}

    def score(summary: Summary) -> dict[str, Score]:
        cited = citer.cite(summary)
        if not cited:
            return dict.fromkeys(COMPUTED["citation_metrics"], Score(0.0))
        recall, precision = citation_scores([(c.claim, citer.texts(c.ranks)) for c in cited], support)
        verdicts = [sentence.verdict for sentence in cited]
        said, combined = verdicts.count("said"), verdicts.count("combined")
        return {
            "said": Score(said / len(cited)),
            "supported": Score((said + combined) / len(cited)),
            "citation-recall": Score(recall),
            "citation-precision": Score(precision),
        }

    return score


def citation_scores(cited: Sequence[tuple[str, Sequence[str]]], support: SupportTest) -> tuple[float, float]:
    """Return citation recall and citation precision of a summary, 0-1. `cited`: the sentences, each with the texts
    cited for it. Raises ValueError: there is no sentence.

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
