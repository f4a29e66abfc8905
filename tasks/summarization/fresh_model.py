"""The summarizer that a training starts from: with fresh weights, or those of `summarizer.pretrained`."""

from pathlib import Path
from typing import Any

import torch

from models.bart import Bart, BartConfig
from models.bertsum import BertSum, BertSumConfig, SentenceExtractor, check_bert, load_bert
from models.causal import Causal, CausalConfig
from models.causal_folder import check_base, load_base
from models.contract import Summarizer
from models.huggingface import LibrarySummarizer
from models.huggingface_folder import check_huggingface, has_own_outputs, load_huggingface
from models.presets import OF_TRANSFORMERS, find_preset
from models.pretrained import check_pretrained, load_pretrained
from models.registry import build_summarizer, configuration, fields_of
from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from models.weights_file import check_complete, open_safetensors, put_weights
from tasks.ranking.folders import folder_digest
from tasks.summarization.examples import causal_fields
from tasks.summarization.settings import SummarizerSettings

_REACH = 2  # tokens: the word that a number counts is next to it ("12 weeks")
_SETTING = "summarizer.pretrained"
_LOADED = ("bart", *OF_TRANSFORMERS)
_PICKLED = (".bin",)  # loaded as tensors alone


def fresh_model(
    settings: SummarizerSettings, vocabulary: Vocabulary, seed: int, *, dropout: float | None = None
) -> Summarizer:
    """Make the summarizer with the weights that its training starts from. What a checkpoint lacks, such as the head
    that copies, is fresh, drawn with the seed. The vocabulary has `sentence_begin` for heads that see sentences;
    dropout replaces the preset's. Raises ValueError: the settings contradict each other, or the folder's weights are
    not of such a summarizer."""
    fields = _fields(settings, vocabulary, dropout)
    torch.manual_seed(seed)
    if settings.pretrained is None or fields.get("lora_rank") or find_preset(settings.preset).architecture == "bertsum":
        # Adapters are made with the folder's weights below them.
        model = build_summarizer(settings.preset, **fields)
        if isinstance(model, BertSum) and settings.pretrained is not None:
            load_bert(model.encoder, settings.pretrained)
            model.start_words()
        return model
    with torch.device("meta"):  # so that the weights exist once
        model = build_summarizer(settings.preset, **fields)
    if isinstance(model, Causal):
        load_base(model, settings.pretrained)
    elif isinstance(model, LibrarySummarizer):
        load_huggingface(model, settings.pretrained)
    else:
        assert isinstance(model, Bart)
        own = folder_vocabulary(settings.pretrained, _SETTING) if settings.form == "sentences" else vocabulary
        load_pretrained(model, settings.pretrained, added=vocabulary.size - own.size)
    return model


def fresh_extractor(
    settings: SummarizerSettings, vocabulary: Vocabulary, seed: int, *, dropout: float | None = None
) -> SentenceExtractor:
    """Make the extractor that a summarizer's encoder is first trained in; arguments and errors are `fresh_model`'s."""
    config = configuration(settings.preset, **_fields(settings, vocabulary, dropout))
    torch.manual_seed(seed)
    model = SentenceExtractor(config)
    if settings.pretrained is not None:
        load_bert(model.encoder, settings.pretrained)
    return model


def start_encoder(model: Summarizer, weights: Path, *, words: bool) -> None:
    """Put the encoder of a trained extractor, given its weights, into a summarizer; `words`: those of its decoder begin
    with the encoder's too. Raises ValueError: the weights are of another model."""
    assert isinstance(model, BertSum)
    file = open_safetensors(weights)
    names = {name: f"encoder.{name}" for name in model.encoder.state_dict()}
    check_complete(file, [name for name in names.values() if name not in file.shapes], [])
    put_weights(model.encoder, weights, lambda name, _: file.tensor(names[name]))
    if words:
        model.start_words()


