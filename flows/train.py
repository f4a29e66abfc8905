"""Training: the ranker (000 sec. 3.1), a summarizer (000 sec. 3.2), the attention predictor (002 sec. 4.2)."""

import sys

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.running.command_line import main
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.corpus import vocabulary
from flows.stages.ranking import examples, graphs, ranker
from tasks.engine.inputs import DirectoryResult, StageResult, contents, every, only
from tasks.engine.progress import ProgressLog
from tasks.summarization.attention_training import AttentionSettings, train_attention
from tasks.summarization.training import SummarizerSettings, TrainingSettings
from tasks.summarization.training import train_summarizer as train_summarizer_model


@flow(name="train-ranker", flow_run_name="train-ranker-{config.preset}", on_failure=[notify], on_crashed=[notify])
def train_ranker(config: BuildConfig = DEFAULT) -> None:
    """Train the paragraph ranker on the corpus, building what of the corpus is missing."""
    walk_flow(config, ranker)


@flow(
    name="train-summarizer", flow_run_name="train-summarizer-{config.preset}", on_failure=[notify], on_crashed=[notify]
)
def train_summarizer(config: BuildConfig = DEFAULT) -> None:
    """Rank, draw the graphs, and train the summarizer, building what is missing before that."""
    walk_flow(config, summarizer)


def summarizer(session: Session) -> DirectoryResult:
    """Train the summarizer on the ranked paragraphs, with their graphs where it asks for one."""
    config = session.config
    drawn = session.once(graphs) if config.summarizer.graph != "none" else None
    return train_system(session, "summarizer", config.summarizer, config.training, session.once(examples), drawn)


def train_system(
    session: Session,
    name: str,
    settings: SummarizerSettings,
    training: TrainingSettings,
    examples: StageResult,
    graphs: StageResult | None,
    initial: DirectoryResult | None = None,
) -> DirectoryResult:
    """Train any summarizer on examples, as models/`name`; the graphs are read where it asks for one.

    It starts from the weights of `initial` where that is given.
    """
    start = {} if initial is None else {"initial": contents(initial)}
    return session.run.directory(
        f"models/{name}",
        train_summarizer_model,
        version=3,
        inputs={
            "shards": every(examples, *([graphs] if graphs is not None and settings.graph != "none" else [])),
            "vocabulary": only(session.once(vocabulary)),
            **start,
        },
        settings=settings,
        arguments={"training": training, "seed": session.config.seed},
        context={"progress": ProgressLog(name)},
    )


def attention(session: Session) -> DirectoryResult:
    """Train the predictor of the summarizer's attention to paragraphs."""
    config = session.config
    drawn = session.once(graphs) if config.summarizer.graph != "none" else None
    return train_predictor(session, session.once(summarizer), config.attention, session.once(examples), drawn)


def train_predictor(
    session: Session,
    model: DirectoryResult,
    settings: AttentionSettings,
    examples: StageResult,
    graphs: StageResult | None,
) -> DirectoryResult:
    """Train the attention predictor of a trained summarizer, as models/attention-NAME; graphs where that reads one."""
    name = f"attention-{model.name.removeprefix('models/')}"
    return session.run.directory(
        f"models/{name}",
        train_attention,
        version=2,
        inputs={
            "shards": every(examples, *([] if graphs is None else [graphs])),
            "summarizer": contents(model),
        },
        settings=settings,
        arguments={"seed": session.config.seed},
        context={"progress": ProgressLog(name)},
    )


if __name__ == "__main__":
    sys.exit(main("python -m flows.train", train_summarizer, summarizer))
