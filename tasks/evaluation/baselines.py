"""Systems without a model on the test split -> predictions: Lead, LexRank and the greedy ROUGE-2 oracle (Liu & Lapata
2019, sec. 4), coverage, which a corpus too small for a summarizer can be summarized with, a filler of templates, and
the ceiling: what could be said at best of the paragraphs read.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from models.extractive import best_first, first_words, greedy_coverage, greedy_oracle, lexrank_scores
from models.sentences import split_sentences
from models.values import Evidence, find_values
from storage.schemas import PREDICTIONS
from tasks.engine.grouping import join_by_article
from tasks.engine.inputs import Shards
from tasks.evaluation.filler import Filler
from tasks.evaluation.settings import BaselineSettings
from tasks.text.content_words import content_words
from tasks.text.ngrams import TargetNgrams, WordRule, split_words
from tasks.text.standalone import defects, is_list
from tasks.text.tfidf import tfidf_matrix

# Of coverage, chosen on the 32 validation articles of wikigraph: 40 paragraphs against 20, .3 against 0 and .5, .7
# against .5, .5 against .3 and .7. A sentence has to be one: some words, a capital, a mark at the end, more than a list
# of names. Each sign that it needs its page halves its worth, so that it is taken only where it adds much: readable at
# the same scores.
_RANK_POWER, _LENGTH_POWER = 0.3, 0.7
_PER_DEFECT = 0.5
_LEAST_WORDS = 6
_FILLERS: dict[Hashable, Filler] = {}  # the last one learned: the jobs of a process read the same training articles
_AROUND = ".;:()’'\"“”"  # a word
_ENDS = (".", "!", "?", '"', "\u201d")


def predict_baselines(
    articles: pa.Table,
    ranked: pa.Table,
    settings: BaselineSettings,
    words: WordRule = "rouge",
    split: str = "test",
    *,
    read: int | None = None,
    training: Shards | None = None,
) -> pa.Table:
    """Summarize every article that has a paragraph with each system of the settings, in their order.

    Args:
        articles: table of the `articles` dataset, sorted by article.
        ranked: table of the `ranked` dataset, sorted by article and rank; for LexRank and the oracle it may also be
            `paragraphs`, so that they see all candidates (refused rows are skipped).
        settings: which systems.
        words: how paragraphs are cut into words for tf-idf.
        split: split whose articles are summarized: train | valid | test.
        read: how many paragraphs of an article filler and ceiling read, as the summarizer does; None = all.
        training: tables of the `articles` and `ranked` datasets of every shard, which the filler learns from.

    Returns:
        Table of the `predictions` dataset; `tokens` and `attention` are empty.
    """
    rows = []
    for article_id, title, target, texts in _articles(articles, ranked, split):
        for system in settings.systems:
            if system == "filler":
                assert training is not None, "the filler needs articles to learn from"
                summary = _filler(training, read).write(title, texts[:read])
            elif system == "ceiling":
                summary = ceiling(title, target, texts[:read])
            else:
                summary = _SYSTEMS[system](title, target, texts, words)
            rows.append(_row(article_id, system, summary))
    return pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)


def _filler(training: Shards, read: int | None) -> Filler:
    key = (training.parts, read)
    if key not in _FILLERS:
        _FILLERS.clear()
        _FILLERS[key] = Filler(
            (title, target, texts[:read])
            for articles, ranked in training
            for _, title, target, texts in _articles(articles, ranked, "train")
        )
    return _FILLERS[key]


def ceiling(title: str, target: str, texts: Sequence[str]) -> str:
    """Return the target without the names, numbers and dates that the title and the texts lack."""
    shown, context = Evidence([title, *texts]), Evidence([title, *texts, target])
    kept = []
    for sentence in split_sentences(target):
        lost = {part for value in find_values(sentence, context) if value not in shown for part in str(value).split()}
        words = ((word, word.casefold().replace(",", "").strip(_AROUND)) for word in sentence.split())
        kept += [word for word, plain in words if plain not in lost]
    return " ".join(kept)


def _articles(articles: pa.Table, ranked: pa.Table, split: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield id, title, target and paragraph texts of each article of the split that has a paragraph."""
    wanted = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], split)))
    if "drop_reason" in ranked.column_names:
        ranked = ranked.filter(pc.is_null(ranked["drop_reason"]))
    for article_id, article, paragraphs in join_by_article(wanted, ranked):
        if paragraphs.num_rows:
            title, target = article["title"][0].as_py(), article["lead"][0].as_py()
            yield article_id, title, target, paragraphs["text"].to_pylist()


