"""Extractive systems on real prose, by every measure: concepts, Lead, LexRank and the bound.

    python -m benchmarks.extractors ROOT [--papers scisummnet_mds.jsonl.gz] [--leads freshwiki_lead.jsonl.gz] [--write]

ROOT is a corpus of sections of articles and the pages they cite, such as wikigraph, whose topics of one article have
one `group`. The weights of `concepts` are learned on the topics of all other articles, each article left out in turn.
So are its rules: each article gets those of `GRID` that are best on the topics of the others. The worth of sentences
then comes from weights that left out their own article, but not this one. Nothing is learned on papers or on leads of
FreshWiki, whose sources are the sections of their own article: they measure the shipped weights. FreshWiki's sections
have lost the marks between sentences; they are put back where a word has a capital that mostly begins sentences.

Every system reads the same 40 paragraphs best by title; `concepts` also 200, as the page of summaries does. Intervals
are of the differences of topics, .95; those of articles follow below them. `greedy with the lead` chooses with the
lead's own concepts in hand: what a choice of whole sentences could reach. `--write` learns from all topics and writes
the weights that ship."""

import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from benchmarks.frame import command
from benchmarks.latest import latest_shards
from benchmarks.scisummnet import records
from models.extractive import best_first, first_words, lexrank_scores
from models.sentences import split_sentences
from models.values import OPENERS
from tasks.engine.grouping import join_by_article
from tasks.evaluation.metrics import ArticleTexts, Summary
from tasks.evaluation.rouge import Reference
from tasks.evaluation.significance import SIGNIFICANCE, bootstrap
from tasks.evaluation.value_metrics import prepare
from tasks.extractive import weights
from tasks.extractive.choosing import RULES, Rules, of_pile
from tasks.extractive.pile import Floats, Pile, PilePassage
from tasks.extractive.weights import LabelledPile, Worth, learn, shipped
from tasks.text.ngrams import split_words
from tasks.text.tfidf import TfIdf, tfidf_matrix

FEW, MANY = 40, 200  # paragraphs read
MEASURES = ("values F1", "right", "recalled", "ROUGE-1", "ROUGE-2", "ROUGE-L", "length")
_TRIED = ({}, {"unlikely": 0.2}, {"unlikely": 0.2, "value": 5.0}, {"unlikely": 0.2, "by_length": 0.6})
GRID = [replace(RULES, **each) for each in _TRIED]
WEIGHTS = Path(weights.__file__).with_name("weights.json")
PAPERS = 100
_SEED = 1
_LOST = re.compile(rf"(?<=[a-z0-9%)\"”]) (?=(?:{'|'.join(sorted(map(str.title, OPENERS)))}) )")


@dataclass(frozen=True)
class Topic:
    """A topic with its lead, and its article's name; passages are best first."""

    title: str
    lead: str
    article: str
    passages: Sequence[PilePassage]

    @property
    def length(self) -> int:
        """Words of a summary."""
        return len(self.lead.split())

    def best(self, count: int) -> list[str]:
        """Return the texts of the best passages."""
        return [passage.text for passage in self.passages[:count]]


def by_title(title: str, passages: Sequence[PilePassage]) -> list[PilePassage]:
    """Return passages by tf-idf similarity with the title, best first."""
    similarity = TfIdf([split_words(passage.text, "unicode") for passage in passages]).similarity(
        split_words(title, "unicode")
    )
    return [passages[number] for number in np.argsort(-similarity, kind="stable")]


def topics_of(root: str) -> list[Topic]:
    """Return the topics of a corpus's latest build that have a paragraph."""
    topics = []
    for articles, paragraphs in zip(*(latest_shards(root, stage) for stage in ("articles", "paragraphs")), strict=True):
        kept = articles.filter(pc.is_null(articles["drop_reason"]))
        usable = paragraphs.filter(pc.is_null(paragraphs["drop_reason"])).select(
            ["article_id", "text", "url", "position"]
        )
        for _, rows, result in join_by_article(kept, usable):
            (row,) = rows.select(["title", "lead", "group"]).to_pylist()
            passages = [PilePassage(item["text"], item["url"], item["position"]) for item in result.to_pylist()]
            if passages:
                article = row["group"] or row["title"]
                topics.append(Topic(row["title"], row["lead"], article, by_title(row["title"], passages)))
    return topics


