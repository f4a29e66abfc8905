"""The corpus alone, from articles to labelled paragraphs and the vocabulary: nothing is trained."""

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from storage.recipes import whole
from tasks.reporting.corpus_size import SAMPLED_SHARDS, corpus_statistics, describe_corpus


@notifying_flow("build-corpus", "corpus-{config.name}-seed{config.seed}")
def build_corpus(config: BuildConfig = DEFAULT) -> str:
    """Build the corpus, named as a build without models; return its rows by stage and its size as text."""
    return walk_flow(config, build)


def build(session: Session) -> str:
    """Walk the corpus's stages and write the manifest."""
    corpus = dag.corpus(session)
    if session.run.planning:
        return ""
    build = session.run.record_build(session.config.model_dump(mode="json"))
    session.publish_overview(build)
    sampled = zip(corpus.articles.in_order[:SAMPLED_SHARDS], corpus.paragraphs.in_order[:SAMPLED_SHARDS], strict=True)
    store = session.run.store
    statistics = corpus_statistics(tuple(whole(record).read(store) for record in shard) for shard in sampled)
    return describe_corpus(build, statistics, session.config.root)
