"""BERTSUMEXT (Liu & Lapata 2019, *Text Summarization with Pretrained Encoders*): BERT learns to choose the sentences of
a summary, before its encoder learns to write; and the summaries of the sentences that it chooses.

Shapes: B articles, N sentences of an article; a title with BERT's `[CLS]` before it counts as one."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch
import torch.nn.functional as F
from torch import Tensor

from models.bertsum import BertSumConfig, SentenceExtractor, best_sentences
from models.exported import CONFIG, VOCABULARY, WEIGHTS
from models.layers.paragraphs import SourceBatch
from models.sentences import split_sentences
from models.training.batches import Batch, BatchStream, ExampleShards, Position, check_budget, sweep
from models.training.checkpoints import write_bytes_atomically, write_json_atomically
from models.training.distributed import Ranks, find_device
from models.training.layout import ExampleTable, Layout, source_batch
from models.training.state import Objective, TrainingProgress, Validation
from models.training.trainer import Trainer
from models.vocabulary import Vocabulary
from models.weights_file import load_weights
from storage.schemas import PREDICTIONS
from tasks.engine.grouping import join_by_article
from tasks.engine.recipe import Shards
from tasks.engine.torch_threads import torch_threads
from tasks.evaluation.baselines import best_rouge2, predict_baselines, prediction
from tasks.evaluation.settings import EXTRACTOR, BaselineSettings
from tasks.summarization.examples import layout_of
from tasks.summarization.fresh_model import fresh_extractor, start_digest
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tasks.summarization.training import (
    SplitShards,
    fixed_settings,
    learning_rate,
    outcome,
    trainer_settings,
    validation_examples,
)
from tasks.text.ngrams import WordRule

FILES = (WEIGHTS, CONFIG, VOCABULARY)
SHARE = 4  # 50,000 steps to extract before 200,000 to write (sec. 4.2)
_NO_CANDIDATE = -1
_BATCH, _THREADS = 16, 1  # articles scored at a time, and threads of torch: shards are summarized in parallel


def train_extractor(
    shards: Shards,
    vocabulary: pa.Table | Vocabulary,
    settings: SummarizerSettings,  # of the summarizer (BERTSUMEXTABS) that continues from the encoder
    *,
    training: TrainingSettings,  # of that summarizer; here there are a quarter of its steps, at its encoder's rate
    directory: Path,  # gets the files of the model and metrics.jsonl, and checkpoints meanwhile
    seed: int,  # of weights, dropout and the order of examples
    device: str = "cpu",  # auto | cpu | cuda | cuda:N
    progress: Callable[[TrainingProgress], None] | None = None,  # see `Trainer`
) -> dict[str, Any]:
    """Train the extractor in `directory`, or continue an interrupted training there, and return metrics of the run;
    `published` names the files of the model. Its labels are the sentences that together have the highest ROUGE-2 F1
    with the lead, found greedily (sec. 4.2) over the pieces that are read. Raises ValueError: the settings contradict
    each other or the run in `directory`, or no training examples are given. TrainingError: training cannot continue,
    see its message. TrainingStopped: by SIGTERM; the same call continues from the checkpoint that was saved."""
    words = Vocabulary.of(vocabulary, "sentences")
    layout = layout_of(settings, words)
    check_budget(layout, training.batch_tokens)
    training = training.model_copy(update={"steps": max(1, training.steps // SHARE), "keep_best": 1})
    valid = validation_examples(shards, "none", training.validation_articles)
    with torch_threads(training.torch_threads):
        model = fresh_extractor(settings, words, seed, dropout=training.dropout)
        objective = ExtractionObjective(model, SplitShards(shards, "train"), valid, layout, training.batch_tokens, seed)
        started = {} if settings.pretrained is None else {"pretrained_sha256": start_digest(settings.pretrained)}
        trainer = Trainer(
            objective,
            learning_rate(training, model.config.model_size, rate=model.config.encoder_rate),
            trainer_settings(training, seed),
            directory,
            ranks=Ranks(find_device(device)),
            progress=progress,
            fingerprint={**settings.recipe(), **fixed_settings(training), **started, "seed": seed},
        )
        result = trainer.run()
        write_bytes_atomically(directory / VOCABULARY, words.model)
        record = {"architecture": EXTRACTOR, "config": asdict(model.config), "layout": asdict(layout)}
        write_json_atomically(directory / CONFIG, record)
    results = outcome(result, model)
    return {**results, "validation_loss": results.pop("validation_nll"), **started, "published": list(FILES)}


class ExtractionObjective(Objective[Batch]):
    """The binary cross entropy of each sentence (sec. 3.2). The target of a batch, [B, N] int64, is 1 for a sentence
    that is chosen, 0 for another, -1 for none."""

    measures = ("loss",)
    unit = "nats/sentence"

    def __init__(
        self,
        model: SentenceExtractor,
        examples: ExampleShards,  # of the training split
        valid: pa.Table,  # examples that choose the best checkpoint
        layout: Layout,
        batch_tokens: int,
        seed: int,
    ) -> None:
        """Make the objective; nothing is read yet."""
        self.model: SentenceExtractor = model
        self.layout, self.batch_tokens, self.valid = layout, batch_tokens, valid
        self.stream = BatchStream(examples, layout, batch_tokens=batch_tokens, seed=seed)

    def batches(self, start: Position) -> Iterator[Batch]:
        """Yield the stream's batches that have a sentence, without end. Raises ValueError: an epoch has none."""
        result = False
        for batch in self.stream.batches(start):
            labelled = self._labelled(batch)
            if self.units(labelled):
                result = True
                yield labelled
            elif not result and batch.following.epoch > start.epoch + 1:
                raise ValueError("expected sentences to extract, found none in what is read of the training articles")

    def units(self, batch: Batch) -> int:
        """Return the number of sentences of a batch."""
        return int((batch.target != _NO_CANDIDATE).sum())

    def inputs(self, batch: Batch, device: torch.device) -> tuple[SourceBatch, Tensor]:
        """Return source and labels on the device."""
        return batch.source.to(device), batch.target.to(device, non_blocking=True)

    def loss(self, source: SourceBatch, labels_BN: Tensor) -> tuple[Tensor, ...]:
        """Return the cross entropy summed over sentences, both as loss and as measure; no further units."""
        scores_BN, _ = self.model(source)
        candidates = labels_BN != _NO_CANDIDATE
        loss = F.binary_cross_entropy_with_logits(
            scores_BN[candidates].float(), labels_BN[candidates].float(), reduction="sum"
        )
        return loss, loss.detach(), torch.zeros_like(loss)

    def validate(self, losses: Callable[[Batch], tuple[float, ...]]) -> Validation | None:
        """Return the mean loss of a sentence of the validation articles."""
        total, sentences = 0.0, 0
        for batch in map(self._labelled, sweep([self.valid], self.layout, batch_tokens=self.batch_tokens)):
            if self.units(batch):
                total, sentences = total + losses(batch)[0], sentences + self.units(batch)
        return Validation(total / sentences, {"loss": total / sentences}) if sentences else None

    def remedy(self, batch: Batch) -> str:
        """Return the shape of the batch and advise a smaller token budget."""
        return f"sources {tuple(batch.source.tokens.shape)}: lower batch_tokens (now {self.batch_tokens})"

    def _labelled(self, batch: Batch) -> Batch:
        """Return a batch with labels for its target."""
        mark, titled = self.model.config.mark, self.layout.source_begin == self.model.config.mark
        rows = [
            sentence_labels(source[source != self.layout.pad].tolist(), target.tolist(), mark, titled=titled)
            for source, target in zip(batch.source.tokens, batch.target, strict=True)
        ]
        labels = torch.full((len(rows), max(1, *map(len, rows))), _NO_CANDIDATE)
        for row, own in enumerate(rows):
            labels[row, : len(own)] = torch.tensor(own, dtype=torch.int64)
        return replace(batch, target=labels)