def _row(article_id: str, system: str, summary: str) -> dict[str, Any]:
    no_attention: dict[str, Any] = {"tokens": [], "attention": [], "source_attention": []}
    return {"article_id": article_id, "system": system, "summary": summary, **no_attention}


def _lead(title: str, target: str, texts: Sequence[str], rule: WordRule) -> str:
    return first_words([title, *texts], len(target.split()))


def _lexrank(title: str, target: str, texts: Sequence[str], rule: WordRule) -> str:
    vectors = tfidf_matrix(texts, rule)
    similarity = (vectors @ vectors.T).toarray()
    scores = lexrank_scores(similarity)
    # Scores that differ only in the last bits are ties, decided by the rank of the paragraphs.
    order = best_first(scores.round(12)).tolist()
    return first_words((texts[i] for i in order), len(target.split()))


def _coverage(title: str, target: str, texts: Sequence[str], rule: WordRule) -> str:
    length = len(target.split())
    return " ".join(coverage(texts, length)) or _lead(title, target, texts, rule)


def coverage(texts: Sequence[str], length: int) -> list[str]:
    """Return whole sentences that hold as much as possible, in their order; none where no sentence fits.

    A concept is worth more the more paragraphs hold it, and the better they are ranked.

    Args:
        texts: ranked paragraphs, best first.
        length: words of all sentences together, at most.
    """
    sentences: list[list[str]] = []  # as words
    concepts: list[frozenset[str]] = []
    quality: list[float] = []
    weights: defaultdict[str, float] = defaultdict(float)
    for rank, text in enumerate(texts):
        held: set[str] = set()
        for sentence in split_sentences(text):
            words = sentence.split()
            found = content_words(sentence) | _values(words)
            held |= found
            whole = len(words) >= _LEAST_WORDS and sentence[0].isupper() and sentence.endswith(_ENDS)
            if whole and not is_list(sentence):
                sentences.append(words)
                concepts.append(found)
                quality.append(_PER_DEFECT ** defects(sentence))
        for concept in held:
            weights[concept] += (rank + 1) ** -_RANK_POWER
    lengths = list(map(len, sentences))
    chosen = greedy_coverage(concepts, lengths, quality, weights, length, power=_LENGTH_POWER)
    return [" ".join(sentences[index]) for index in sorted(chosen)]


def _values(words: Sequence[str]) -> frozenset[str]:
    """Return a sentence's words with a capital or a digit in front, but for the first, beside the content words."""
    stripped = (word.strip(".,;:()'\"\u201c\u201d") for word in words[1:])
    return frozenset(f"={word.lower()}" for word in stripped if word[:1].isupper() or word[:1].isdigit())


def _greedy_rouge2(title: str, target: str, texts: Sequence[str], rule: WordRule) -> str:
    bigrams = TargetNgrams(split_words(target), 2)
    words = [split_words(text) for text in texts]

    def f1(chosen: Sequence[int]) -> float:
        joined = [word for index in chosen for word in words[index]]
        total = max(len(joined) - 1, 0) + bigrams.total
        return 2 * bigrams.matched(joined) / total if total else 0.0

    useful = [index for index, paragraph in enumerate(words) if bigrams.matched(paragraph)]
    return " ".join(" ".join(texts[index].split()) for index in sorted(greedy_oracle(useful, f1)))


_SYSTEMS: dict[str, Callable[[str, str, Sequence[str], WordRule], str]] = {
    "lead": _lead,
    "lexrank": _lexrank,
    "coverage": _coverage,
    "greedy-rouge2": _greedy_rouge2,
}
