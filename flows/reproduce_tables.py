"""The papers' tables: train and evaluate every system under one trainer, one search and one evaluator (000-002)."""

import sys

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.evaluate import baseline
from flows.running.command_line import main
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.corpus import corpus
from flows.stages.intake import check_splits
from flows.stages.ranking import ranked
from flows.stages.systems import chosen, systems
from tasks.engine.inputs import DirectoryResult, contents, every
from tasks.reporting.publishing import publish_report, record_build
from tasks.tables.efficiency import measure_efficiency
from tasks.tables.plan import EFFICIENCY_TOKENS, shown_in, steps_of
from tasks.tables.systems import MOST_PARAGRAPHS
from tasks.tables.tables import PAGE, write_tables


@flow(
    name="reproduce-tables",
    flow_run_name="tables-{config.preset}-seed{config.seed}",
    on_failure=[notify],
    on_crashed=[notify],
)
def reproduce_tables(config: BuildConfig = DEFAULT) -> str:
    """Train and evaluate what is missing of the systems asked for, and publish the tables.

    Returns:
        The tables and the path of their page, as text.
    """
    return walk_flow(config, publish)


def publish(session: Session) -> str:
    """Walk everything and publish the tables; return their text. Pruning spares what a manifest names."""
    session.once(check_splits)
    made = session.once(tables)
    if session.run.planning:
        return ""
    text = publish_report(session.run.store, made, PAGE)
    record_build(session.run, session.config.manifest(), made.record, latest=False)
    return text


def tables(session: Session) -> DirectoryResult:
    """Make the tables."""
    config, made = session.config, session.once(ranked)
    built, (baselines, baseline_scores) = session.once(corpus), session.once(baseline)
    _, reasons = session.once(chosen)
    evaluated = session.once(systems)
    looked_at = [evaluated[name].summaries for name in shown_in(config.tables, "attention") if name in evaluated]
    models = {name: one.model.record for name, one in evaluated.items()}
    timed = {name: one.record.metrics for name, one in session.once(timings).items() if one.record}
    return session.run.directory(
        "tables",
        write_tables,
        version=2,
        inputs={
            "scores": every(made.ranking_scores, baseline_scores, *[one.scores for one in evaluated.values()]),
            "attention": every(built.articles, made.ranked, baselines, *looked_at),
        },
        settings=config.tables,
        arguments={
            "reporting": config.report,
            "parameters": {name: record.metrics["parameters"] for name, record in models.items() if record},
            "validation": {name: [told["seconds"], told["articles"]] for name, told in timed.items()},
            "batches": {name: [told["batch"], told["way"]] for name, told in timed.items()},
            "reasons": reasons,
            "steps": steps_of(config.tables, config.training),
            "seed": config.seed,
        },
    )


def timings(session: Session) -> dict[str, DirectoryResult]:
    """Measure the systems of the efficiency tables, one after another so that none slows another."""
    config, evaluated, examples = session.config, session.once(systems), session.once(ranked).examples
    return {
        name: session.run.directory(
            f"efficiency/{name}",
            measure_efficiency,
            version=2,
            inputs={"shards": every(examples), "summarizer": contents(evaluated[name].model)},
            arguments={
                "articles": config.training.validation_articles,
                "batch_tokens": config.training.batch_tokens,
                "paragraphs": config.tables.scaled(MOST_PARAGRAPHS),
                "source_tokens": config.tables.scaled(EFFICIENCY_TOKENS),
                "memory_bytes": config.tables.memory_bytes,
                "precision": config.training.precision,
            },
            context={"device": config.training.device},
        )
        for name in shown_in(config.tables, "efficiency")
        if name in evaluated
    }


if __name__ == "__main__":
    sys.exit(main("python -m flows.reproduce_tables", reproduce_tables, publish))
