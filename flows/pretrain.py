"""Pre-train a BART on the paragraphs of a corpus (Lewis et al. 2020), for `summarizer.pretrained`."""

import json

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from flows.stages.training import passages, pretrained


@notifying_flow("pretrain", "pretrain-{config.summarizer.preset}-seed{config.seed}")
def pretrain(config: BuildConfig = DEFAULT) -> str:
    """Train a model to restore passages of the corpus; return its folder and how to start from it."""
    return walk_flow(config, build)


def build(session: Session) -> str:
    """Walk the corpus, cut it into passages and train; name all in a manifest, so that pruning keeps the checkpoint."""
    run, config = session.run, session.config
    cut = passages(session, dag.articles(session), dag.candidates(session).compared, dag.vocabulary(session))
    trained = pretrained(session, cut, dag.vocabulary(session))
    if run.planning:
        return ""
    assert trained.record is not None
    run.record_build(config.model_dump(mode="json"))
    folder, overrides = run.store.path(trained.record.path), config.summarizer.overrides
    shape = f" --summarizer.overrides '{json.dumps(overrides)}'" if overrides else ""
    metrics = trained.record.metrics
    return (
        f"{metrics['parameters']:,} parameters, {metrics['steps']:,} steps, validation nll "
        f"{metrics['validation_nll']} nats a token\n"
        f"--summarizer.preset {config.summarizer.preset} --summarizer.pretrained {folder}{shape}"
    )
