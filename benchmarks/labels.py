"""Time of labels and clones on one article of the mean size, against rouge-score, and the cost of a full corpus.

    python -m benchmarks.labels [--rounds N]

525 paragraphs of 70 words against a lead of 139 (Liu & Lapata 2019, sec. 4). Compared with rouge-score 0.1.2, which
computes only the labels.
Labels and clones are timed as the stages run them: each splits the texts into words itself. Rounds of rouge-score and
our code alternate, and the fastest of each counts. The exit status is 1 if the bar is missed or the labels differ."""

import pyarrow as pa
from rouge_score import rouge_scorer

from benchmarks.frame import command, fastest
from benchmarks.synthetic import SyntheticCorpus
from flows.running.estimates import CORPUS_ARTICLES
from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.paragraphs.paragraphs import LeadClones
from tasks.paragraphs.settings import CloneSettings
from tasks.ranking.features import compute_features, rouge2_recalls
from tasks.text.ngrams import split_words

PARAGRAPH_COUNT, PARAGRAPH_WORDS, LEAD_WORDS = 525, 70, 139
BAR = 1 / 8


def peer_labels(lead: str, paragraphs: list[str]) -> list[float]:
    """Return the labels by rouge-score."""
    scorer = rouge_scorer.RougeScorer(["rouge2"])
    return [scorer.score(lead, paragraph)["rouge2"].recall for paragraph in paragraphs]


def own_labels(lead: str, paragraphs: list[str]) -> list[float]:
    """Return the labels as the features stage computes them."""
    labels: list[float] = rouge2_recalls(split_words(lead), map(split_words, paragraphs)).tolist()
    return labels


def own_clones(lead: str, paragraphs: list[str]) -> list[str | None]:
    """Return the reasons as the paragraphs stage computes them."""
    clones = LeadClones(lead, CloneSettings())
    return [clones.reason(split_words(paragraph)) for paragraph in paragraphs]


def article_tables(title: str, lead: str, paragraphs: list[str]) -> tuple[pa.Table, pa.Table]:
    """Return one article and its kept paragraphs as the features stage reads them."""
    articles = [{"article_id": "a", "title": title, "lead": lead}]
    rows = [{"article_id": "a", "paragraph_id": index, "text": text} for index, text in enumerate(paragraphs)]
    return pa.Table.from_pylist(articles, ARTICLES.schema), pa.Table.from_pylist(rows, PARAGRAPHS.schema)


def main(rounds: int = 15) -> int:
    """Print times and ratio; return the exit status."""
    corpus = SyntheticCorpus()
    topic = corpus.topic()
    paragraphs = corpus.texts(PARAGRAPH_COUNT, PARAGRAPH_WORDS, topic)
    lead, title = corpus.texts(1, LEAD_WORDS, topic)[0], corpus.texts(1, 3, topic)[0]
    article, rows = article_tables(title, lead, paragraphs)
    same = own_labels(lead, paragraphs) == peer_labels(lead, paragraphs)
    times = fastest(
        {
            "rouge-score, labels alone": lambda: peer_labels(lead, paragraphs),
            "labels": lambda: own_labels(lead, paragraphs),
            "clones": lambda: own_clones(lead, paragraphs),
            "features stage: labels + tf-idf": lambda: list(compute_features(article, rows)),
        },
        rounds,
    )
    for name, seconds in times.items():
        print(f"{name:34}{seconds * 1000:8.2f} ms")
    ratio = (times["labels"] + times["clones"]) / times["rouge-score, labels alone"]
    print(f"labels + clones / rouge-score     {ratio:8.3f} = 1/{1 / ratio:.1f}   bar 1/{1 / BAR:.0f}")
    print(f"labels equal rouge-score's        {same!s:>8}")
    article_seconds = times["clones"] + times["features stage: labels + tf-idf"]
    core_hours = CORPUS_ARTICLES * article_seconds / 3600
    print(f"clones + labels + tf-idf          {1 / article_seconds:8.1f} articles per second on one core")
    print(f"{CORPUS_ARTICLES:,} articles                {core_hours:8.1f} core-hours")
    return 0 if ratio <= BAR and same else 1


if __name__ == "__main__":
    command(main, __doc__)
