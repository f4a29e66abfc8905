"""The whole DAG in the order of the work: each stage with the stages that it reads.

A stage is walked on first access, after the stages that it reads: finished shards are found by their keys, the others
are computed. So accessing the ranker trains no summarizer, and accessing the report builds everything. Retraining
assigns stages of its own before their first access.
"""

from collections.abc import Callable, Mapping
from functools import cached_property as choice  # made on first access: which of some stages is meant, or none
from functools import partial
from typing import Any, TypeVar

from flows.running.session import Session
from flows.stages import across, archives, crawling, evaluation, imported, intake, ranking, reporting, texts, training
from flows.stages import examples as encoding
from tasks.engine.inputs import DirectoryResult, Input, StageResult

T = TypeVar("T")


class Stage(choice[T]):
    """The result of `function`, which gets the session and the results of the stages that it reads."""

    def __init__(self, function: Callable[..., T], *reads: choice[Any]) -> None:
        # By name, so that a stage of a subclass, or one assigned by retraining, is read in place of the one given here.
        super().__init__(lambda dag: function(dag.session, *(getattr(dag, str(stage.attrname)) for stage in reads)))


class Dag:
    """The stages of a build with its own corpus."""

    ranks = True  # whether the build ranks the paragraphs itself
    can_have_graphs = choice(lambda dag: True)  # of the training articles

    def __init__(self, session: Session) -> None:
        self.session = session
        self.config = session.config

    # The articles, and the documents that their source contains; retraining names articles to keep out.
    kept_out: choice[Mapping[str, Input]] = choice(lambda dag: {})
    articles = Stage(intake.articles, kept_out)
    given = Stage(intake.given_documents)
    # The pages that articles cite and searches find, fetched host by host.
    search = Stage(crawling.search, articles)
    frontier = Stage(crawling.frontier, articles, search)
    captures = Stage(archives.captures)
    indexed = Stage(archives.indexed_captures, frontier)
    pages = Stage(crawling.pages, frontier, captures, indexed)
    # Their paragraphs with labels, without what articles share where the settings say so, and the vocabulary.
    documents = Stage(texts.documents, frontier, pages)
    paragraphs = Stage(texts.paragraphs, articles, documents, given)
    overlaps = Stage(across.overlaps, articles, paragraphs)
    compared = Stage(across.compared, paragraphs, overlaps)
    features = Stage(texts.features, articles, compared)
    vocabulary = Stage(texts.vocabulary, articles, compared)
    corpus = choice(lambda dag: texts.Corpus(dag.articles, dag.compared, dag.features, dag.vocabulary))
    # The best paragraphs of each article in order, their graphs and token ids.
    ranker: choice[DirectoryResult | None] = Stage(ranking.ranker, corpus)
    ranked = Stage(ranking.ranked, corpus, ranker)
    ranking_scores = Stage(ranking.scores, corpus, ranker, ranked)
    graphs: choice[StageResult] = Stage(encoding.graphs, ranked)
    examples = Stage(encoding.examples, articles, ranked, vocabulary)
    sentence_examples = Stage(encoding.marked, articles, ranked, vocabulary)
    # The summarizer, its attention predictor, and what they read: examples, and the graphs if the summarizer reads one.
    examples_read = choice(lambda dag: dag.sentence_examples if dag.config.summarizer.sees_sentences else dag.examples)
    graphs_read = choice(lambda dag: dag.graphs if dag.config.summarizer.graph != "none" else None)
    summarizer = Stage(training.summarizer, graphs_read, examples_read, vocabulary)
    predictor = Stage(training.attention, graphs_read, examples_read, summarizer)
    predictor_read = choice(lambda dag: dag.predictor if dag.config.decoding.guidance.reads_predictor else None)
    # Summaries of the test articles, their scores, and the report.
    baselines = Stage(evaluation.baselines, articles, ranked)
    baseline_scores = Stage(partial(evaluation.scores, name="baseline_scores"), corpus, ranked, baselines)
    predictions = Stage(evaluation.predictions, graphs_read, examples_read, ranked, summarizer, predictor_read)
    scores = Stage(evaluation.scores, corpus, ranked, predictions)
    report = Stage(
        reporting.report,
        corpus,
        overlaps,
        ranker,
        ranked,
        ranking_scores,
        graphs,
        summarizer,
        baselines,
        baseline_scores,
        predictions,
        scores,
    )


class ImportedDag(Dag):
    """The stages of a build on imported ranked shards: paragraphs keep the order they were imported in."""

    ranks = False
    ranker = choice(lambda dag: None)
    shards = Stage(imported.shards)
    articles = choice(lambda dag: dag.shards.articles)
    can_have_graphs = Stage(imported.can_have_graphs, shards)
    paragraphs = Stage(imported.paragraphs, shards)
    vocabulary = choice(lambda dag: dag.shards.vocabulary)
    graphs = choice(lambda dag: imported.graphs(dag.session, dag.shards) or encoding.graphs(dag.session, dag.ranked))
    examples = choice(lambda dag: dag.shards.examples)


def dag_of(session: Session) -> Dag:
    """Return the session's DAG: here it is decided whether the corpus is the build's own or imported."""
    return session.once(Dag if session.config.imported is None else ImportedDag)
