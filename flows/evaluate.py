"""Summarize the test split with every system, score the summaries, and write the report (Liu & Lapata 2019, sec. 5)."""

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from flows.stages.intake import check_splits


@notifying_flow("evaluate", "evaluate-{config.name}")
def evaluate(config: BuildConfig = DEFAULT) -> str:
    """Decode, score and publish the report, building missing stages first; return score table and path."""
    return walk_flow(config, published)


def published(session: Session) -> str:
    """Write the report and publish its parts as artifacts; return its summary and path as text."""
    check_splits(session.run.store, dag.articles(session))
    report = dag.report(session)
    if session.run.planning:
        return ""
    session.keep_results(report.record)
    session.track(report)
    return session.publish_report(report)
