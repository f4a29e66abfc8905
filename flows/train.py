"""Train the ranker (Liu & Lapata 2019, sec. 3.1), the summarizer (sec. 3.2), or both: the default."""

from flows import dag
from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notifying_flow
from flows.running.session import Session, walk_flow
from tasks.engine.recipe import DirectoryResult


@notifying_flow("train-ranker", "train-ranker-{config.name}")
def train_ranker(config: BuildConfig = DEFAULT) -> str:
    """Train the ranker, building what it needs; return its folder. ValueError: it does not order the paragraphs."""
    return walk_flow(config, trained_ranker)


@notifying_flow("train-summarizer", "train-summarizer-{config.name}")
def train_summarizer(config: BuildConfig = DEFAULT) -> str:
    """Rank, compute graphs and train the summarizer, building missing stages first; return its folder, as text."""
    return walk_flow(config, trained_summarizer)


def trained_ranker(session: Session) -> str:
    """Train the ranker; return its folder as text."""
    model = dag.ranker(session)
    if model is None:
        imported, method = session.config.imported, session.config.ranking.method
        given, expected = f"ranking.method is {method!r}", "'ranking'"
        if imported is not None:
            given, expected = f"imported.folder is {imported.folder!r}", "a corpus of your own"
        raise ValueError(f"{given}, so that paragraphs are in order without a ranker: expected {expected}")
    return _kept(session, model)


def trained_summarizer(session: Session) -> str:
    """Train the summarizer, and before it the ranker that it needs; return its folder as text."""
    return _kept(session, dag.summarizer(session))


def _kept(session: Session, model: DirectoryResult) -> str:
    if model.record is None:  # only planned
        return ""
    session.keep_results()
    metrics = model.record.metrics
    validation = [f"{name.replace('_', ' ')} {value}" for name, value in metrics.items() if "validation" in name]
    figures = ", ".join([f"{metrics['parameters']:,} parameters", *validation])
    return f"{session.run.store.path(model.record.path)}: {figures}"
