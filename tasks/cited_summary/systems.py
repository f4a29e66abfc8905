"""Which systems there are: the champion of a registry, the models of a build, a model's folder, or none of them. Which
of them writes is decided in `deciding.py`."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from models.exported import CONFIG, SETTINGS, WEIGHTS, has_checkpoint
from storage.builds import SUMMARIZER, build_names, latest_build, read_build
from storage.directories import DirectoryRecord, fetch_directory, find_directory
from storage.errors import StorageError
from storage.inventory import check_format
from storage.registry import FOLDER, read_version, version_numbers
from storage.store import Store
from tasks.cited_summary.settings import Choice
from tasks.paragraphs.settings import ParagraphSettings
from tasks.ranking.settings import RankingSettings
from tasks.retraining.warm_start import RANKER, champion_models
from tasks.summarization.settings import DecodingSettings, ExampleSettings, GraphSettings
from tasks.text.ngrams import WordRule
from tasks.writing.local_model import model_file
from tasks.writing.settings import GGUF, WriterSettings

EXTRACTIVE = "concepts"
_PREDICTOR = "models/attention-summarizer"
# 200 paragraphs give better sentences than 40: +.9 values F1 on wikigraph (`benchmarks/extractors.py`).
_BY_TITLE = RankingSettings(method="similarity", keep=200)
_WITHOUT_JUNK = ParagraphSettings(quality=0.76)  # as in the preset `records`, which is for pages of the real web too
# A folder does not say how to decode its model, so only names and numbers of the input may be written.
_CAREFULLY = DecodingSettings(source_values=True, block_ngrams=3, max_length=200)
_MOST_SYSTEMS = 20  # versions and builds to choose from
_SECTIONS: Mapping[str, Any] = {"decoding": DecodingSettings, "graphs": GraphSettings, "examples": ExampleSettings}


@dataclass(frozen=True)
class SummarySystem:
    """A way to summarize, and how its input is prepared."""

    name: str  # for people, such as `ht-small+similarity`, or `concepts` for the extractive system
    why: str  # a sentence on why it is this one; readers of a page see it, so that it names no folder of the server's
    summarizer: Path | None = None  # folder of the summarizer; None for the extractive system
    ranker: Path | None = None  # folder of the ranker; None = paragraphs are ranked by similarity with the title
    predictor: Path | None = None  # folder of the summarizer's attention predictor, if decoding needs one
    writer: WriterSettings | None = None  # the language model that writes instead of a summarizer; None for none
    note: str = ""  # what readers learn about the choice, besides `why`
    words: WordRule = "unicode"  # how texts are cut into words
    # Settings of the stages of these names.
    paragraphs: ParagraphSettings = _WITHOUT_JUNK
    ranking: RankingSettings = _BY_TITLE
    graphs: GraphSettings = field(default_factory=GraphSettings)
    examples: ExampleSettings = field(default_factory=ExampleSettings)
    decoding: DecodingSettings = _CAREFULLY

    def extractive(self, why: str) -> "SummarySystem":
        """Return the extractive system on the same ranking."""
        return replace(self, name=EXTRACTIVE, why=why, summarizer=None, predictor=None, writer=None)

    def without_models(self, why: str) -> "SummarySystem":
        """Return the extractive system ranked by similarity, for sources that the models do not suit."""
        ranking = RankingSettings(method="similarity", keep=self.ranking.keep)
        return replace(self.extractive(why), ranker=None, ranking=ranking)

    def written_by(self, writer: WriterSettings) -> "SummarySystem":
        """Return a language model on paragraphs ranked by similarity."""
        hosted = " A hosted model may change under the same name." if writer.folder is None else ""
        why = f"{writer.model} was asked {writer.address}, and each of its sentences held against the passages.{hosted}"
        return replace(self.without_models(why), name=writer.model, writer=writer)


def chosen_system(model: str | None, choice: str) -> tuple[SummarySystem, Choice]:
    """Return the system that is to write and how it was chosen. `choice`: a `Choice`, or a name in `trained_systems`;
    `model`, errors: as of `find_system`."""
    for known in get_args(Choice):
        if choice == known:
            return find_system(model), known
    if choice not in trained_systems(model):
        raise StorageError(f"there is no trained system {choice!r}: expected one of the page's list")
    store = _store_of(model or "")
    return _of_models(store, choice, *_entry(store, choice)), "model"


def trained_systems(model: str | None) -> list[str]:
    """Return the names of the trained systems that a root has, the newest first, each once: "version 3", "build NAME".
    `model`: as of `find_system`."""
    if model is None or model.lower().endswith(GGUF):
        return []
    store = _store_of(model)
    names = [f"version {number}" for number in version_numbers(store)[::-1]]
    names += [f"build {name}" for name in build_names(store)[::-1]]
    first = dict[str, str]()  # folder of the summarizer -> the first name that it has
    for name in names[:_MOST_SYSTEMS]:
        with suppress(StorageError):  # a damaged one cannot be chosen
            models = _entry(store, name)[0]
            if SUMMARIZER in models:
                first.setdefault(models[SUMMARIZER], name)
    return list(first.values())


def find_system(model: str | None) -> SummarySystem:
    """Return the best system that is there: the champion's summarizer, the latest build's, the folder's, else concepts.
    `model`: a root (folder or URI), its `registry`, or the folder of a trained summarizer; None for none. Raises
    StorageError: the folder does not exist, or a file in it is damaged or missing."""
    if model is None:
        return SummarySystem(EXTRACTIVE, "No model was given, so whole sentences of the sources are chosen.")
    if model.lower().endswith(GGUF):
        return _of_language_model(model)
    store = _store_of(model)
    folder = Path(store.base)
    try:
        if store.is_local and has_checkpoint(folder):
            return _of_language_model(str(folder))
    except ValueError as error:
        raise StorageError(str(error)) from error
    if store.is_local and (folder / CONFIG).is_file() and (folder / WEIGHTS).is_file():
        return _of_folder(folder)
    store.check_exists()
    check_format(store)
    champion = champion_models(store)
    if champion is not None:
        records = {name: result.record for name, result in champion.models.items()}
        who = f"version {champion.version.number}, the champion"
        return _of_root(store, who, records, champion.version.settings)
    build = latest_build(store, having=SUMMARIZER) or latest_build(store)
    if build is None:
        raise StorageError(
            f"{model!r} is neither a root with a build nor a trained model's folder: expected one of them, or no "
            "--model for an extractive summary"
        )
    return _of_models(store, f"build {build.name}", build.models, build.config)


def _entry(store: Store, name: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return models and settings of a version or a build."""
    kind, _, which = name.partition(" ")
    if kind == "version":
        version = read_version(store, int(which))
        return version.models, version.settings
    build = read_build(store, which)
    return build.models, build.config