def check_start(settings: SummarizerSettings, vocabulary: Vocabulary) -> str | None:
    """Return a digest of the folder `summarizer.pretrained`, None without one. First check, before work starts, that a
    training with the build's vocabulary can start from it; only the weights of causal models are read for this. Raises
    FileNotFoundError: the folder does not exist; ValueError: it has another tokenizer, its sizes are not the preset's,
    or a file cannot be read."""
    folder = settings.pretrained
    if folder is None:
        return None
    path = check_folder(folder, _SETTING)
    architecture = find_preset(settings.preset).architecture
    if architecture not in _LOADED:
        raise ValueError(
            f"{_SETTING} is {folder!r}: expected a summarizer.preset of architecture {' or '.join(map(repr, _LOADED))} "
            f"(python -m models lists them), got {settings.preset!r}, which is of {architecture!r}"
        )
    own = folder_vocabulary(folder, _SETTING)
    if own != vocabulary:
        raise ValueError(
            f"{_SETTING} is {folder!r}: its tokenizer ({own.kind}, {own.size} pieces) is not the build's vocabulary "
            f"({vocabulary.kind}, {vocabulary.size} pieces): expected no vocabulary.folder, or one of the same content"
        )
    words = vocabulary.in_form(settings.form)
    try:
        config = configuration(settings.preset, **_fields(settings, words, None))
        if isinstance(config, BertSumConfig):
            check_bert(path, config)
        elif isinstance(config, CausalConfig):
            check_base(config, path)
        elif isinstance(config, BartConfig):
            check_pretrained(path, config, added=words.size - own.size)
        else:
            check_huggingface(path, config)
    except ValueError as error:
        raise ValueError(f"{_SETTING} is {folder!r}, preset {settings.preset!r}: {error}") from error
    return start_digest(path)


def start_digest(folder: str | Path) -> str:
    """Return a hash of all files of a folder that weights or tokenizer are read from."""
    return folder_digest(str(folder), _PICKLED)


def _fields(settings: SummarizerSettings, vocabulary: Vocabulary, dropout: float | None) -> dict[str, Any]:
    """Return the fields of the configuration that settings and vocabulary decide."""
    fields: dict[str, Any] = {"vocabulary_size": vocabulary.size, "pad": vocabulary.pad}
    # Architectures that need to know which tokens begin and end a text.
    known = fields_of(settings.preset, {})
    marks = {
        "begin": vocabulary.begin,
        "end": vocabulary.end,
        "source_begin": vocabulary.specials.source_begin,
        "separator": vocabulary.specials.separator,
        "sentence_begin": vocabulary.sentence_begin,
    }
    fields |= {name: id_ for name, id_ in marks.items() if name in known and id_ is not None}
    if settings.pretrained is not None and "own_outputs" in known:
        fields["own_outputs"] = has_own_outputs(settings.pretrained)
    fields |= {**settings.overrides, **causal_fields(settings, vocabulary)}
    if dropout is not None:
        fields["dropout"] = dropout
    if settings.graph != "none":
        fields["graph"] = settings.graph
    if settings.copying:
        fields["copying"] = True
    if settings.form == "slots":
        fields["copying_reach"] = _REACH
    return fields


def check_folder(folder: str, setting: str) -> Path:
    """Return a folder's path. Raises FileNotFoundError: there is none; the message says how to fetch one."""
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(
            f"{setting} is {folder!r}: expected a local folder with a checkpoint, and there is none. Nothing is "
            f"downloaded here; fetch one of the Hugging Face hub first, hf download {folder} --local-dir FOLDER"
        )
    return path


def folder_vocabulary(folder: str, setting: str) -> Vocabulary:
    """Return the vocabulary of a folder's tokenizer. Raises FileNotFoundError: the folder does not exist; ValueError:
    it has no tokenizer that can be read."""
    path = check_folder(folder, setting)
    try:
        return Vocabulary(read_tokenizer(path))
    except ValueError as error:
        raise ValueError(f"{setting} is {folder!r}: {error}") from error
