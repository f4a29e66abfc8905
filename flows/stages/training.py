"""A summarizer (Liu & Lapata 2019, sec. 3.2), and the predictor of its attention to paragraphs."""

from flows.running.session import Session
from tasks.engine.inputs import DirectoryResult, StageResult, contents, every, only
from tasks.engine.progress import ProgressLog
from tasks.engine.recipe import Recipe
from tasks.summarization.attention_training import train_attention
from tasks.summarization.settings import AttentionSettings, SummarizerSettings, TrainingSettings
from tasks.summarization.training import train_summarizer as train_summarizer_model


def summarizer(
    session: Session,
    graphs: StageResult | None,
    examples: StageResult,
    vocabulary: StageResult,
    *,
    settings: SummarizerSettings | None = None,
    training: TrainingSettings | None = None,
    initial: DirectoryResult | None = None,
    name: str = "summarizer",
) -> DirectoryResult:
    """Train a summarizer on the ranked paragraphs, as models/NAME.

    Args:
        session: its configuration says what is trained, and how, unless the caller does.
        graphs: those of the examples; None where it reads none.
        examples: what it learns from.
        vocabulary: of the examples.
        settings: what it is.
        training: how it is trained.
        initial: a model whose weights it starts from.
        name: what tables call it.
    """
    return session.run.directory(
        Recipe(
            f"models/{name}",
            train_summarizer_model,
            settings=settings or session.config.summarizer,
            arguments={"training": training or session.config.training, "seed": session.config.seed},
            version=4,
        ),
        inputs={
            "shards": every(examples, *([] if graphs is None else [graphs])),
            "vocabulary": only(vocabulary),
            **({} if initial is None else {"initial": contents(initial)}),
        },
        context={"progress": ProgressLog(name), "device": session.config.engine.device},
    )


def attention(
    session: Session,
    graphs: StageResult | None,
    examples: StageResult,
    summarizer: DirectoryResult,
    settings: AttentionSettings | None = None,
) -> DirectoryResult:
    """Train the predictor of a summarizer's attention to paragraphs, as models/attention-NAME."""
    name = f"attention-{summarizer.name.removeprefix('models/')}"
    return session.run.directory(
        Recipe(
            f"models/{name}",
            train_attention,
            settings=settings or session.config.attention,
            arguments={"seed": session.config.seed},
            version=3,
        ),
        inputs={
            "shards": every(examples, *([] if graphs is None else [graphs])),
            "summarizer": contents(summarizer),
        },
        context={"progress": ProgressLog(name), "device": session.config.engine.device},
    )
