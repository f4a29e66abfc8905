"""The papers' tables: train and evaluate every system with the same trainer, search and evaluator."""

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from flows.stages.intake import check_splits
from flows.stages.tables import evaluate_systems, impossible, timings
from tasks.engine.recipe import DirectoryResult, Recipe, every
from tasks.tables.plan import PAGE, shown_in, steps_of, systems_to_run
from tasks.tables.published import Measure


@notifying_flow("reproduce-tables", "tables-{config.name}-seed{config.seed}")
def reproduce_tables(config: BuildConfig = DEFAULT) -> str:
    """Train and evaluate the requested systems that are not done, publish the tables; return them and their path."""
    return walk_flow(config, publish)


def publish(session: Session) -> str:
    """Walk everything and publish the tables; return their text. The manifest protects the results from pruning."""
    check_splits(session.run.store, dag.articles(session))
    directory = session.once(tables)
    if session.run.planning:
        return ""
    text = session.publish_report(directory, PAGE)
    session.run.record_build(session.config.model_dump(mode="json"), directory.record, latest=False)
    return text


def chosen(session: Session) -> tuple[list[str], dict[str, str]]:
    """Return the systems to run, and for the others the reason why they are not run."""
    config = session.config
    return systems_to_run(config.tables, config.baselines.systems, impossible(session))


def tables(session: Session) -> DirectoryResult:
    """Make the tables."""
    config = session.config
    run, reasons = session.once(chosen)
    scores = [dag.ranking_scores(session), dag.baseline_scores(session)]
    evaluated = evaluate_systems(session, run)
    looked_at = [evaluated[name].summaries for name in shown_in(config.tables, Measure.ATTENTION) if name in evaluated]
    models = {name: one.model.record for name, one in evaluated.items()}
    measured = timings(session, evaluated)
    timed = {name: one.record.metrics for name, one in measured.items() if one.record}
    arguments = {
        "reporting": config.report,
        "parameters": {name: record.metrics["parameters"] for name, record in models.items() if record},
        "validation": {name: [figures["seconds"], figures["articles"]] for name, figures in timed.items()},
        "batches": {name: [figures["batch"], figures["way"]] for name, figures in timed.items()},
        "reasons": reasons,
        "steps": steps_of(config.tables, config.training),
        "seed": config.seed,
    }
    inputs = {
        "scores": every(*scores, *[item.scores for item in evaluated.values()]),
        "attention": every(dag.articles(session), dag.ranked(session), dag.baselines(session), *looked_at),
    }
    recipe = Recipe("tables", "tasks.tables.tables:write_tables", config.tables, arguments, version=1)
    return session.run.directory(recipe, inputs=inputs)
