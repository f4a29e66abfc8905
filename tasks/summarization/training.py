"""The summarizer stage: trains a summarizer on the examples of the training split (Liu & Lapata 2019, sec. 4)."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from torch import nn

from models.contract import Summarizer
from models.exported import WEIGHTS
from models.presets import find_preset
from models.registry import to_config_dict
from models.search.beam import beam_search, search_ids
from models.search.settings import SearchSettings
from models.training.batches import Batch, BatchStream, ExampleShards, check_budget, sweep
from models.training.distributed import Ranks, process_count, process_group
from models.training.layout import ExampleTable, Layout, source_batch
from models.training.state import Schedule, TrainerSettings, TrainingProgress, TrainingResult, constant, linear, noam
from models.training.token_objective import TokenObjective
from models.training.trainer import Trainer
from models.value_slots import SlotDraws, fill
from models.vocabulary import Vocabulary
from models.weights_file import weights_digest
from storage.schemas import EXAMPLES
from tasks.engine.recipe import Shards
from tasks.engine.torch_threads import torch_threads
from tasks.engine.torchrun import run_processes
from tasks.evaluation.rouge import Reference
from tasks.summarization.directory import describe_summarizer, load_summarizer, published_files, with_graphs
from tasks.summarization.examples import layout_of, slots_of
from tasks.summarization.fresh_model import fresh_model, start_digest, start_encoder
from tasks.summarization.settings import Graph, SummarizerSettings, TrainingSettings

logger = logging.getLogger(__name__)


def token_trainer(
    model: Summarizer,
    training: TrainingSettings,
    layout: Layout,
    *,
    examples: ExampleShards,  # of the training split
    valid: pa.Table,  # examples that choose the best checkpoints; none = the last one is the best
    directory: Path,
    seed: int,  # of dropout and the order of examples
    ranks: Ranks,
    fingerprint: Mapping[str, Any],
    prepare: Callable[[pa.Table, int, int], pa.Table] | None = None,  # see `BatchStream`
    evaluate: Callable[[Summarizer], Mapping[str, float]] | None = None,  # see `TokenObjective`
    continued: bool = False,  # whether the weights are those of a trained summarizer
    progress: Callable[[TrainingProgress], None] | None = None,
) -> Trainer[Batch]:
    """Return the trainer of a model that predicts the tokens of targets; what is not said here `Trainer` says."""
    tokens = training.batch_tokens
    stream = BatchStream(
        examples, layout, batch_tokens=tokens, seed=seed, rank=ranks.rank, world=ranks.world, prepare=prepare
    )

    def validation() -> Iterator[Batch]:
        return sweep([valid], layout, batch_tokens=tokens, rank=ranks.rank, world=ranks.world)

    objective = TokenObjective(
        model,
        batch_tokens=tokens,
        label_smoothing=training.label_smoothing,
        stream=stream,
        ranks=ranks,
        validation=validation if valid.num_rows else None,
        evaluate=evaluate,
    )
    settings = trainer_settings(training, seed, processes=ranks.world, continued=continued)
    size = to_config_dict(model)["model_size"]
    schedules = [learning_rate(training, size)]
    if (pace := model.pace) is not None:
        schedules.append(learning_rate(training, size, rate=pace.rate, warmup=pace.warmup))
    return Trainer(
        objective, schedules, settings, directory, ranks=ranks, progress=progress, fingerprint=dict(fingerprint)
    )


def outcome(result: TrainingResult, model: nn.Module) -> dict[str, Any]:
    """Return what every such training reports of itself."""
    return {
        "steps": result.step,
        "finished": result.finished,
        "seconds": round(result.seconds, 3),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "validation_nll": result.best,
        "skipped_steps": result.skipped,
    }


def trainer_settings(
    training: TrainingSettings, seed: int, *, processes: int = 1, continued: bool = False
) -> TrainerSettings:
    """Return the settings of the trainer, for each of `processes`. Raises ValueError: they cannot share an update's
    batches equally, for example because `torchrun` started another number."""
    if training.accumulation % processes:
        raise ValueError(
            f"training.accumulation is {training.accumulation}: expected a multiple of {processes}, the processes of "
            "torchrun, which share an update's batches equally"
        )
    names = {field.name for field in fields(TrainerSettings)}
    # The initial weights are among the checkpoints, so that continued training cannot raise the validation loss; with
    # no steps they are all that there is.
    fields_ = training.model_dump(include=names) | {"accumulation": training.accumulation // processes}
    return TrainerSettings(**fields_, seed=seed, validate_start=continued or not training.steps)


def fixed_settings(training: TrainingSettings) -> dict[str, Any]:
    """Return the settings that must not change during a run; its length, validation interval and time budget may."""
    free = {"steps", "validation_interval", "keep_best", "max_seconds"}
    if training.schedule == "linear":
        free.remove("steps")  # they determine the learning rate of every step
    return {name: value for name, value in training.recipe().items() if name not in free}


def learning_rate(
    training: TrainingSettings, model_size: int, *, rate: float = 1.0, warmup: int | None = None
) -> Schedule:
    """Return the learning rate by step, `rate` times that of the settings, with their warm-up or another."""
    warmup = training.warmup if warmup is None else warmup
    if training.schedule == "constant":
        return constant(rate * training.learning_rate)
    if training.schedule == "linear":
        return linear(peak=rate * training.learning_rate, warmup=warmup, steps=training.steps)
    if warmup > training.steps > 0:
        message = "the warm-up has %d steps and the training %d: the learning rate rises to the end, below its peak"
        logger.warning(message, warmup, training.steps)
    return noam(factor=rate * training.learning_rate_factor, model_size=model_size, warmup=warmup)


_ROUGE = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True)
class SplitShards:
    """The rows of one split, with the column `graph` if the summarizer reads one."""

    shards: Shards
    split: str
    graph: Graph = "none"

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, i: int) -> pa.Table:
        examples, *graphs = self.shards.read(i)
        chosen = examples.filter(pc.equal(examples.column("split"), self.split))
        if self.graph == "none":
            return chosen
        if not graphs:
            raise ValueError(f"the summarizer reads the {self.graph} graph: expected shards of examples and graphs")
        return with_graphs(chosen, graphs[0], self.graph)

    def first(self, rows: int) -> pa.Table | None:
        """Return the first rows, None of no shard; articles are sharded by hash, so this is a fair sample."""
        tables: list[pa.Table] = []
        for i in range(len(self)):
            if sum(table.num_rows for table in tables) < rows:
                tables.append(self[i])
        return pa.concat_tables(tables).slice(0, rows) if tables else None


def train_summarizer(
    shards: Shards,
    vocabulary: pa.Table | Vocabulary,
    settings: SummarizerSettings,
    *,
    training: TrainingSettings,
    directory: Path,  # becomes a self-contained model directory, see `tasks/summarization/directory.py`
    seed: int,  # of weights, order of examples and dropout
    # a trained summarizer from whose weights training starts, and which stays the best unless later weights validate
    # better; the optimizer and the schedule start anew
    initial: Path | None = None,
    extractor: Path | None = None,  # a trained extractor, whose encoder the summarizer begins with (BERTSUMEXTABS)
    device: str = "cpu",  # auto | cpu | cuda | cuda:N
    progress: Callable[[TrainingProgress], None] | None = None,  # see `Trainer`
) -> dict[str, Any]:
    """Train a summarizer in `directory`, or continue an interrupted training there, and return metrics of the run;
    `published` names the files on which decoding depends.

    Rows of the split `train` are for training, those of `valid` choose the best checkpoints. A window of training
    examples and the validation examples are in memory of each process. If `training.processes` asks for several
    processes, this one only starts them and passes their progress on. Under `torchrun` every process calls this, and
    they train one model together. Raises ValueError: the settings contradict each other or the run in `directory`, no
    training examples are given, or `initial` is a summarizer with another vocabulary or architecture. TrainingError:
    training cannot continue, see its message. TrainingStopped: by SIGTERM; the same call continues from the checkpoint
    that was saved."""
    words = Vocabulary.of(vocabulary, settings.form)
    layout = layout_of(settings, words)
    check_budget(layout, training.batch_tokens)
    processes = process_count(training.processes, training.accumulation, device)
    if processes > 1:
        arguments = {"shards": shards, "vocabulary": vocabulary, "settings": settings, "training": training}
        arguments |= {"directory": directory, "seed": seed, "initial": initial, "device": device}
        arguments |= {"extractor": extractor}
        return run_processes(train_summarizer, arguments, processes, progress)
    valid = validation_examples(shards, settings.graph, training.validation_articles)
    fixed = {**settings.recipe(), **fixed_settings(training)}
    given = {"initial": initial, "extractor": extractor}
    starts = {name: None if start is None else weights_digest(start / WEIGHTS) for name, start in given.items()}
    with torch_threads(training.torch_threads), process_group(device) as ranks:
        if initial is None:
            model = fresh_model(settings, words, seed, dropout=training.dropout)
            if extractor is not None:
                start_encoder(model, extractor / WEIGHTS, words=settings.pretrained is not None)
        else:
            # A causal model's folder says what surrounds its source, and has the weights below adapters.
            causal = find_preset(settings.preset).architecture == "causal"
            unloaded = settings if causal else settings.model_copy(update={"pretrained": None})
            model = fresh_model(unloaded, words, seed, dropout=training.dropout)
            _start_from(model, initial, words)
        trainer = token_trainer(
            model,
            training,
            layout,
            examples=SplitShards(shards, "train", settings.graph),
            valid=valid,
            directory=directory,
            seed=seed,
            ranks=ranks,
            prepare=SlotDraws(words.slots[1:], seed) if words.slots else None,
            fingerprint={
                **fixed,
                "seed": seed,
                "vocabulary": words.digest,
                **starts,
                **_started_from(settings, initial),
            },
            evaluate=_evaluator(valid.slice(0, training.decoded_articles), layout, words, ranks),
            continued=initial is not None,
            progress=progress,
        )
        trainer.resume()
        if ranks.rank == 0:
            describe_summarizer(directory, model, words, layout, graph=settings.graph, preset=settings.preset)
        result = trainer.run()
    return {
        **outcome(result, model),
        **{name: score for name, score in result.scores.items() if name in _ROUGE},
        **_started_from(settings, initial),
        "published": published_files(directory),
    }


def validation_examples(shards: Shards, graph: Graph, articles: int) -> pa.Table:
    """Return the first `articles` rows of the split `valid`."""
    result = SplitShards(shards, "valid", graph).first(articles)
    return EXAMPLES.schema.empty_table() if result is None else result


def _start_from(model: Summarizer, directory: Path, vocabulary: Vocabulary) -> None:
    """Put the weights of a trained summarizer into a fresh one."""
    trained = load_summarizer(directory)
    if trained.vocabulary != vocabulary:
        raise ValueError(f"training cannot start from the summarizer in {directory}: it has another vocabulary")
    actual, expected = to_config_dict(trained.model), to_config_dict(model)
    if actual | {"dropout": None} != expected | {"dropout": None}:
        raise ValueError(f"training cannot start from {directory}: {actual} is not {expected}")
    model.load_state_dict(trained.model.state_dict())


def _started_from(settings: SummarizerSettings, initial: Path | None) -> dict[str, str]:
    """Return the digest of the checkpoint whose weights were loaded, if any were."""
    loaded = settings.pretrained is not None and initial is None
    return {"pretrained_sha256": start_digest(str(settings.pretrained))} if loaded else {}


def _evaluator(
    chosen: pa.Table, layout: Layout, vocabulary: Vocabulary, ranks: Ranks
) -> Callable[[Summarizer], Mapping[str, float]] | None:
    """Return a function that decodes some validation articles greedily and returns their mean ROUGE F1, 0-1."""
    if chosen.num_rows == 0:
        return None
    settings = SearchSettings(beam=1, min_length=0, max_length=layout.max_target_tokens)
    rows = ExampleTable(chosen, layout)
    source = source_batch([rows.example(row) for row in range(len(rows))], layout)
    slots = slots_of(chosen)
    references = [Reference(lead, _ROUGE) for lead in chosen.column("target_text").to_pylist()]

    def evaluate(model: Summarizer) -> Mapping[str, float]:
        result = beam_search(model, source.to(ranks.device), settings, **search_ids(vocabulary, settings))
        pairs = zip(result, slots, references, strict=True)
        scores = [reference.score(fill(vocabulary.decode(item.tokens), values)) for item, values, reference in pairs]
        return {metric: float(np.mean([score[metric].value for score in scores])) for metric in _ROUGE}

    return evaluate