def sentence_labels(source: Sequence[int], target: Sequence[int], mark: int, *, titled: bool) -> list[int]:
    """Return the label of each sentence of a source, given as tokens with a mark before each. The sentences that
    together have the highest ROUGE-2 F1 with the target get 1, the others 0, and a title with a mark (`titled`) -1."""
    sentences: list[list[str]] = []
    for token in source:
        if token == mark:
            sentences.append([])
        elif sentences:
            sentences[-1].append(str(token))
    title = [_NO_CANDIDATE] if titled and sentences else []
    candidates = sentences[len(title) :]
    chosen = set(best_rouge2([str(token) for token in target], candidates))
    return title + [int(number in chosen) for number in range(len(candidates))]


@dataclass(frozen=True)
class TrainedExtractor:
    """An extractor and how to prepare its input."""

    model: SentenceExtractor  # on its device, in evaluation mode
    vocabulary: Vocabulary
    layout: Layout


def load_extractor(directory: Path, device: torch.device | str = "cpu") -> TrainedExtractor:
    """Read an extractor onto `device`. Raises ValueError: the directory has none, or a file is damaged."""
    try:
        record = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        if record["architecture"] != EXTRACTOR:
            raise ValueError(f"a model of architecture {record['architecture']!r}")
        config, layout = BertSumConfig(**record["config"]), Layout(**record["layout"])
        vocabulary = Vocabulary.from_file(directory / VOCABULARY)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"expected a trained extractor in {directory}: {error!r}") from error
    model = SentenceExtractor(config)
    load_weights(model, directory / WEIGHTS)
    return TrainedExtractor(model.to(device).eval(), vocabulary, layout)


