"""A challenger a week: the corpus brought up to date, both models trained on, and the better version kept."""

import sys
import time

from flows.running.options import read_command

if __name__ == "__main__":  # help and mistakes are answered before the imports below, which take seconds
    command = read_command("python -m flows.retrain")

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.dag import dag_of
from flows.running.command_line import main
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.judged_on import judged_before, judged_on
from flows.stages.judging import judge
from flows.stages.warm_start import new_ranker, new_summarizer
from storage.registry import version_of
from tasks.retraining.outcome import finish_retraining, move_late_pointer, settle
from tasks.retraining.warm_start import PREDICTOR, RANKER, SUMMARIZER, champion_models, starting_models


@flow(
    name="retrain",
    flow_run_name="retrain-{config.preset}-{config.retraining.period}",
    on_failure=[notify],
    on_crashed=[notify],
)
def retrain(config: BuildConfig = DEFAULT) -> str:
    """Take in what is new, train a challenger, judge it against the champion, and promote it if it is better.

    Returns:
        The verdict, what was computed, the champion and what was pruned, as text.
    """
    return walk_flow(config, challenge)


def challenge(session: Session) -> str:
    """Walk everything; a period that has its version already is only settled.

    Raises:
        ValueError: the corpus is imported, so that there is nothing to bring up to date, or the metric that decides is
            not among those scored.
    """
    started, store, given = time.monotonic(), session.run.store, session.config
    if given.imported is not None:
        raise ValueError(f"imported.folder is {given.imported.folder!r}: expected a corpus of your own to retrain on")
    for name, metric in [
        ("metric", given.retraining.metric),
        *(("guards", guard) for guard in given.retraining.guards),
    ]:
        if metric not in given.scoring.metrics:
            scored = ", ".join(given.scoring.metrics)
            raise ValueError(f"retraining.{name} is {metric!r}: expected one of scoring.metrics, {scored}")
    # The week it is now, also of a run that ends in the next one or finds a damaged shard there and walks again.
    settings = given.retraining.model_copy(update={"week": given.retraining.period})
    crawl = given.crawl.model_copy(update={"refresh": settings.period})
    session.config = config = given.model_copy(update={"crawl": crawl, "retraining": settings})
    made = version_of(store, settings.period)
    if made is not None:
        return settle(store, made, settings, planning=session.run.planning)
    if not session.run.planning:
        move_late_pointer(store)
    champion = champion_models(store, PREDICTOR if config.decoding.guidance.reads_predictor else None)
    start = starting_models(store, champion) if settings.vocabulary == "champion" else None
    dag = dag_of(session)
    if start is not None:
        dag.vocabulary = start.vocabulary
    dag.kept_out = judged_before(session)
    splits = judged_on(session)
    dag.ranker = new_ranker(dag, start)
    _ = dag.ranking_scores  # for people: nothing reads them
    dag.summarizer = new_summarizer(dag, start)
    models = {RANKER: dag.ranker, SUMMARIZER: dag.summarizer}
    if dag.predictor_read is not None:
        models[PREDICTOR] = dag.predictor_read
    challenger = judge(session, "challenger", splits, dag.vocabulary, models)
    before = None
    if champion is not None:
        before = champion, judge(session, "champion", splits, champion.vocabulary, dict(champion.models))
    if session.run.planning:
        return ""
    recipe = config.manifest()
    return finish_retraining(
        session.run, recipe, settings, splits, challenger, before, start=start, seed=config.seed, started=started
    )


if __name__ == "__main__":
    sys.exit(main(command, retrain, challenge))
