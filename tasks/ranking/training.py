"""The ranker stage: trains the paragraph ranker on ROUGE-2 recall (Liu & Lapata 2019, sec. 3.1 and 4), shard by shard.
A step depends only on the seed, its number and its position in the data, all of which are in a checkpoint. So a run
that was killed and started again ends with the same weights."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from models.ranker import ParagraphRanker, RankerConfig
from models.training.batches import Position
from models.training.checkpoints import read_metrics
from models.training.distributed import Ranks, find_device
from models.training.state import Objective, TrainerSettings, TrainingProgress, Validation, constant
from models.training.trainer import METRICS, Trainer
from models.vocabulary import Vocabulary
from models.weights_file import weights_digest
from tasks.engine.hashing import stable_hash
from tasks.engine.recipe import Shards
from tasks.engine.torch_threads import torch_threads
from tasks.ranking.batches import NOTHING_TO_LEARN, BatchRules, Drawn, RankerBatch, draw_paragraphs, training_batches
from tasks.ranking.candidates import Split
from tasks.ranking.ranking import PUBLISHED, WEIGHTS, TrainedRanker, describe_ranker, load_ranker, score_paragraphs
from tasks.ranking.settings import RankerSettings


def judge(parts: Sequence[Drawn], ranker: TrainedRanker, top: int) -> dict[str, Any]:
    """Score every paragraph, and return `loss` (binary cross entropy of scores and labels, nats a paragraph),
    `loss_floor`, the lowest possible, and the number of paragraphs. Also return means over articles of the mean ROUGE-2
    recall of the `top` paragraphs: by the ranker (`recall`), by tf-idf similarity with the title, and by label, the
    highest possible."""
    result: defaultdict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for part in parts:
        scores = score_paragraphs(ranker, part.texts, part.titles, part.chosen.article, _VALIDATION_TOKENS)
        result["loss"].append(_cross_entropy(part.labels, scores))
        result["loss_floor"].append(_cross_entropy(part.labels, part.labels))
        for name, order in (("", scores), ("similarity_", part.similarity), ("gold_", part.labels)):
            result[f"{name}recall"].append(_top_mean(part, order, top))
    means = {name: float(np.concatenate(values).mean()) for name, values in result.items()}
    return {**means, "articles": sum(map(len, result["recall"]))}


def collect_validation(
    shards: Shards, vocabulary: Vocabulary, rules: BatchRules, *, articles: int
) -> tuple[Split, list[Drawn]]:
    """Draw a validation set from the first shards that have enough articles of the valid split, and say of which split
    it is: a corpus without any is validated on training articles. `articles` is the minimum, if there are so many:
    whole shards are added. `rules` say how paragraphs are drawn, `per_article` of each article. Raises ValueError: no
    article has a paragraph."""
    splits: tuple[Split, ...] = ("valid", "train")
    for split in splits:
        parts: list[Drawn] = []
        count = 0
        for shard in range(len(shards)):
            drawn = draw_paragraphs(shards.read(shard), split, vocabulary, rules, round_=-1)
            if len(drawn):
                parts.append(drawn)
                count += len(np.unique(drawn.chosen.article))
            if count >= articles:
                break
        if parts:
            return split, parts
    raise ValueError(NOTHING_TO_LEARN)


def _cross_entropy(labels: NDArray[np.float32], scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the binary cross entropy of each score, with logarithms limited to -100 as in PyTorch."""
    wanted, wide = labels.astype(np.float64), scores.astype(np.float64)
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(wide), -100), np.maximum(np.log1p(-wide), -100)
    result: NDArray[np.float64] = -(wanted * yes + (1 - wanted) * no)
    return result


def _top_mean(part: Drawn, scores: NDArray[np.float32], top: int) -> NDArray[np.float64]:
    """Return for each article with paragraphs the mean label of its `top` best paragraphs by score."""
    best = part.chosen.best(scores, top)
    article = part.chosen.article[best]
    sums = np.bincount(article, weights=part.labels[best])
    counts = np.bincount(article)
    means: NDArray[np.float64] = sums[counts > 0] / counts[counts > 0]
    return means