def predict_with_extractor(
    articles: pa.Table,
    ranked: pa.Table,
    examples: pa.Table,  # of the same shard, with a mark before each sentence
    extractor: Path,  # directory of a trained extractor
    settings: BaselineSettings,
    words: WordRule = "rouge",
    *,
    read: int | None = None,
    training: Shards | None = None,
    device: str = "cpu",  # auto | cpu | cuda | cuda:N
) -> pa.Table:
    """Summarize as `predict_baselines` does, whose arguments these are, and with the extractor: the best sentences of
    what it reads, as many as the target has words. Raises ValueError: the extractor does not exist."""
    others = settings.model_copy(update={"systems": tuple(name for name in settings.systems if name != EXTRACTOR)})
    plain = predict_baselines(articles, ranked, others, words, read=read, training=training)
    trained = load_extractor(extractor, find_device(device))
    with torch_threads(_THREADS):
        rows = [prediction(article, EXTRACTOR, text) for article, text in extracts(trained, articles, ranked, examples)]
    own = pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)
    return pa.concat_tables([plain, own]).sort_by("article_id")


@torch.inference_mode()
def extracts(
    trained: TrainedExtractor, articles: pa.Table, ranked: pa.Table, examples: pa.Table
) -> Iterator[tuple[str, str]]:
    """Yield the id of each article of the test split that has an example, and its best sentences."""
    wanted = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], "test")))
    joined = [(id_, *rows) for id_, *rows in join_by_article(wanted, ranked, examples) if rows[2].num_rows]
    device = next(trained.model.parameters()).device
    mark, layout = trained.model.config.mark, trained.layout
    titled = layout.source_begin == mark
    for start in range(0, len(joined), _BATCH):
        group = joined[start : start + _BATCH]
        laid_out = [ExampleTable(example, layout).example(0) for *_, example in group]
        scores_BN, _ = trained.model(source_batch(laid_out, layout).to(device))
        for (id_, article, paragraphs, _), example, scores_N in zip(group, laid_out, scores_BN.cpu(), strict=True):
            texts: list[str] = []
            for rank, tokens in zip(example.ranks, example.paragraphs, strict=True):
                marks = int((tokens == mark).sum()) - (titled and rank == 0)
                its = split_sentences(paragraphs["text"][int(rank)].as_py()) if marks else []
                texts += [text for text in its if trained.vocabulary.encode(text)][:marks]
            scores = scores_N[titled : titled + len(texts)].tolist()
            chosen = best_sentences(scores, texts, len(article["lead"][0].as_py().split()))
            yield id_, " ".join(" ".join(texts[number].split()) for number in chosen)
