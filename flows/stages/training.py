"""What a summarizer reads: token ids of ranked paragraphs and graphs over them. Its training (Liu & Lapata 2019, sec.
3.2), and that of the predictor of its attention. Pre-training of a BART on the corpus (Lewis et al. 2020)."""

from typing import Any, NamedTuple

from flows.running.display import ProgressLog
from flows.running.session import Session
from flows.stages import results
from flows.stages.results import Articles, Examples, Graphs, Ranked, VocabularyTable
from models.tokenization.contract import TextForm
from storage import schemas
from tasks.engine.recipe import Input, Recipe, contents, every, only, same
from tasks.pretraining.settings import check_pretraining
from tasks.summarization.settings import AttentionSettings, SummarizerSettings, TrainingSettings, check_lengths
from tasks.text.entities import pipeline_label

_NAMES = {"plain": "examples", "sentences": "sentence-examples", "slots": "slot-examples"}


class Read(NamedTuple):
    """What a summarizer reads; None: no graph."""

    graphs: Graphs | None
    examples: Examples
    vocabulary: VocabularyTable


def graphs(session: Session, ranked: Ranked, name: str | None = None) -> Graphs:
    """Compute the graphs of the ranked paragraphs."""
    settings, words = session.config.graphs, {"words": session.config.words}
    notes = {"entities": pipeline_label(settings.spacy_pipeline)}
    recipe = Recipe(schemas.GRAPHS, "tasks.summarization.graphs:build_graphs", settings, words, notes=notes)
    return Graphs(session.run.stage(recipe, shards=len(ranked.shards), inputs={"ranked": same(ranked)}, name=name))


def examples(
    session: Session,
    articles: Articles,
    ranked: Ranked,
    vocabulary: VocabularyTable,
    name: str | None = None,
    *,
    form: TextForm = "plain",
) -> Examples:
    """Turn the ranked paragraphs into token ids, of texts in the form that a summarizer reads."""
    arguments: dict[str, Any] = {} if form == "plain" else {"form": form}
    if session.config.examples.supported_by is not None:
        arguments["read"] = session.config.summarizer
    function = "tasks.summarization.examples:build_examples"
    recipe = Recipe(schemas.EXAMPLES, function, session.config.examples, arguments)
    inputs = {"articles": same(articles), "ranked": same(ranked), "vocabulary": only(vocabulary)}
    name = session.named(name or _NAMES[form])
    return Examples(session.run.stage(recipe, shards=len(ranked.shards), inputs=inputs, name=name))


def summarizer(
    session: Session,
    read: Read,
    *,
    settings: SummarizerSettings | None = None,
    training: TrainingSettings | None = None,
    initial: results.SummarizerModel | None = None,
    extractor: results.ExtractorModel | None = None,
    name: str = "summarizer",
) -> results.SummarizerModel:
    """Train a summarizer, as models/NAME, from weights of `initial` or the encoder of `extractor` if given."""
    settings, name = settings or session.config.summarizer, session.named(name)
    check_lengths(settings, settings.max_target_tokens - 1, "summarizer.max_target_tokens")
    function, notes = "tasks.summarization.training:train_summarizer", {} if initial else _start(session, settings)
    arguments = {"training": training or session.config.training, "seed": session.config.seed}
    recipe = Recipe(f"models/{name}", function, settings, arguments, notes=notes, version=1, together=True)
    inputs = {"shards": _shards(read), "vocabulary": only(read.vocabulary)}
    inputs |= {} if initial is None else {"initial": contents(initial)}
    inputs |= {} if extractor is None else {"extractor": contents(extractor)}
    return session.training(results.SummarizerModel, recipe, inputs, name)


def extractor(
    session: Session,
    read: Read,
    *,
    settings: SummarizerSettings | None = None,
    training: TrainingSettings | None = None,
    name: str = "extractor",
) -> results.ExtractorModel | None:
    """Train a summarizer's encoder to extract, as models/NAME; None for one that is not trained so."""
    settings, name = settings or session.config.summarizer, session.named(name)
    if not settings.extracts_first:
        return None
    function, notes = "tasks.summarization.extraction:train_extractor", _start(session, settings)
    arguments = {"training": training or session.config.training, "seed": session.config.seed}
    recipe = Recipe(f"models/{name}", function, settings, arguments, notes=notes, version=1)
    inputs = {"shards": every(read.examples), "vocabulary": only(read.vocabulary)}
    return session.training(results.ExtractorModel, recipe, inputs, name)


def _shards(read: Read) -> Input:
    return every(read.examples) if read.graphs is None else every(read.examples, read.graphs)


def _start(session: Session, settings: SummarizerSettings) -> dict[str, str]:
    """Return what else than the settings decides the weights that a training starts from."""
    folder = session.config.tokenizer_folder
    if settings.pretrained is None or folder is None:
        return {}
    # Here, because they load torch, and a plan of other builds needs none.
    from tasks.summarization.fresh_model import check_start, folder_vocabulary

    digest = check_start(settings, folder_vocabulary(*folder))
    return {} if digest is None else {"pretrained_sha256": digest}


def attention(
    session: Session, read: Read, summarizer: results.SummarizerModel, settings: AttentionSettings | None = None
) -> results.PredictorModel:
    """Train the predictor of a summarizer's attention to paragraphs, as models/attention-NAME."""
    name = f"attention-{summarizer.name.removeprefix('models/')}"
    function = "tasks.summarization.attention_training:train_attention"
    settings, common = settings or session.config.attention, session.config.training
    arguments = {"batch_tokens": common.batch_tokens, "validation_interval": common.validation_interval}
    recipe = Recipe(f"models/{name}", function, settings, {**arguments, "seed": session.config.seed}, version=1)
    inputs = {"shards": _shards(read), "summarizer": contents(summarizer)}
    return session.training(results.PredictorModel, recipe, inputs, name)


def passages(
    session: Session, articles: results.Articles, paragraphs: results.Compared, vocabulary: results.VocabularyTable
) -> results.Passages:
    """Cut the paragraphs of training and validation articles into passages."""
    recipe = Recipe(schemas.PASSAGES, "tasks.pretraining.passages:build_passages")
    inputs = {"articles": same(articles), "paragraphs": same(paragraphs), "vocabulary": only(vocabulary)}
    return results.Passages(session.run.stage(recipe, shards=len(articles.shards), inputs=inputs))


def pretrained(
    session: Session, passages: results.Passages, vocabulary: results.VocabularyTable
) -> results.PretrainedModel:
    """Train the summarizer to restore passages, as models/pretrained; a wrong checkpoint or setting raises."""
    config, given = session.config, session.config.tokenizer_folder
    check_pretraining(config.summarizer, config.vocabulary.model_type if given is None else None)
    function, notes = "tasks.pretraining.training:pretrain", _start(session, config.summarizer)
    arguments = {"summarizer": config.summarizer, "training": config.training, "seed": config.seed}
    recipe = Recipe("models/pretrained", function, None, arguments, notes=notes, version=1, together=True)
    inputs = {"shards": every(passages), "vocabulary": only(vocabulary)}
    context = {"progress": ProgressLog("pretraining"), "device": config.engine.device}
    return results.PretrainedModel(session.run.directory(recipe, inputs=inputs, context=context))
