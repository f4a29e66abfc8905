"""A trained summarizer on disk, and how to load it with nothing but this package: weights, configuration, vocabulary. A
build's own directory also has what continues training (`tasks/summarization/directory.py`); an export for other people
also has the settings of the search, and a card."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import torch

from models.causal_folder import FAMILIES, check_family, folder_fields, load_base
from models.contract import Summarizer
from models.registry import build_summarizer, from_config_dict
from models.search.beam import beam_search, search_ids
from models.search.settings import SearchSettings
from models.search.source_values import SourceValues, value_pieces
from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.training.layout import ExampleTable, Layout, source_batch
from models.value_slots import NO_SLOTS, ValueSlots, fill
from models.vocabulary import Vocabulary
from models.weights_file import load_weights, read_config

WEIGHTS, CONFIG, VOCABULARY, SEARCH = "model.safetensors", "config.json", "vocabulary.model", "search.json"
SETTINGS = "settings.json"  # of the build that an export comes from
# Of a language model as its makers left it: tokens read of a paragraph, and room for a summary.
_PARAGRAPH, _SUMMARY = 200, 400
_TOKENS = pa.list_(pa.int32())
_EDGE = pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())])
_ROW = pa.schema([("title", _TOKENS), ("source", pa.list_(_TOKENS)), ("target", _TOKENS), ("graph", pa.list_(_EDGE))])


@dataclass(frozen=True)
class TrainedSummarizer:
    """A summarizer and how to prepare its input."""

    model: Summarizer  # on its device, in evaluation mode
    vocabulary: Vocabulary  # of its texts
    layout: Layout  # what it was trained to read of an article
    graph: Literal["none", "similarity", "discourse"]  # the paragraph graph it reads
    preset: str  # the preset it was built from

    @property
    def name(self) -> str:
        """Its name in tables: its preset, and its graph if it reads one."""
        return self.preset if self.graph == "none" else f"{self.preset}+{self.graph}"


@dataclass(frozen=True)
class ExportedSummarizer(TrainedSummarizer):
    """A summarizer that was exported, and how its summaries were searched for when it was scored."""

    search: SearchSettings  # settings of the beam search
    source_values: bool  # whether it may only write names and numbers of what it reads

    def summarize(
        self, title: str, paragraphs: Sequence[str | Sequence[str]], edges: Sequence[tuple[int, int, float]] = ()
    ) -> str:
        """Return a summary of paragraphs, best first; those that the model has no room for are not read. Each is a
        text, or for a model that sees sentences (Hie-BART, Akiyama et al. 2021) a list of its sentences. `edges` are
        (i, j, weight) of the graph between paragraphs, for a model that reads one (`graph`). Raises ValueError: the
        model sees sentences, and a paragraph is one text."""
        words = self.vocabulary
        texts = [self._sentences(paragraph) for paragraph in paragraphs]
        slots = ValueSlots(title, map(" ".join, texts), words.has_word) if words.slots else NO_SLOTS
        row = {
            "title": words.encode(slots.cut(title)),
            "source": words.encode_paragraphs(list(map(slots.cut, sentences)) for sentences in texts),
            "target": [words.begin, words.end],
            "graph": [{"i": i, "j": j, "weight": weight} for i, j, weight in edges],
        }
        examples = ExampleTable(pa.Table.from_pylist([row], schema=_ROW), self.layout)
        source = source_batch([examples.example(0)], self.layout).to(next(self.model.parameters()).device)
        with torch.inference_mode():
            memory = self.model.encode(source)
        values = None
        if self.source_values:
            values = SourceValues(value_pieces(words), source, self.layout.may_be_cut, [slots.values])
        ids = search_ids(words, self.search)
        (best,) = beam_search(self.model, source, self.search, **ids, values=values, memory=memory)
        return fill(" ".join(words.decode(best.tokens).split()), slots.values)

    def _sentences(self, paragraph: str | Sequence[str]) -> Sequence[str]:
        """Return a paragraph as its sentences, or as one where it does not matter."""
        if not isinstance(paragraph, str):
            return paragraph
        if self.vocabulary.sentence_begin is not None:
            raise ValueError(
                f"preset {self.preset!r} sees sentences: expected each paragraph as a list of its sentences, got the "
                f"text {paragraph[:40]!r}"
            )
        return [paragraph]


def read_summarizer(
    directory: Path,
    *,
    weights: Path | None = None,
    device: torch.device | str = "cpu",
    source_tokens: int | None = None,
) -> TrainedSummarizer:
    """Load a trained summarizer from a build's directory or an export, with its weights or those of another file; or a
    causal language model from a folder of Hugging Face's, as it is there. `source_tokens` is the maximum of an article,
    for an architecture with such a limit; None = as in training. Raises ValueError: the directory has no summarizer, or
    one of its files is damaged."""
    if has_checkpoint(directory):
        return _of_causal(directory, device, source_tokens)
    if not (directory / CONFIG).is_file() or not (directory / WEIGHTS).is_file():
        raise ValueError(f"expected a trained summarizer in {directory}, found no {CONFIG} and {WEIGHTS}")
    try:
        record: dict[str, Any] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        layout = Layout(**record["layout"])
        limited = source_tokens is not None and "source_tokens" in record["model"]
        model = from_config_dict(record["model"], **({"source_tokens": source_tokens} if limited else {}))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{directory / CONFIG} does not describe a summarizer: {error}") from error
    load_weights(model, weights or directory / WEIGHTS)
    return TrainedSummarizer(
        model=model.to(device).eval(),
        vocabulary=vocabulary_in(directory),
        layout=layout,
        graph=record["graph"],
        preset=record["preset"],
    )


def vocabulary_in(directory: Path) -> Vocabulary:
    """Return the vocabulary of a directory from which `read_summarizer` loads. Raises ValueError: it is damaged, or of
    a model that cannot be asked."""
    if has_checkpoint(directory):
        check_family(directory)
        return Vocabulary(read_tokenizer(directory))
    return Vocabulary.from_file(directory / VOCABULARY)


def has_checkpoint(directory: Path) -> bool:
    """Whether a directory holds a model in Hugging Face's layout. Raises ValueError: its config.json is damaged."""
    return (directory / CONFIG).is_file() and "architectures" in read_config(directory)