CLIP_NORM = 2.0  # largest gradient norm (See et al. 2017)
EPOCHS = 10  # passes over the training split, at most
PER_ARTICLE = 40  # paragraphs drawn of each training article, again in every epoch
PATIENCE = 10  # validations without a better one before training ends
_TITLE_TOKENS, _PARAGRAPH_TOKENS = 32, 100  # read of each: few titles are longer, and paragraphs have 70 on average
_VALIDATION_ARTICLES = 500  # of the valid split, about
_VALIDATION_PARAGRAPHS = 100  # drawn of each, at most
_VALIDATION_TOKENS = 16_384  # scored at a time, padding included
_THREADS = 1  # of torch on a CPU: a step of an LSTM is too small for two, which take longer on a busy machine
_TOP = 5  # paragraphs whose mean ROUGE-2 recall is validated: the shortest L' of Liu & Lapata 2019, Table 1


def train_ranker(
    shards: Shards,  # read one at a time
    vocabulary: pa.Table | Vocabulary,
    settings: RankerSettings,
    *,
    directory: Path,  # gets model.safetensors, config.json, vocabulary.model and metrics.jsonl; checkpoints meanwhile
    seed: int,
    # a trained ranker from whose weights training starts; they stay the best unless later weights validate better
    initial: Path | None = None,
    device: str = "cpu",
    epochs: int = EPOCHS,
    per_article: int = PER_ARTICLE,
    patience: int = PATIENCE,
    log_interval: int = 50,  # steps between lines of metrics.jsonl and reports of progress
    progress: Callable[[TrainingProgress], None] | None = None,  # also called after a validation
) -> dict[str, Any]:
    """Train a ranker into `directory`, or continue where an interrupted run stopped. Return `published`, the files of
    the model, and the metrics of the best validation; with `initial` also `initial_loss`, the validation loss of that
    ranker. Raises ValueError: there is nothing to train on, the directory contains a run with other settings, or
    `initial` is a ranker with another vocabulary or architecture. TrainingError: training cannot continue, see its
    message. TrainingStopped: by SIGTERM; the same call continues from the checkpoint that was saved."""
    words = Vocabulary.of(vocabulary)
    start = None if initial is None else weights_digest(initial / WEIGHTS)
    with torch_threads(_THREADS):
        drawn = epochs, settings.batch_paragraphs, per_article
        rules = BatchRules(seed, *drawn, _TITLE_TOKENS, _PARAGRAPH_TOKENS)
        objective = RankerObjective(shards, words, settings, rules, initial)
        trainer = Trainer(
            objective,
            constant(settings.learning_rate),
            TrainerSettings(
                steps=settings.steps,
                clip_norm=CLIP_NORM,
                log_interval=log_interval,
                validation_interval=settings.validation_interval,
                validate_start=initial is not None,
                keep_best=1,
                patience=patience,
                seed=seed,
            ),
            directory,
            ranks=Ranks(find_device(device)),
            progress=progress,
            fingerprint={**settings.recipe(), "seed": seed, "vocabulary": words.digest, "initial": start},
        )
        result = trainer.run()
    describe_ranker(directory, objective.ranker)
    metrics = {f"validation_{name}": value for name, value in result.best_scores.items()}
    if initial is not None:
        first = read_metrics(directory / METRICS)[0]
        assert (first["kind"], first["step"]) == ("validation", 0)
        metrics["initial_loss"] = first["loss"]
    return {
        "published": list(PUBLISHED),
        "steps": result.step,
        "best_step": result.best_step,
        "parameters": sum(parameter.numel() for parameter in objective.model.parameters()),
        "skipped_steps": result.skipped,
        **metrics,
    }


