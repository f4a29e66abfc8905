"""The whole DAG: articles -> pages -> paragraphs -> labels -> ranker -> graphs -> summarizer -> scores -> report."""

import sys

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.evaluate import evaluate, published, report
from flows.running.command_line import main
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.corpus import corpus
from flows.stages.intake import check_splits
from flows.train import train_ranker, train_summarizer
from tasks.reporting.publishing import record_build


@flow(
    name="build-wikisum",
    flow_run_name="build-{config.preset}-seed{config.seed}",
    on_failure=[notify],
    on_crashed=[notify],
)
def build_wikisum(config: BuildConfig = DEFAULT) -> str:
    """Build the corpus, train ranker and summarizer, decode, score and report; finished shards are skipped.

    Returns:
        The score table and the path of the report, as text.
    """
    return walk_flow(config, build)


def build(session: Session) -> str:
    """Walk everything and name the build."""
    config = session.config
    session.once(check_splits)
    session.once(corpus)
    if session.run.planning:
        session.once(report)
        return ""
    if config.imported is None:  # else paragraphs came ranked
        train_ranker(config)
    train_summarizer(config)
    evaluate(config)
    record_build(session.run, config.manifest(), session.once(report).record)
    return session.once(published)


if __name__ == "__main__":
    sys.exit(main("python -m flows.build_wikisum", build_wikisum, build))
