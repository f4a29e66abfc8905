"""The corpus alone, from articles to labelled paragraphs and the vocabulary: nothing is trained."""

import sys

from prefect import flow

from flows.command_line import main
from flows.config import DEFAULT, BuildConfig
from flows.corpus import corpus
from flows.session import Session, walk_flow
from tasks.corpus_counts import describe_corpus
from tasks.notification import notify
from tasks.publishing import record_build


@flow(
    name="build-corpus",
    flow_run_name="corpus-{config.preset}-seed{config.seed}",
    on_failure=[notify],
    on_crashed=[notify],
)
def build_corpus(config: BuildConfig = DEFAULT) -> str:
    """Build the corpus and name it as a build without models; finished shards are skipped.

    Returns:
        What each stage kept and refused, as text.
    """
    return walk_flow(config, build)


def build(session: Session) -> str:
    """Walk the corpus's stages and write the manifest."""
    session.once(corpus)
    if session.run.planning:
        return ""
    return describe_corpus(record_build(session.run, session.config.model_dump(mode="json")), session.config.root)


if __name__ == "__main__":
    sys.exit(main("python -m flows.build_corpus", build_corpus, build))