def topics_of_papers(file: Path) -> list[Topic]:
    """Return a sample of the papers of ScisummNet: sentences that cite them and their own sections -> their summary."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        papers = list(records(map(json.loads, lines)))
    topics = []
    for paper in random.Random(_SEED).sample(papers, min(PAPERS, len(papers))):
        passages = [
            PilePassage(text, document["url"], position)
            for document in paper["documents"]
            for position, text in enumerate(document["paragraphs"])
        ]
        topics.append(Topic(paper["title"], paper["lead"], paper["title"], by_title(paper["title"], passages)))
    return topics


def topics_of_leads(file: Path) -> list[Topic]:
    """Return the articles of FreshWiki: the paragraphs of three sentences of each section -> their lead."""
    topics = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for article in map(json.loads, lines):
            title = article["title"].replace("_", " ")
            passages = []
            for section in article["sections"]:
                sentences = split_sentences(_LOST.sub(". ", " ".join(section["text"].split())) + ".")
                for position, start in enumerate(range(0, len(sentences), 3)):
                    text = " ".join(sentences[start : start + 3])
                    passages.append(PilePassage(text, section["title"], position))
            topics.append(Topic(title, article["lead"], title, by_title(title, passages)))
    return topics


class Scorer:
    """Scores the summaries of a topic by every measure."""

    def __init__(self, topic: Topic) -> None:
        self._length = topic.length
        texts = topic.best(FEW)
        self._values = prepare(ArticleTexts(topic.title, topic.lead, texts, texts), ["values"])
        self._rouge = Reference(topic.lead, ("rouge1", "rouge2", "rougeL"))

    def __call__(self, summary: str) -> list[float]:
        """Return the figures of `MEASURES`, in percent."""
        values, rouge = self._values(Summary(summary)), self._rouge.score(summary)
        names = ("values", "values-right", "values-recalled")
        results = [values[name].value if name in values else 0.0 for name in names]
        results += [rouge[name].value for name in ("rouge1", "rouge2", "rougeL")]
        return [100 * each for each in (*results, len(summary.split()) / self._length)]


def lexrank(topic: Topic) -> str:
    """Return the summary of LexRank."""
    texts = topic.best(FEW)
    vectors = tfidf_matrix(texts, "unicode")
    order = best_first(lexrank_scores((vectors @ vectors.T).toarray()).round(12))
    return first_words((texts[number] for number in order.tolist()), topic.length)


def lead(topic: Topic) -> str:
    """Return the summary of Lead."""
    return first_words([topic.title, *topic.best(FEW)], topic.length)


def chosen(topic: Topic, pile: Pile, worth: Worth | None, rules: Rules = RULES) -> str:
    """Return the summary of sentences of known worth, or Lead's where there is none."""
    sentences = of_pile(pile, worth, topic.length, rules) if worth is not None else []
    return " ".join(sentence.text for sentence in sentences) or lead(topic)


def bound(topic: Topic, example: LabelledPile) -> dict[str, str]:
    """Return the summary of one who has the lead in hand."""
    worth = Worth([each.astype(float) for each in example.said], example.shares, np.ones(len(example.shares)))
    return {"greedy with the lead": chosen(topic, example.pile, worth)}


def peers(topic: Topic) -> dict[str, str]:
    """Return the summaries of the systems that learn nothing."""
    return {"lead": lead(topic), "lexrank": lexrank(topic)}


def left_out(topics: Sequence[Topic], examples: Sequence[LabelledPile]) -> list[Worth | None]:
    """Return the worth of each topic's sentences by weights that its article was left out of."""
    worths: list[Worth | None] = [None] * len(topics)
    for article in sorted({topic.article for topic in topics}):
        learned = learn([item for topic, item in zip(topics, examples, strict=True) if topic.article != article])
        for number, topic in enumerate(topics):
            if topic.article == article and examples[number].pile.sentences:
                worths[number] = learned.worth(examples[number].pile)
    return worths