def _store_of(model: str) -> Store:
    return Store(model.rstrip("/").removesuffix(f"/{FOLDER}"))


def _of_models(store: Store, who: str, models: Mapping[str, str], settings: Mapping[str, Any]) -> SummarySystem:
    records = {name: find_directory(store, path) for name, path in models.items()}
    return _of_root(store, who, records, settings)


def _of_folder(folder: Path) -> SummarySystem:
    """Return the system of a model's folder, with the settings that it was scored with if it is an export."""
    name = _name(folder)
    why = f"{name} is the model in the folder {folder.name}; without a ranker, similarity with the title ranks."
    system = SummarySystem(name, why, folder)
    if not (folder / SETTINGS).is_file():
        return system
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        result = {name: kind.of_record(settings[name]) for name, kind in _SECTIONS.items() if name in settings}
    except (ValueError, TypeError) as error:
        other = f"Its {SETTINGS} is that of another version of this program ({type(error).__name__})."
        return replace(system, why=f"{why} {other}")
    decoding: DecodingSettings = result.pop("decoding", _CAREFULLY)
    alone: dict[str, Any] = {"checkpoint": 0}  # the export has one, and no attention predictor
    if decoding.guidance.reads_predictor:
        alone |= {"alignment": "none", "compressed_paragraphs": None}
    return replace(
        system, words=settings.get("words", system.words), decoding=decoding.model_copy(update=alone), **result
    )


def _of_language_model(folder: str) -> SummarySystem:
    """Return the system of a language model's folder or GGUF file, as its makers left it. StorageError: it has none."""
    try:
        model_file(folder)
    except (ValueError, OSError) as error:
        raise StorageError(f"--model {folder}: {error}") from error
    return SummarySystem(EXTRACTIVE, "").written_by(WriterSettings(folder=folder))


def _of_root(
    store: Store, who: str, records: Mapping[str, DirectoryRecord | None], settings: Mapping[str, Any]
) -> SummarySystem:
    """Return the system of a version or build; the extractive one if its models do not suffice."""
    try:
        ranking = RankingSettings.of_record(settings["ranking"])
        base = SummarySystem(
            EXTRACTIVE,
            "",
            words=settings["words"],
            paragraphs=ParagraphSettings.of_record(settings["paragraphs"]),
            **{name: kind.of_record(settings[name]) for name, kind in _SECTIONS.items()},
        )
    except (KeyError, ValidationError) as error:
        why = f"The settings of {who} are those of another version of this program ({type(error).__name__})"
        return SummarySystem(EXTRACTIVE, f"{why}, so whole sentences of the sources are chosen.")
    if ranker := records.get(RANKER):
        learned = ranking.model_copy(update={"method": "ranking", "folder": None})
        base = replace(base, ranker=fetch_directory(store, ranker), ranking=learned)
    summarizer, predictor = records.get(SUMMARIZER), records.get(_PREDICTOR)
    if summarizer is None:
        return base.extractive(f"There is no trained summarizer in {who}, so sentences of the sources are chosen.")
    if base.decoding.guidance.reads_predictor and predictor is None:
        return base.extractive(f"{who} decodes with an attention predictor and has none, so sentences are chosen.")
    folder = fetch_directory(store, summarizer)
    name = _name(folder)
    return replace(
        base,
        name=name,
        why=f"{name} is the summarizer of {who}.",
        summarizer=folder,
        predictor=None if predictor is None else fetch_directory(store, predictor),
    )


def _name(folder: Path) -> str:
    """Return a summarizer's name without loading its weights."""
    try:
        record = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        preset, graph = record["preset"], record["graph"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{folder / CONFIG} does not describe a summarizer: {error}") from error
    return preset if graph == "none" else f"{preset}+{graph}"
