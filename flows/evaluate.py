"""Summarize the test split with every system, score the summaries, and write the report (Liu & Lapata 2019, sec. 5)."""

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.dag import dag_of
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.splits import check_splits


@flow(name="evaluate", flow_run_name="evaluate-{config.name}", on_failure=[notify], on_crashed=[notify])
def evaluate(config: BuildConfig = DEFAULT) -> str:
    """Decode, score, and publish the report, building missing stages first.

    Returns:
        The score table and the path of the report, as text.
    """
    return walk_flow(config, published)


def published(session: Session) -> str:
    """Write the report and publish its parts as artifacts; return its summary and path as text."""
    dag, run = dag_of(session), session.run
    check_splits(run.store, dag.articles)
    report = dag.report
    return "" if run.planning else session.publish_report(report)