def with_best_rules(topics: Sequence[Topic], scores: Floats) -> Floats:
    """Return [T, measures] of scores [rules, T, measures], for each article by the rules best for the others."""
    articles = np.array([topic.article for topic in topics])
    goal = scores[:, :, MEASURES.index("values F1")] + 2 * scores[:, :, MEASURES.index("ROUGE-2")]
    result = np.empty_like(scores[0])
    for article in sorted(set(articles)):
        best = int(goal[:, articles != article].mean(axis=1).argmax())
        result[articles == article] = scores[best][articles == article]
    return result


def show(topics: Sequence[Topic], found: dict[str, Floats], name: str, against: Sequence[str]) -> None:
    """Print the means of all systems, and the differences of one from others."""
    print(f"{'':24}" + "".join(f"{measure:>11}" for measure in MEASURES))
    for system, scores in found.items():
        print(f"{system:24}" + "".join(f"{figure:11.2f}" for figure in scores.mean(axis=0)))
    articles = np.array([topic.article for topic in topics])
    for other in against:
        differences = found[name] - found[other]
        print(f"\n{name} - {other}")
        for measure, interval in zip(MEASURES[:-1], bootstrap(differences, SIGNIFICANCE, _SEED)[:-1], strict=True):
            column = differences[:, MEASURES.index(measure)]
            each = sorted(column[articles == article].mean() for article in set(articles))
            spread = " ".join(f"{item:+.1f}" for item in each) if len(each) <= 12 else f"{len(each)} of one topic"
            ends = f"({interval.low:+.2f} to {interval.high:+.2f})"
            print(f"  {measure:10} {interval.mean:+6.2f} {ends}; articles: {spread}")


def scored(summaries: Sequence[dict[str, str]], scorers: Sequence[Scorer]) -> dict[str, Floats]:
    """Return the scores [T, measures] of each system, from each topic's summaries by system."""
    return {
        name: np.array([score(each[name]) for each, score in zip(summaries, scorers, strict=True)])
        for name in summaries[0]
    }


def main(root: str, papers: Path | None = None, leads: Path | None = None, write: bool = False) -> None:
    """Print the tables; with --write learn from all topics and write the shipped weights."""
    topics = topics_of(root)
    scorers = list(map(Scorer, topics))
    result = scored(list(map(peers, topics)), scorers)
    for count in (FEW, MANY):
        examples = [LabelledPile.of(Pile(topic.title, topic.passages[:count]), topic.lead) for topic in topics]
        worths = left_out(topics, examples)
        scores = [
            [s(chosen(t, e.pile, w, rules)) for t, e, w, s in zip(topics, examples, worths, scorers, strict=True)]
            for rules in GRID
        ]
        result[f"concepts, {count} paragraphs"] = with_best_rules(topics, np.array(scores))
    result |= scored([bound(t, e) for t, e in zip(topics, examples, strict=True)], scorers)
    articles = len({topic.article for topic in topics})
    print(f"{len(topics)} topics of {articles} articles, each article left out", flush=True)
    show(topics, result, f"concepts, {MANY} paragraphs", ("lead", "lexrank"))
    if write:
        WEIGHTS.write_text(learn(examples).to_json(), encoding="utf-8")
        shipped.cache_clear()
    if papers is not None:
        by_shipped(topics_of_papers(papers), "papers")
    if leads is not None:
        by_shipped(topics_of_leads(leads), "leads")


def by_shipped(topics: Sequence[Topic], what: str) -> None:
    """Print the table of topics that taught nothing, by the shipped weights."""
    examples = [LabelledPile.of(Pile(topic.title, topic.passages[:MANY]), topic.lead) for topic in topics]
    summaries = [
        peers(t) | {"concepts": chosen(t, e.pile, shipped().worth(e.pile))} | bound(t, e)
        for t, e in zip(topics, examples, strict=True)
    ]
    print(f"\n{len(topics)} {what}, by the shipped weights")
    show(topics, scored(summaries, list(map(Scorer, topics))), "concepts", ("lead", "lexrank"))


if __name__ == "__main__":
    command(main, __doc__)
