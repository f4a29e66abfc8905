"""The whole DAG in the order of the work: a stage, or a choice between stages, with the stages that it reads.

A stage is walked on first access, after the stages that it reads: finished shards are found by their keys, the others
are computed. So accessing the ranker trains no summarizer, and accessing the report builds everything. Retraining
assigns stages of its own before their first access.
"""

from collections.abc import Mapping
from functools import cached_property as stage  # walked once, on first access

from flows.running.session import Session
from flows.stages import archives, crawling, evaluation, examples, imported, intake, ranking, reporting, texts, training
from flows.stages.across import compared, overlaps
from tasks.engine.inputs import DirectoryResult, Input, StageResult


class Dag:
    """The stages of a build with its own corpus."""

    ranks = True  # whether the build ranks the paragraphs itself
    can_have_graphs = stage(lambda dag: True)  # of the training articles

    def __init__(self, session: Session) -> None:
        self.session = session
        self.config = session.config

    def scores_of(self, predictions: StageResult, name: str) -> StageResult:
        """Score summaries of the test articles."""
        return evaluation.scores(self.session, self.corpus, self.ranked, predictions, name, self.config.miniweb)

    # The articles, and the documents that their source contains; retraining names articles to keep out.
    kept_out: stage[Mapping[str, Input]] = stage(lambda dag: {})
    articles = stage(lambda dag: intake.articles(dag.session, dag.kept_out))
    given = stage(lambda dag: intake.given_documents(dag.session))
    # The pages that articles cite and searches find, fetched host by host.
    search = stage(lambda dag: crawling.search(dag.session, dag.articles))
    frontier = stage(lambda dag: crawling.frontier(dag.session, dag.articles, dag.search))
    captures = stage(lambda dag: archives.captures(dag.session))
    indexed = stage(lambda dag: archives.indexed_captures(dag.session, dag.frontier))
    pages = stage(lambda dag: crawling.pages(dag.session, dag.frontier, dag.captures, dag.indexed))
    # Their paragraphs with labels, and the vocabulary.
    documents = stage(lambda dag: texts.documents(dag.session, dag.frontier, dag.pages))
    paragraphs = stage(lambda dag: texts.paragraphs(dag.session, dag.articles, dag.documents, dag.given))
    # What articles share, where the settings ask for it, and the paragraphs without it.
    overlaps = stage(lambda dag: overlaps(dag.session, dag.articles, dag.paragraphs))
    compared = stage(lambda dag: compared(dag.session, dag.paragraphs, dag.overlaps))
    features = stage(lambda dag: texts.features(dag.session, dag.articles, dag.compared))
    vocabulary = stage(lambda dag: texts.vocabulary(dag.session, dag.articles, dag.compared))
    corpus = stage(lambda dag: texts.Corpus(dag.articles, dag.compared, dag.features, dag.vocabulary))
    # The best paragraphs of each article in order, their graphs and token ids.
    ranker: stage[DirectoryResult | None] = stage(lambda dag: ranking.ranker(dag.session, dag.corpus))
    ranked = stage(lambda dag: ranking.ranked(dag.session, dag.corpus, dag.ranker))
    ranking_scores = stage(lambda dag: ranking.scores(dag.session, dag.corpus, dag.ranker, dag.ranked))
    graphs = stage(lambda dag: examples.graphs(dag.session, dag.ranked))
    examples = stage(lambda dag: examples.examples(dag.session, dag.articles, dag.ranked, dag.vocabulary))
    sentence_examples = stage(lambda dag: examples.marked(dag.session, dag.articles, dag.ranked, dag.vocabulary))
    # The summarizer, its attention predictor, and what they read: examples, and the graphs if the summarizer reads one.
    examples_read = stage(lambda dag: dag.sentence_examples if dag.config.summarizer.sees_sentences else dag.examples)
    graphs_read = stage(lambda dag: dag.graphs if dag.config.summarizer.graph != "none" else None)
    summarizer = stage(lambda dag: training.summarizer(dag.session, dag.graphs_read, dag.examples_read, dag.vocabulary))
    predictor = stage(lambda dag: training.attention(dag.session, dag.graphs_read, dag.examples_read, dag.summarizer))
    # Summaries of the test articles, their scores, and the report.
    baselines = stage(lambda dag: evaluation.baselines(dag.session, dag.articles, dag.ranked))
    baseline_scores = stage(lambda dag: dag.scores_of(dag.baselines, "baseline_scores"))
    predictor_read = stage(lambda dag: dag.predictor if dag.config.decoding.guidance.reads_predictor else None)
    predictions = stage(
        lambda dag: evaluation.predictions(
            dag.session, dag.graphs_read, dag.examples_read, dag.ranked, dag.summarizer, dag.predictor_read
        )
    )
    scores = stage(lambda dag: dag.scores_of(dag.predictions, "scores"))
    report = stage(
        lambda dag: reporting.report(
            dag.session, dag.corpus, dag.overlaps, dag.ranker, dag.ranked, dag.ranking_scores, dag.graphs,
            dag.summarizer, dag.baselines, dag.baseline_scores, dag.predictions, dag.scores,
        )
    )  # fmt: skip


class ImportedDag(Dag):
    """The stages of a build on imported ranked shards: paragraphs keep the order they were imported in."""

    ranks = False
    ranker = stage(lambda dag: None)
    shards = stage(lambda dag: imported.shards(dag.session))
    articles = stage(lambda dag: dag.shards.articles)
    can_have_graphs = stage(lambda dag: imported.can_have_graphs(dag.session, dag.shards))
    paragraphs = stage(lambda dag: imported.paragraphs(dag.session, dag.shards))
    vocabulary = stage(lambda dag: dag.shards.vocabulary)
    graphs = stage(lambda dag: imported.graphs(dag.session, dag.shards) or examples.graphs(dag.session, dag.ranked))
    examples = stage(lambda dag: dag.shards.examples)


def dag_of(session: Session) -> Dag:
    """Return the session's DAG: here it is decided whether the corpus is the build's own or imported."""
    return session.once(Dag if session.config.imported is None else ImportedDag)
