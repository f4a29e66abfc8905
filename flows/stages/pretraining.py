"""Pre-train a BART on the paragraphs of a corpus (Lewis et al. 2020)."""

from flows.running.progress import ProgressLog
from flows.running.session import Session
from flows.stages.results import Articles, Compared, Passages, PretrainedModel, VocabularyTable
from storage import schemas
from tasks.engine.recipe import Recipe, every, only, same
from tasks.pretraining.settings import check_pretraining
from tasks.summarization.settings import SummarizerSettings


def passages(session: Session, articles: Articles, paragraphs: Compared, vocabulary: VocabularyTable) -> Passages:
    """Cut the paragraphs of training and validation articles into passages."""
    recipe = Recipe(schemas.PASSAGES, "tasks.pretraining.passages:build_passages", settings=session.config.pretraining)
    inputs = {"articles": same(articles), "paragraphs": same(paragraphs), "vocabulary": only(vocabulary)}
    return session.stage(Passages, recipe, shards=len(articles.shards), inputs=inputs)


def pretrained(session: Session, passages: Passages, vocabulary: VocabularyTable) -> PretrainedModel:
    """Train the summarizer to restore passages, as models/pretrained; a wrong checkpoint or setting raises."""
    config, given = session.config, session.config.tokenizer_folder
    check_pretraining(config.summarizer, config.vocabulary.model_type if given is None else None)
    start = None if given is None else _start(config.summarizer, *given)
    recipe = Recipe(
        "models/pretrained",
        "tasks.pretraining.training:pretrain",
        settings=config.pretraining,
        arguments={"summarizer": config.summarizer, "training": config.training, "seed": config.seed},
        notes={} if start is None else {"pretrained_sha256": start},
        version=1,
        together=True,
    )
    return PretrainedModel(
        session.run.directory(
            recipe,
            inputs={"shards": every(passages), "vocabulary": only(vocabulary)},
            context={"progress": ProgressLog("pretraining"), "device": config.engine.device},
        )
    )


def _start(settings: SummarizerSettings, folder: str, setting: str) -> str | None:
    """Return the digest of the weights to start from, after checks; None without such weights."""
    # Here, because they load torch, and a plan of other pre-trainings needs none.
    from tasks.summarization.fresh_model import check_start, folder_vocabulary

    return check_start(settings, folder_vocabulary(folder, setting))
