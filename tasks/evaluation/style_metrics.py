"""The style of a summary: how much of it is copied or repeated, and its length. Coverage, density and compression are
those of Grusky et al. 2018 (Newsroom, sec. 4): a summary is cut greedily into the longest fragments that occur in its
sources."""

from collections.abc import Collection, Sequence

from models.sentences import first_sentence
from tasks.evaluation.metrics import ArticleTexts, Score, Summary, SummaryScorer
from tasks.text.content_words import names_subject
from tasks.text.ngrams import ngrams, split_words


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Cut the article's texts into words once for all summaries."""
    lead = split_words(article.lead, "unicode")
    inputs: dict[int | None, list[str]] = {}

    def score(summary: Summary) -> dict[str, Score]:
        if summary.read not in inputs:
            texts_read = [article.title, *article.ranked[: summary.read]]
            inputs[summary.read] = [word for text in texts_read for word in split_words(text, "unicode")]
        source, words = inputs[summary.read], split_words(summary.text, "unicode")
        if not words:
            return {"subject-named": Score(0.0)} | ({"length": Score(0.0)} if lead else {})
        fragments = extractive_fragments(source, words)
        scores = {
            "subject-named": Score(float(names_subject(first_sentence(summary.text), article.title))),
            "coverage": Score(sum(fragments) / len(words)),
            "density": Score(sum(length**2 for length in fragments) / len(words)),
            "compression": Score(len(source) / len(words)),
        }
        bigrams, source_bigrams = list(ngrams(words, 2)), set(ngrams(source, 2))
        if bigrams:
            scores["novel-bigrams"] = Score(sum(bigram not in source_bigrams for bigram in bigrams) / len(bigrams))
        trigrams = list(ngrams(words, 3))
        if trigrams:
            scores["repeated-trigrams"] = Score(1 - len(set(trigrams)) / len(trigrams))
        if lead:
            scores["length"] = Score(len(words) / len(lead))
        return scores

    return score


def extractive_fragments(source: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths of the fragments shared with the source, found greedily from left to right, in words."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(source):
        positions.setdefault(word, []).append(position)
    fragments, start = [], 0
    while start < len(summary):
        longest = 0
        for position in positions.get(summary[start], ()):
            length = 1
            while (
                start + length < len(summary)
                and position + length < len(source)
                and summary[start + length] == source[position + length]
            ):
                length += 1
            longest = max(longest, length)
        if longest:
            fragments.append(longest)
        start += max(longest, 1)
    return fragments
