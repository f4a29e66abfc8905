"""Train a BART to restore passages (Lewis et al. 2020), and leave a folder that `summarizer.pretrained` takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from models.bart import Bart
from models.exported import CONFIG, WEIGHTS
from models.pretrained import save_pretrained
from models.tokenization.huggingface_tokenizer import tokenizer_files
from models.training.batches import check_budget
from models.training.checkpoints import write_bytes_atomically
from models.training.denoising import Denoising, Noise
from models.training.distributed import process_count, process_group
from models.training.layout import Layout
from models.training.state import TrainingProgress
from models.vocabulary import Vocabulary
from models.weights_file import load_weights
from storage.schemas import PASSAGES
from tasks.engine.recipe import ReadableShards
from tasks.engine.together import run_together
from tasks.engine.torch_threads import torch_threads
from tasks.pretraining.settings import PretrainingSettings
from tasks.summarization.fresh_model import fresh_model, start_digest
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tasks.summarization.training import SplitShards, fixed_settings, outcome, token_trainer
from tasks.text.vocabulary import read_vocabulary


def pretrain(
    shards: ReadableShards,
    vocabulary: pa.Table | Vocabulary,
    settings: PretrainingSettings,
    *,
    summarizer: SummarizerSettings,
    training: TrainingSettings,
    directory: Path,
    seed: int,
    device: str = "cpu",
    progress: Callable[[TrainingProgress], None] | None = None,
) -> dict[str, Any]:
    """Train in `directory`, or continue an interrupted training there; return its metrics and `published`, the files.

    The directory becomes a folder in Hugging Face's layout, with the best weights by validation loss. `shards` have
    passages of the splits `train` and `valid`, the vocabulary a mask. `progress` is called every `log_interval` steps
    and after a validation. Raises ValueError: the settings contradict each other or the run in `directory`, or there is
    no passage; TrainingError: training cannot continue, see its message; TrainingStopped: by SIGTERM; the same call
    continues from the checkpoint that was saved."""
    words = read_vocabulary(vocabulary)
    if (mask := words.specials.mask) is None:
        raise ValueError(f"the vocabulary ({words.kind}, {words.size} pieces) has no piece for hidden text: no <mask>")
    denoising = Denoising(Noise(mask), words.target_start, words.end, seed)
    layout = Layout(
        pad=words.pad,
        title_mark=None,
        max_paragraphs=1,
        max_paragraph_tokens=2 * settings.passage_tokens,  # masks of length 0 may make it longer than its passage
        max_target_tokens=settings.passage_tokens + len(words.target_start) + 1,
        source_begin=words.specials.source_begin,
        source_end=words.specials.source_end,
    )
    check_budget(layout, training.batch_tokens)
    processes = process_count(training.processes, training.accumulation, device)
    if processes > 1:
        arguments = {"shards": shards, "vocabulary": vocabulary, "settings": settings, "summarizer": summarizer}
        arguments |= {"training": training, "directory": directory, "seed": seed, "device": device}
        return run_together(pretrain, arguments, processes, progress)
    passages = SplitShards(shards, "valid").first(training.validation_articles)
    valid = denoising(PASSAGES.schema.empty_table() if passages is None else passages, 0, len(shards))
    start = None if summarizer.pretrained is None else start_digest(summarizer.pretrained)
    parts = {**settings.recipe(), **summarizer.recipe(), **fixed_settings(training)}
    with torch_threads(training.torch_threads), process_group(device) as ranks:
        model = fresh_model(summarizer, words, seed, dropout=training.dropout)
        assert isinstance(model, Bart), "check_pretraining lets nothing else through"
        trainer = token_trainer(
            model,
            training,
            layout,
            examples=SplitShards(shards, "train"),
            valid=valid,
            directory=directory,
            seed=seed,
            ranks=ranks,
            fingerprint={**parts, "seed": seed, "vocabulary": words.digest, "pretrained": start},
            prepare=denoising,
            progress=progress,
        )
        result = trainer.run()
        files = tokenizer_files(words.model)
        if ranks.rank == 0:
            load_weights(model, directory / WEIGHTS)
            for name, data in files.items():
                write_bytes_atomically(directory / name, data)
            save_pretrained(model.cpu(), directory)
    return {**outcome(result, model), "published": [WEIGHTS, CONFIG, *files]}