def _causal_fields(directory: Path, vocabulary: Vocabulary) -> tuple[str, dict[str, Any]]:
    fields = folder_fields(directory, vocabulary, paragraph=_PARAGRAPH, summary=_SUMMARY)
    return FAMILIES[fields["family"]], {**fields, "lora_rank": 0, "folder": None}


def _of_causal(directory: Path, device: torch.device | str, source_tokens: int | None) -> TrainedSummarizer:
    vocabulary = vocabulary_in(directory)
    preset, fields = _causal_fields(directory, vocabulary)
    fields["source_tokens"] = min(source_tokens or fields["source_tokens"], fields["source_tokens"])
    with torch.device("meta"):
        model = build_summarizer(preset, vocabulary_size=vocabulary.size, pad=vocabulary.pad, **fields)
    load_base(model, directory)
    layout = Layout(vocabulary.pad, None, max_paragraph_tokens=_PARAGRAPH, max_source_tokens=fields["source_tokens"])
    return TrainedSummarizer(model.to(device).eval(), vocabulary, layout, "none", preset)


def load_exported(folder: str | Path, *, device: torch.device | str = "cpu") -> ExportedSummarizer:
    """Load what `wikisum export --model` wrote. Raises ValueError: it is not a summarizer, or a file is damaged."""
    folder = Path(folder)
    trained = read_summarizer(folder, device=device)
    try:
        fields = json.loads((folder / SEARCH).read_text(encoding="utf-8"))
        search = SearchSettings(**fields["search"])
        return ExportedSummarizer(**vars(trained), search=search, source_values=fields["source_values"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / SEARCH} does not say how summaries are searched for: {error}") from error