class RankerObjective(Objective[RankerBatch]):
    """The binary cross entropy of scores and ROUGE-2 recall (Liu & Lapata 2019, sec. 3.1); judged on valid articles."""

    measures = ("loss",)
    unit = "nats/paragraph"

    def __init__(
        self, shards: Shards, vocabulary: Vocabulary, settings: RankerSettings, rules: BatchRules, initial: Path | None
    ) -> None:
        """Draw the validation set and make the ranker, from `initial` if given; ValueError if that does not fit."""
        self.shards, self.vocabulary, self.settings = shards, vocabulary, settings
        self.rules = rules
        judged = replace(self.rules, per_article=_VALIDATION_PARAGRAPHS)
        self.split, self.valid = collect_validation(shards, vocabulary, judged, articles=_VALIDATION_ARTICLES)
        self.fresh = initial is None
        torch.manual_seed(stable_hash(rules.seed, "ranker", "weights") >> 1)
        self.model: ParagraphRanker = ParagraphRanker(
            RankerConfig(vocabulary.size, vocabulary.pad, settings.hidden, settings.hidden)
        )
        self.ranker = TrainedRanker(self.model, vocabulary, _TITLE_TOKENS, _PARAGRAPH_TOKENS)
        if initial is not None:
            self._start_from(initial)

    def optimizer(self) -> torch.optim.Optimizer:
        """Return Adagrad (Liu & Lapata 2019, sec. 4)."""
        return torch.optim.Adagrad(self.model.parameters(), initial_accumulator_value=self.settings.initial_accumulator)

    def batches(self, start: Position) -> Iterator[RankerBatch]:
        """Yield the batches of all epochs."""
        return training_batches(self.shards, self.vocabulary, self.rules, start)

    def begin(self, batch: RankerBatch) -> None:
        """Make a fresh ranker predict the mean label."""
        if self.fresh:
            self.model.set_prior(float(batch.labels.mean()))

    def share(self, batch: RankerBatch) -> float:
        """Return the share of all epochs read after a batch."""
        return batch.share

    def units(self, batch: RankerBatch) -> int:
        """Return the number of paragraphs of a batch."""
        return len(batch.labels)

    def inputs(self, batch: RankerBatch, device: torch.device) -> tuple[Tensor, ...]:
        """Return paragraphs, titles, each paragraph's title and the labels."""
        parts = (batch.paragraphs, batch.titles, batch.title, batch.labels)
        return tuple(part.to(device, non_blocking=True) for part in parts)

    def loss(self, paragraphs: Tensor, titles: Tensor, title: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
        """Return the cross entropy summed over paragraphs, both as loss and as measure; no further units."""
        logits = self.model(paragraphs, self.model.encode_titles(titles)[title])
        loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="sum")
        return loss, loss.detach(), torch.zeros_like(loss)

    def validate(self, losses: Callable[[RankerBatch], tuple[float, ...]]) -> Validation:
        """Judge the ranker by its loss, and note the mean ROUGE-2 recall of its top paragraphs."""
        validation = judge(self.valid, self.ranker, _TOP) | {"split": self.split}
        return Validation(validation["loss"], validation)

    def remedy(self, batch: RankerBatch) -> str:
        """Return the shape of the batch and advise a smaller one."""
        return (
            f"paragraphs {tuple(batch.paragraphs.shape)}: lower batch_paragraphs (now {self.settings.batch_paragraphs})"
        )

    def _start_from(self, directory: Path) -> None:
        trained = load_ranker(directory, torch.device("cpu"))
        if trained.vocabulary != self.vocabulary:
            raise ValueError(f"training cannot start from the ranker in {directory}: it has another vocabulary")
        if trained.model.config != self.model.config:
            raise ValueError(
                f"training cannot start from {directory}: expected {self.model.config}, got {trained.model.config}"
            )
        self.model.load_state_dict(trained.model.state_dict())
