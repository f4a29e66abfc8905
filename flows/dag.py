"""The whole DAG in the order of the work: plain functions, each of which calls what it reads.

Each runs once a session, when it is first called: finished shards are found by their keys, the others are computed. The
flows of a run share what is done. Every stage has its own result type, so mypy refuses a wrong one."""

from functools import partial

from flows.running.session import Session, once, once_a_build
from flows.stages import crawling, evaluation, intake, ranking, reporting, results, texts, training
from models.tokenization.contract import FORMS, TextForm


@once_a_build
def ranked_shards(session: Session) -> intake.RankedShards | None:
    """Import ranked shards as the corpus; None for your own corpus."""
    return None if session.config.imported is None else intake.ranked_shards(session)


@once_a_build
def articles(session: Session) -> results.Articles:
    """Read the articles of the source."""
    shards = ranked_shards(session)
    return intake.articles(session) if shards is None else shards.articles


def find_paragraphs(session: Session, articles: results.Articles) -> texts.CandidateParagraphs:
    """Find the paragraphs of articles: on pages, fetched host by host, and in the documents of their source."""
    search = crawling.search(session, articles)
    frontier = crawling.frontier(session, articles, search)
    captures = crawling.captures(session)
    indexed = crawling.indexed_captures(session, frontier)
    pages = crawling.pages(session, frontier, captures, indexed)
    documents = texts.documents(session, frontier, pages)
    given = intake.given_documents(session)
    paragraphs = texts.paragraphs(session, articles, documents, given)
    overlaps = texts.overlaps(session, articles, paragraphs)
    return texts.CandidateParagraphs(texts.compared(session, paragraphs, overlaps), overlaps)


@once_a_build
def candidates(session: Session) -> texts.CandidateParagraphs:
    """Find the paragraphs of all articles; those of imported shards keep their order."""
    shards = ranked_shards(session)
    if shards is None:
        return find_paragraphs(session, articles(session))
    return texts.CandidateParagraphs(intake.imported_paragraphs(session, shards))


@once_a_build
def features(session: Session) -> results.Features:
    """Label the paragraphs."""
    return texts.features(session, articles(session), candidates(session).compared)


@once
def vocabulary(session: Session) -> results.VocabularyTable:
    """Estimate the vocabulary."""
    if (shards := ranked_shards(session)) is not None:
        return shards.vocabulary
    return texts.vocabulary(session, articles(session), candidates(session).compared)


@once
def corpus(session: Session) -> texts.CorpusStages:
    """Build the corpus."""
    return texts.CorpusStages(articles(session), candidates(session).compared, features(session), vocabulary(session))


@once_a_build
def ranker(session: Session) -> results.RankerModel | None:
    """Train the ranker; None if it does not order the paragraphs."""
    return ranking.ranker(session, corpus(session)) if session.config.order == "ranking" else None


@once_a_build
def ranked(session: Session) -> results.Ranked:
    """Keep the best paragraphs of each article in order."""
    return ranking.ranked(session, corpus(session), ranker(session))


@once
def ranking_scores(session: Session) -> results.RankingScores:
    """Score the order of the paragraphs."""
    return ranking.scores(session, corpus(session), ranked(session))


@once_a_build
def graphs(session: Session) -> results.Graphs:
    """Compute the graphs of the ranked paragraphs, unless they were imported."""
    shards = ranked_shards(session)
    return (shards and intake.imported_graphs(session, shards)) or training.graphs(session, ranked(session))


def examples(session: Session, form: TextForm = "plain") -> results.Examples:
    """Turn the ranked paragraphs into token ids, of texts in the form that a summarizer reads."""
    return session.once(_EXAMPLES[form])


def _examples(session: Session, form: TextForm) -> results.Examples:
    if form == "plain" and (shards := ranked_shards(session)) is not None:
        return shards.examples
    return training.examples(session, articles(session), ranked(session), vocabulary(session), form=form)


_EXAMPLES = {form: partial(_examples, form=form) for form in FORMS}


def examples_read(session: Session) -> results.Examples:
    """Return the examples that the summarizer reads."""
    return examples(session, session.config.summarizer.form)


def read(session: Session) -> training.Read:
    """Return all that the summarizer reads."""
    graph = graphs(session) if session.config.summarizer.graph != "none" else None
    return training.Read(graph, examples_read(session), vocabulary(session))


@once
def extractor(session: Session) -> results.ExtractorModel | None:
    """Train the summarizer's encoder to extract; None if it begins to write at once."""
    return training.extractor(session, training.Read(None, examples_read(session), vocabulary(session)))


@once
def summarizer(session: Session) -> results.SummarizerModel:
    """Train the summarizer."""
    return training.summarizer(session, read(session), extractor=extractor(session))


@once
def predictor(session: Session) -> results.PredictorModel | None:
    """Train the predictor of the summarizer's attention; None if decoding reads none."""
    if not session.config.decoding.guidance.reads_predictor:
        return None
    return training.attention(session, read(session), summarizer(session))


@once
def baselines(session: Session) -> results.Baselines:
    """Summarize the test articles with systems without training."""
    if not evaluation.extracts(session):
        return evaluation.baselines(session, articles(session), ranked(session))
    return evaluation.baselines(session, articles(session), ranked(session), examples_read(session), extractor(session))


@once
def baseline_scores(session: Session) -> results.BaselineScores:
    """Score the summaries of systems without training."""
    return evaluation.baseline_scores(session, corpus(session), ranked(session), baselines(session))


@once
def predictions(session: Session) -> results.Predictions:
    """Summarize the test articles with the summarizer."""
    return evaluation.predictions(session, read(session), ranked(session), summarizer(session), predictor(session))


@once
def scores(session: Session) -> results.Scores:
    """Score the summarizer's summaries."""
    return evaluation.scores(session, corpus(session), ranked(session), predictions(session))


@once
def report(session: Session) -> results.Report:
    """Write the report, after everything else."""
    further = [(predictions(item), scores(item)) for item in session.further()]
    return reporting.report(
        session,
        corpus(session),
        candidates(session).overlaps,
        ranker(session),
        ranked(session),
        ranking_scores(session),
        graphs(session),
        summarizer(session),
        baselines(session),
        baseline_scores(session),
        predictions(session),
        scores(session),
        further,
        evaluation.written(session, corpus(session), ranked(session)),
    )
