"""Train a BART to restore passages (Lewis et al. 2020), and leave a folder that `summarizer.pretrained` takes. Passages
get noise (sec. 2.2): sentences in another order, spans hidden.

Shapes: S sentences, n tokens of a passage, k hidden spans, m tokens in them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from models.bart import Bart
from models.exported import CONFIG, WEIGHTS
from models.pretrained import save_pretrained
from models.tokenization.huggingface_tokenizer import tokenizer_files
from models.training.batches import check_budget
from models.training.checkpoints import write_bytes_atomically
from models.training.distributed import process_count, process_group
from models.training.layout import Layout
from models.training.state import TrainingProgress
from models.vocabulary import Vocabulary
from models.weights_file import load_weights
from storage.schemas import PASSAGES
from tasks.engine.recipe import Shards
from tasks.engine.torch_threads import torch_threads
from tasks.engine.torchrun import run_processes
from tasks.pretraining.passages import PASSAGE_TOKENS
from tasks.summarization.fresh_model import fresh_model, start_digest
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tasks.summarization.training import SplitShards, fixed_settings, outcome, token_trainer

Tokens = NDArray[np.int32]


@dataclass(frozen=True)
class Denoising:
    """Turns passages into examples: the source is a passage with noise, the target the passage."""

    mask: int  # id that stands for a hidden span, whatever its length (text infilling)
    begin: tuple[int, ...]  # ids with which a target begins
    end: int  # id that ends it
    seed: int  # of the noise, which is new in every epoch
    share: float = 0.3  # of the tokens that are hidden, 0-1 (Lewis et al. 2020, sec. 4: .3).
    # mean of the Poisson distribution of span lengths, in tokens (Lewis et al. 2020, sec. 2.2: 3); a span of length 0
    # adds a mask where nothing is missing
    span: float = 3.0

    def __call__(self, passages: pa.Table, epoch: int, shard: int) -> pa.Table:
        """Return the columns that batches read of examples, given the column `sentences` (list<list<int32>>) of a
        shard; another epoch has other noise."""
        rng = np.random.default_rng((self.seed, epoch, shard))
        sources: list[list[Any]] = []
        targets: list[Any] = []
        for row in passages.column("sentences"):
            sentences = [np.array(sentence, dtype=np.int32) for sentence in row.as_py()]
            permuted = np.concatenate([sentences[number] for number in rng.permutation(len(sentences))])
            sources.append([self.infill(permuted, rng)])
            targets.append(np.concatenate([np.array(self.begin, np.int32), *sentences, np.array([self.end], np.int32)]))
        tokens = pa.list_(pa.int32())
        return pa.table(
            {
                "title": pa.array([[]] * len(sources), tokens),
                "source": pa.array(sources, pa.list_(tokens)),
                "target": pa.array(targets, tokens),
            }
        )

    def infill(self, tokens: Tokens, rng: np.random.Generator) -> Tokens:
        """Hide spans: `share` of the tokens in all, rounded; every arrangement of the spans is equally likely."""
        spans: list[int] = []
        left = round(self.share * len(tokens))
        kept = len(tokens) - left
        while left > 0:  # the last span is cut
            spans.append(min(int(rng.poisson(self.span)), left))
            left -= spans[-1]
        items = kept + len(spans)  # what the result consists of: kept tokens, and a mask for each span
        masks = np.zeros(items, dtype=bool)
        masks[rng.choice(items, len(spans), replace=False)] = True
        hidden = np.zeros(items, dtype=np.int64)
        hidden[masks] = spans
        noisy = np.full(items, self.mask, dtype=tokens.dtype)
        noisy[~masks] = tokens[np.arange(kept) + np.cumsum(hidden)[~masks]]
        return noisy


def pretrain(
    shards: Shards,
    vocabulary: pa.Table | Vocabulary,
    *,
    summarizer: SummarizerSettings,
    training: TrainingSettings,
    directory: Path,
    seed: int,
    device: str = "cpu",
    passage_tokens: int = PASSAGE_TOKENS,  # most tokens of a passage
    progress: Callable[[TrainingProgress], None] | None = None,
) -> dict[str, Any]:
    """Train in `directory`, or continue an interrupted training there; return its metrics and `published`, the files.
    The directory becomes a folder in Hugging Face's layout, with the best weights by validation loss. `shards` have
    passages of the splits `train` and `valid`, the vocabulary a mask. `progress` is called every `log_interval` steps
    and after a validation. Raises ValueError: the settings contradict each other or the run in `directory`, or no
    passage is given. TrainingError: training cannot continue, see its message. TrainingStopped: by SIGTERM; the same
    call continues from the checkpoint that was saved."""
    words = Vocabulary.of(vocabulary)
    if (mask := words.specials.mask) is None:
        raise ValueError(f"the vocabulary ({words.kind}, {words.size} pieces) has no piece for hidden text: no <mask>")
    denoising = Denoising(mask, words.target_start, words.end, seed)
    layout = Layout(
        pad=words.pad,
        title_mark=None,
        max_paragraphs=1,
        max_paragraph_tokens=2 * passage_tokens,  # masks of length 0 may make it longer than its passage
        max_target_tokens=passage_tokens + len(words.target_start) + 1,
        source_begin=words.specials.source_begin,
        source_end=words.specials.source_end,
    )
    check_budget(layout, training.batch_tokens)
    processes = process_count(training.processes, training.accumulation, device)
    if processes > 1:
        arguments = {"shards": shards, "vocabulary": vocabulary, "summarizer": summarizer}
        arguments |= {
            "training": training,
            "directory": directory,
            "seed": seed,
            "device": device,
            "passage_tokens": passage_tokens,
        }
        return run_processes(pretrain, arguments, processes, progress)
    passages = SplitShards(shards, "valid").first(training.validation_articles)
    valid = denoising(PASSAGES.schema.empty_table() if passages is None else passages, 0, len(shards))
    start = None if summarizer.pretrained is None else start_digest(summarizer.pretrained)
    parts = {**summarizer.recipe(), **fixed_settings(training)}
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
