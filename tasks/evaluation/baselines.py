"""Systems without a model on the test split -> predictions. Lead, LexRank and the greedy ROUGE-2 oracle are those of
Liu & Lapata 2019, sec. 4. `concepts` summarizes a corpus that is too small for a summarizer, `filler` fills templates,
and `ceiling` is the best possible summary of the input paragraphs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from models.extractive import best_first, first_words, greedy_oracle, lexrank_scores
from models.sentences import split_sentences
from models.values import ValueIndex, find_values
from models.words import written_words
from storage.schemas import PREDICTIONS
from tasks.engine.grouping import join_by_article
from tasks.engine.recipe import Shards
from tasks.evaluation.filler import Filler
from tasks.evaluation.settings import BaselineSettings
from tasks.extractive.choosing import choose
from tasks.extractive.pile import Pile, PilePassage
from tasks.extractive.weights import LabelledPile, Weights, learn, shipped
from tasks.text.ngrams import TargetNgrams, WordRule, rule_for, split_words
from tasks.text.tfidf import tfidf_matrix

# Training articles that a corpus' own weights are learned from, in ten seconds; with fewer the shipped ones are used.
LEARNED_FROM = 200
_AROUND = ".;:()’'\"“”"  # signs around a word


def predict_baselines(
    articles: pa.Table,  # ARTICLES rows, sorted by article
    # RANKED rows, sorted by article and rank; for LexRank and the oracle they may also be of `paragraphs`, so that they
    # see all candidates (refused rows are skipped)
    ranked: pa.Table,
    settings: BaselineSettings,
    words: WordRule = "rouge",  # how paragraphs are cut into words for tf-idf
    *,
    read: int | None = None,  # how many paragraphs filler and ceiling read, as the summarizer does; None = all
    # ARTICLES and RANKED of every shard, which filler and concepts learn from; without, concepts has shipped weights
    training: Shards | None = None,
) -> pa.Table:
    """Return PREDICTIONS rows of every article of the test split that has a paragraph, by each system of the settings,
    in their order; `tokens` and `attention` are empty."""
    rows = []
    for article_id, title, target, passages in passages_by_article(articles, ranked, "test"):
        texts = [passage.text for passage in passages]
        for system in settings.systems:
            length, rule = len(written_words(target)), rule_for(target, words)
            if system == "lead":
                summary = first_words([title, *texts], length)
            elif system == "lexrank":
                summary = first_words(unrepeated(texts[i] for i in _by_lexrank(texts, rule)), length)
            elif system == "concepts":
                chosen = choose(title, passages, length, weights=_weights(training))
                summary = " ".join(item.text for item in chosen) or first_words([title, *texts], length)
            elif system == "greedy-rouge2":
                plain = rule_for(target)  # as it is scored
                best = best_rouge2(split_words(target, plain), [split_words(text, plain) for text in texts])
                summary = " ".join(" ".join(texts[index].split()) for index in best)
            elif system == "ceiling":
                summary = ceiling(title, target, texts[:read])
            elif system == "reference":
                summary = " ".join(target.split())
            else:
                assert system == "filler" and training is not None, "the filler needs articles to learn from"
                summary = _filler(training, read).write(title, texts[:read])
            rows.append(prediction(article_id, system, summary))
    return pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)


# The last one is kept: the jobs of a process read the same training articles.
@lru_cache(maxsize=1)
def _filler(training: Shards, read: int | None) -> Filler:
    return Filler((title, lead, [item.text for item in own[:read]]) for title, lead, own in _learned(training))


@lru_cache(maxsize=1)
def _weights(training: Shards | None) -> Weights:
    """Return the weights learned from the leads of the first training articles, or the shipped ones for too few."""
    if training is None:
        return shipped()
    some = [LabelledPile.of(Pile(title, own), lead) for title, lead, own in islice(_learned(training), LEARNED_FROM)]
    try:
        return learn(some) if len(some) == LEARNED_FROM else shipped()
    except ValueError:  # leads that have all or none of their paragraphs' concepts teach nothing
        return shipped()


def _learned(training: Shards) -> Iterator[tuple[str, str, list[PilePassage]]]:
    """Yield title, lead and paragraphs of each training article."""
    for articles, ranked in training:
        for _, title, lead, passages in passages_by_article(articles, ranked, "train"):
            yield title, lead, passages


def ceiling(title: str, target: str, texts: Sequence[str]) -> str:
    """Return the target without the names, numbers and dates that the title and the texts lack."""
    shown, context = ValueIndex([title, *texts]), ValueIndex([title, *texts, target])
    kept = []
    for sentence in split_sentences(target):
        lost = {part for value in find_values(sentence, context) if value not in shown for part in str(value).split()}
        words = ((word, word.casefold().replace(",", "").strip(_AROUND)) for word in sentence.split())
        kept += [word for word, plain in words if plain not in lost]
    return " ".join(kept)


def passages_by_article(
    articles: pa.Table, ranked: pa.Table, split: str
) -> Iterator[tuple[str, str, str, list[PilePassage]]]:
    """Yield id, title, target and paragraphs of each article of the split that has a paragraph."""
    wanted = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], split)))
    if "drop_reason" in ranked.column_names:
        ranked = ranked.filter(pc.is_null(ranked["drop_reason"]))
    for article_id, article, paragraphs in join_by_article(wanted, ranked):
        if paragraphs.num_rows:
            title, target = article["title"][0].as_py(), article["lead"][0].as_py()
            rows = paragraphs.select(["text", "url", "position"]).to_pylist()
            passages = [PilePassage(row["text"], row["url"] or "", row["position"] or 0) for row in rows]
            yield article_id, title, target, passages


def prediction(article_id: str, system: str, summary: str) -> dict[str, Any]:
    """Return the PREDICTIONS row of a system that has no attention."""
    no_attention: dict[str, Any] = {"tokens": [], "attention": [], "source_attention": []}
    return {"article_id": article_id, "system": system, "summary": summary, **no_attention}


def _by_lexrank(texts: Sequence[str], rule: WordRule) -> list[int]:
    vectors = tfidf_matrix(texts, rule)
    scores = lexrank_scores((vectors @ vectors.T).toarray())
    # Scores that differ only in the last bits are ties, decided by the rank of the paragraphs.
    order: list[int] = best_first(scores.round(12)).tolist()
    return order


def unrepeated(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts without sentences that an earlier one or they themselves have: central paragraphs share them."""
    seen: set[tuple[str, ...]] = set()
    for text in texts:
        sentences = {tuple(sentence.casefold().split()): sentence for sentence in reversed(split_sentences(text))}
        new = [sentence for key, sentence in reversed(sentences.items()) if key not in seen]
        seen.update(sentences)
        if new:
            yield " ".join(new)


def best_rouge2(target: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    """Return which texts together have the highest ROUGE-2 F1 with the target, all given as words, found greedily."""
    bigrams = TargetNgrams(target, 2)

    def f1(chosen: Sequence[int]) -> float:
        joined = [word for index in chosen for word in texts[index]]
        total = max(len(joined) - 1, 0) + bigrams.total
        return 2 * bigrams.matched(joined) / total if total else 0.0

    useful = [index for index, text in enumerate(texts) if bigrams.matched(text)]
    return sorted(greedy_oracle(useful, f1))
