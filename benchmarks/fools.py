"""What summaries that summarize nothing score, and systems that do.

    python -m benchmarks.fools ROOT [--count N]

ROOT has a build or a corpus, such as the demo's. Seven fools write without reading: nothing, one sentence, one sentence
eight times, a list of values, the longest paragraph, the lead of another article under this title, and the title thirty
times. The status is 1 where one of them ranks above `concepts` in values F1."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import fmean

import pyarrow.compute as pc

import wikisum
from benchmarks.frame import command
from models.extractive import first_words
from models.sentences import split_sentences
from models.values import ValueIndex, find_values
from models.words import written_words
from tasks.engine.grouping import join_by_article
from tasks.evaluation.citations import written
from tasks.evaluation.metrics import METRICS, ArticleTexts, Summary
from tasks.evaluation.scoring import prepare
from tasks.extractive.choosing import choose
from tasks.extractive.pile import PilePassage
from tasks.sources.settings import MiniwebSettings

SHOWN = (
    "facts-sentences",
    "values",
    "values-right",
    "said",
    "copied",
    "supported",
    "citation-recall",
    "rouge1",
    "rouge2",
    "repeated-trigrams",
)
DECIDES = "values"
FOOLS = ("nothing", "one sentence", "eight times", "list of values", "longest paragraph", "another lead", "title")
_TIMES, _TITLES, _VALUES = 8, 30, 25


def main(root: str, count: int = 60) -> int:
    """Print the table; status 1 where a fool ranks above `concepts`."""
    articles = list(islice(articles_of(root), count))
    if len(articles) < 2:
        raise SystemExit(f"{root} has {len(articles)} articles with paragraphs: expected two or more")
    means = measured(articles)
    print(f"{len(articles)} articles".ljust(18) + "".join(f"{METRICS[name].label[:17]:>18}" for name in SHOWN))
    for system, figures in means.items():
        print(f"{system:18}" + "".join(f"{100 * figures[name]:18.1f}" for name in SHOWN))
    return int(any(means[fool][DECIDES] > means["concepts"][DECIDES] for fool in FOOLS))


def articles_of(root: str) -> Iterator[ArticleTexts]:
    """Yield the articles of a root's latest build that have paragraphs, with the facts of a mini web."""
    corpus = wikisum.open(root)
    source = corpus.build.config["source"]
    known = {name: value for name, value in source["miniweb"].items() if name in MiniwebSettings.model_fields}
    world = MiniwebSettings.model_validate(known) if source["kind"] == "miniweb" else None
    articles, paragraphs = (
        table.filter(pc.is_null(table["drop_reason"])).sort_by("article_id")
        for table in map(corpus.table, ("articles", "paragraphs"))
    )
    for _, article, rows in join_by_article(articles, paragraphs):
        texts = rows["text"].to_pylist()
        if texts:
            yield ArticleTexts(article["title"][0].as_py(), article["lead"][0].as_py(), texts, texts, world=world)


def measured(articles: Sequence[ArticleTexts]) -> dict[str, dict[str, float]]:
    """Return by system the mean of each shown metric over articles; where it is not defined for a summary, it is 0."""
    scores: dict[str, list[Mapping[str, float]]] = {}
    for number, article in enumerate(articles):
        scorer = prepare(article, SHOWN)
        for system, text in summaries(article, articles[number - 1]):
            result = scorer(Summary(text))
            scores.setdefault(system, []).append({name: score.value for name, score in result.items()})
    return {
        system: {name: fmean(item.get(name, 0.0) for item in every) for name in SHOWN}
        for system, every in scores.items()
    }


def summaries(article: ArticleTexts, other: ArticleTexts) -> Iterator[tuple[str, str]]:
    """Yield the systems and what they write of an article."""
    length = len(written_words(article.lead))
    passages = [PilePassage(text, str(number)) for number, text in enumerate(article.ranked)]
    yield "reference", " ".join(article.lead.split())
    yield "concepts", " ".join(item.text for item in choose(article.title, passages, length))
    yield "lead", first_words([article.title, *article.ranked], length)
    sentence = split_sentences(article.ranked[0])[0]
    yield "nothing", ""
    yield "one sentence", sentence
    yield "eight times", " ".join([sentence] * _TIMES)
    yield "list of values", values_of(article)
    yield "longest paragraph", max(article.ranked, key=len)
    yield "another lead", " ".join(other.lead.split()).replace(other.title, article.title)
    yield "title", " ".join([article.title] * _TITLES)


def values_of(article: ArticleTexts) -> str:
    """Return the values that the paragraphs of an article mention most often, with commas between."""
    context = ValueIndex(article.ranked)
    counts: dict[str, int] = {}
    for text in article.ranked:
        for value in find_values(text, context):
            shown = written(value, text)
            counts[shown] = counts.get(shown, 0) + 1
    return ", ".join(sorted(counts, key=lambda value: -counts[value])[:_VALUES]) + "."


if __name__ == "__main__":
    command(main, __doc__)
