"""Continue the training of an earlier version: which one, with which settings, and whether it helped."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.tokenization.contract import TextForm
from storage.directories import find_directory
from storage.errors import StorageError
from storage.recipes import read_record
from storage.registry import FrozenSplit, Version, newest_version, read_champion, read_version
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, StageResult
from tasks.ranking.settings import RankerSettings
from tasks.retraining.settings import RetrainingSettings
from tasks.summarization.settings import SummarizerSettings, TrainingSettings

RANKER, PREDICTOR = "models/ranker", "models/attention-summarizer"
# Share of the champion's validation loss, above its floor, that a new ranker must save to be taken up; else the
# champion's ranker stays, and unchanged articles need not be ranked again.
RANKER_GAIN = 0.02
_RESTORE = "restore it from a backup (wikisum restore --replace-damaged)"


@dataclass(frozen=True)
class VersionModels:
    """A version's models as results that stages can read."""

    version: Version  # its entry in the registry
    vocabulary: StageResult  # its vocabulary, a stage of one shard
    models: Mapping[str, DirectoryResult]  # its models by name


def champion_models(store: Store, needed: str | None = None) -> VersionModels | None:
    """Return the champion's models, or None before the first promotion. It must have the model `needed`, besides
    ranker and summarizer. Raises StorageError: a file of the champion is missing, or it has no needed model."""
    pointer = read_champion(store)
    if pointer is None:
        return None
    version = read_version(store, pointer.version)
    if needed is not None and needed not in version.models:
        raise StorageError(f"the champion, version {version.number}, has no {needed}, which these settings decode with")
    return _models(store, version)


def starting_models(store: Store, champion: VersionModels | None) -> VersionModels | None:
    """Return the models a challenger's training continues from: the last challenger's, or the champion's if newer.

    A week's gain may be real but too small to be certain. So a refused challenger's training is not lost: the next one
    adds to it, until the sum is large enough. Its test scores are not used here: else chance gains would be kept,
    chance losses dropped, and chance promoted in the end. Raises StorageError: a file of it is missing."""
    newest = newest_version(store)
    if champion is None or newest is None or newest.parent != champion.version.number:
        return champion
    return _models(store, newest)


def frozen_stages(store: Store, split: FrozenSplit, seed: int) -> tuple[StageResult, StageResult]:
    """Return articles and candidate paragraphs of the frozen test split. Raises StorageError: one of its files is
    missing; ValueError: it was made with another seed, so that its articles may be in the training split."""
    if seed != split.seed:
        raise ValueError(
            f"seed is {seed}, but the test split below {store.root} was frozen under seed {split.seed}: its articles "
            "may now be in another split. Keep the seed, or give another root"
        )
    return pinned(store, "articles", split.articles), pinned(store, "paragraphs", split.paragraphs)


def pinned(store: Store, stage: str, files: Sequence[str]) -> StageResult:
    """Return shards by their files, whatever their recipe. Raises StorageError: a file or its record is missing."""
    records = {}
    for shard, file in enumerate(files):
        named = f"{file} below {store.root}, which the registry names"
        try:
            records[shard] = read_record(store, f"{file.removesuffix('.parquet')}.json")
        except (FileNotFoundError, ValueError) as error:
            raise StorageError(f"{named}, has no record that can be read: {_RESTORE}") from error
        if not store.exists(file):
            raise StorageError(f"{named}, is gone: {_RESTORE}")
    return StageResult(stage, range(len(files)), records)


def ranker_fits(version: Version, settings: RankerSettings) -> bool:
    """Whether a ranker of these settings has the shape of the version's."""
    return bool(version.settings["ranker"]["hidden"] == settings.hidden)


def summarizer_fits(version: Version, settings: SummarizerSettings) -> bool:
    """Whether a summarizer of these settings is that of the version."""
    return bool(version.settings["summarizer"] == settings.model_dump(mode="json"))


def summarizer_form(version: Version) -> TextForm:
    """Return in which form the version's summarizer reads text."""
    return SummarizerSettings.model_validate(version.settings["summarizer"]).form


def warm_ranker(settings: RankerSettings, retraining: RetrainingSettings) -> RankerSettings:
    """Return the settings for continuing a ranker's training."""
    every = min(settings.validation_interval, retraining.ranker_steps)
    return settings.model_copy(update={"steps": retraining.ranker_steps, "validation_interval": every})


def warm_training(training: TrainingSettings, retraining: RetrainingSettings) -> TrainingSettings:
    """Return the settings for continuing a summarizer's training: fewer steps, and the first training's peak rate. A
    model keeps what it has learned by heart if the peak is lower: .3 of the peak left the mini web's validation loss at
    .47 nats a token, all of it at .42."""
    lengths = math.sqrt(retraining.warmup / training.warmup)  # the noam peak is factor / sqrt(model size x warm-up)
    return training.model_copy(
        update={
            "steps": retraining.summarizer_steps,
            "warmup": retraining.warmup,
            "learning_rate_factor": training.learning_rate_factor * lengths,
            "validation_interval": min(training.validation_interval, retraining.summarizer_steps),
        }
    )


def better_ranker(trained: DirectoryResult, start: DirectoryResult, gain: float) -> DirectoryResult:
    """Return the trained ranker if it reduces its initial validation loss enough, else the one it was trained from.
    Both losses are of this week's validation articles; the floor is the loss of scores equal to the labels. `gain` is
    the share of the loss above its floor that it must save, 0-1; a ranker that is only planned has no record."""
    if trained.record is None:
        return trained
    metrics = trained.record.metrics
    floor = metrics["validation_loss_floor"]
    before, after = metrics["initial_loss"] - floor, metrics["validation_loss"] - floor
    return trained if before - after > gain * before else start


def _models(store: Store, version: Version) -> VersionModels:
    models = {}
    for name, path in version.models.items():
        record = find_directory(store, path)
        if record is None:
            of = f"{path} of version {version.number} below {store.root}"
            raise StorageError(f"{of} is missing: {_RESTORE}, or promote another version")
        models[name] = DirectoryResult(name, record)
    return VersionModels(version, pinned(store, "vocabulary", [version.vocabulary]), models)
