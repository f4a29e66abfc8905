"""A whole build: articles -> pages -> paragraphs -> labels -> ranker -> graphs -> summarizer -> scores -> report."""

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.evaluate import evaluate, published
from flows.running.display import run_within
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from flows.stages.intake import check_splits
from flows.train import train_ranker, train_summarizer


@notifying_flow("build-wikisum", "build-{config.name}-seed{config.seed}")
def build_wikisum(config: BuildConfig = DEFAULT) -> str:
    """Build, train, decode, score and report; finished shards are skipped. Return score table and report path."""
    return walk_flow(config, build)


def build(session: Session) -> str:
    """Walk the DAG of `flows.dag` up to the report, and write the build's manifest."""
    config, run = session.config, session.run
    check_splits(run.store, dag.articles(session))
    if run.planning:
        dag.report(session)
        return ""
    corpus = dag.corpus(session)
    if config.order == "ranking":
        run_within(train_ranker, config, *corpus)
    run_within(train_summarizer, config, *corpus, dag.ranker(session))
    run_within(evaluate, config, *corpus, dag.ranker(session), dag.summarizer(session))
    text = session.once(published)
    session.publish_overview(run.record_build(config.model_dump(mode="json"), dag.report(session).record))
    return text
