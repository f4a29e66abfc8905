"""A challenger's models: trained from those of an earlier version if these fit, else from scratch."""

from flows.dag import Dag
from flows.stages.ranking import ranker
from flows.stages.training import summarizer
from tasks.engine.inputs import DirectoryResult
from tasks.retraining.warm_start import (
    RANKER,
    RANKER_GAIN,
    SUMMARIZER,
    VersionModels,
    better_ranker,
    ranker_fits,
    summarizer_fits,
    warm_ranker,
    warm_training,
)


def new_ranker(dag: Dag, start: VersionModels | None) -> DirectoryResult:
    """Train the ranker from `start` and use it if it is better; from scratch if the ranker of `start` does not fit."""
    settings, retraining = dag.config.ranker, dag.config.retraining
    if start is None or not ranker_fits(start.version, settings):
        return ranker(dag.session, dag.corpus)
    before = start.models[RANKER]
    trained = ranker(dag.session, dag.corpus, warm_ranker(settings, retraining), before)
    return dag.session.run.use(better_ranker(trained, before, RANKER_GAIN))


def new_summarizer(dag: Dag, start: VersionModels | None) -> DirectoryResult:
    """Train the summarizer from `start`, or from scratch if the summarizer of `start` does not fit."""
    if start is None or not summarizer_fits(start.version, dag.config.summarizer):
        return summarizer(dag.session, dag.graphs_read, dag.examples_read, dag.vocabulary)
    training, before = warm_training(dag.config.training, dag.config.retraining), start.models[SUMMARIZER]
    return summarizer(
        dag.session, dag.graphs_read, dag.examples_read, dag.vocabulary, training=training, initial=before
    )
