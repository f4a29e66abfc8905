"""The attention predictor's stage: learn from a trained summarizer how much attention each paragraph gets (Ma & Zong
2022, sec. 4.2.1). The summarizer is not trained. A step depends only on the seed, its number and its position in the
data, all of which are in a checkpoint. So a run that was killed and started again ends with the same weights."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.attention_predictor import (
    AttentionPredictor,
    AttentionPredictorConfig,
    attention_labels,
    attention_loss,
    normalised_scores,
    paragraph_memory,
)
from models.exported import WEIGHTS, TrainedSummarizer
from models.presets import check_predictable
from models.registry import to_config_dict
from models.training.batches import Batch, BatchStream, Position, check_budget, sweep
from models.training.distributed import Ranks, find_device
from models.training.state import Objective, TrainerSettings, TrainingProgress, Validation, noam
from models.training.trainer import Trainer
from models.weights_file import weights_digest
from tasks.engine.recipe import Shards
from tasks.engine.torch_threads import torch_threads
from tasks.summarization.directory import PREDICTOR_FILES, describe_predictor, load_summarizer
from tasks.summarization.settings import AttentionSettings
from tasks.summarization.training import SplitShards, validation_examples

# Ma & Zong 2022, sec. 5.2, of the predictor: two layers, 1,024 to 256; of PHT: four heads.
_LAYERS, _HEADS, _FEED_FORWARD = 2, 4, 4
DROPOUT = 0.5  # Ma & Zong 2022, sec. 5.2
_VALIDATION_ARTICLES = 4000  # of the valid split, at most: as of its summarizer
_THREADS = 2  # of torch on a CPU; fixed, because the last bits of sums depend on it


def train_attention(
    shards: Shards,  # rows of the split `train` are for training, those of `valid` choose the best checkpoint
    summarizer: Path,  # directory of a trained summarizer with paragraph embeddings (PHT, GraphSum)
    settings: AttentionSettings,
    *,
    directory: Path,  # gets model.safetensors, config.json and metrics.jsonl, and checkpoints meanwhile
    seed: int,  # of weights, dropout and the order of examples
    batch_tokens: int,  # source tokens, and target tokens, of a batch, padding included
    validation_interval: int,  # steps between validations, each with a checkpoint
    device: str = "cpu",  # auto | cpu | cuda | cuda:N
    log_interval: int = 50,  # steps between lines of metrics.jsonl and reports of progress
    progress: Callable[[TrainingProgress], None] | None = None,  # also called after a validation
) -> dict[str, Any]:
    """Train the attention predictor of a summarizer in `directory`, or continue an interrupted training there. A window
    of training examples and the validation examples are in memory. Returns `published`, the files of the model, and
    metrics of the run: `validation_error`, and `uniform_error`, the error of predicting equal attention to all
    paragraphs. Raises ValueError: the summarizer does not exist or has no paragraph embeddings, the settings contradict
    it or the run in `directory`, or no training examples are given. TrainingError: training cannot continue, see its
    message. TrainingStopped: by SIGTERM; the same call continues from the checkpoint that was saved."""
    trained = load_summarizer(summarizer, device=find_device(device))
    check_predictable(to_config_dict(trained.model)["architecture"])
    check_budget(trained.layout, batch_tokens)
    with torch_threads(_THREADS):
        objective = AttentionObjective(shards, trained, batch_tokens, seed)
        digest = weights_digest(summarizer / WEIGHTS)
        fixed = {name: value for name, value in settings.recipe().items() if name != "steps"}  # may change during a run
        result = Trainer(
            objective,
            noam(factor=settings.learning_rate_factor, model_size=objective.size, warmup=settings.warmup),
            TrainerSettings(
                steps=settings.steps,
                log_interval=log_interval,
                keep_best=1,
                precision="float32",
                seed=seed,
                validation_interval=validation_interval,
            ),
            directory,
            ranks=Ranks(objective.device),
            progress=progress,
            fingerprint={**fixed, "batch_tokens": batch_tokens, "seed": seed, "summarizer": digest},
        ).run()
        describe_predictor(directory, objective.model, summarizer=digest)
        return {
            "published": list(PREDICTOR_FILES),
            "steps": result.step,
            "parameters": sum(parameter.numel() for parameter in objective.model.parameters()),
            "validation_error": result.best,
            "uniform_error": objective.error(lambda _, mask: normalised_scores(torch.zeros_like(mask), mask)),
            "skipped_steps": result.skipped,
            "seconds": round(result.seconds, 3),
        }


class AttentionObjective(Objective[Batch]):
    """The squared error of the predicted attention of a trained decoder (Ma & Zong 2022, sec. 4.2.1)."""

    measures = ("error",)
    unit = "squared error/paragraph"

    def __init__(self, shards: Shards, trained: TrainedSummarizer, batch_tokens: int, seed: int) -> None:
        self.trained, self.batch_tokens = trained, batch_tokens
        self.device = next(trained.model.parameters()).device
        self.size = size = to_config_dict(trained.model)["model_size"]
        torch.manual_seed(seed)
        self.model: AttentionPredictor = AttentionPredictor(
            AttentionPredictorConfig(size, _FEED_FORWARD * size, _HEADS, _LAYERS, DROPOUT)
        )
        self.stream = BatchStream(
            SplitShards(shards, "train", trained.graph), trained.layout, batch_tokens=batch_tokens, seed=seed
        )
        self.valid = [validation_examples(shards, trained.graph, _VALIDATION_ARTICLES)]

    def batches(self, start: Position) -> Iterator[Batch]:
        """Yield the stream's batches, without end."""
        return self.stream.batches(start)

    def units(self, batch: Batch) -> int:
        """Return the number of paragraphs of a batch."""
        return int(batch.source.paragraph_mask.sum())

    @torch.no_grad()
    def inputs(self, batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """Return paragraph embeddings [B, P, D], which of them exist [B, P], and the attention to them [B, P]."""
        model, bfloat16 = self.trained.model, device.type == "cuda"
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bfloat16):
            memory = model.encode(batch.source.to(device))
            target = batch.target.to(device, non_blocking=True)
            labels_BP = attention_labels(model, memory, target, batch.source.pad)
        with_paragraphs = paragraph_memory(memory)
        return with_paragraphs.paragraphs.float(), with_paragraphs.paragraph_mask, labels_BP.float()

    def loss(self, paragraphs_BPD: Tensor, mask_BP: Tensor, labels_BP: Tensor) -> tuple[Tensor, ...]:
        """Return the squared error summed over paragraphs, both as loss and as measure; no further units."""
        error = attention_loss(self.model(paragraphs_BPD, mask_BP), labels_BP, mask_BP) * mask_BP.sum()
        return error, error.detach(), torch.zeros_like(error)

    def validate(self, losses: Callable[[Batch], tuple[float, ...]]) -> Validation | None:
        """Return the mean squared error over the paragraphs of the validation articles."""
        error = self.error(self.model)
        return None if error is None else Validation(error, {"error": error})

    @torch.no_grad()
    def error(self, expected: Callable[[Tensor, Tensor], Tensor]) -> float | None:
        """Return the mean squared error of a prediction made from paragraph embeddings and their mask."""
        total, paragraphs = 0.0, 0
        for batch in sweep(self.valid, self.trained.layout, batch_tokens=self.batch_tokens):
            paragraphs_BPD, mask_BP, labels_BP = self.inputs(batch, self.device)
            count = int(mask_BP.sum())
            total += count * attention_loss(expected(paragraphs_BPD, mask_BP), labels_BP, mask_BP).item()
            paragraphs += count
        return total / paragraphs if paragraphs else None

    def remedy(self, batch: Batch) -> str:
        """Return the shape of the batch and advise a smaller token budget."""
        return f"sources {tuple(batch.source.tokens.shape)}: lower batch_tokens (now {self.batch_tokens})"
