"""What denoising pre-training is worth, by the number of articles that a summarizer is then trained on.

    python -m benchmarks.pretraining_curve FOLDER [--real scisummnet_mds.jsonl.gz] [--steps 200] [--sizes 50,200,800]

One small BART with copying is pre-trained on paragraphs of other mini webs and, with --real, of scientific papers
(ScisummNet, Yasunaga et al. 2019); it is then fine-tuned on articles of a mini web that it has not seen, beside the
same BART with fresh weights. Both have the same vocabulary, examples, steps and search, so they differ in their first
weights alone; FOLDER/curve-METRIC.png draws it. Paragraphs are read as they are found, from the pages that an
article cites; no web is crawled and no ranker trained. One thread. FOLDER keeps what is done, and the same command
continues.
"""

import gzip
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.frame import command
from benchmarks.scisummnet import records
from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, PARAGRAPHS, RANKED
from tasks.evaluation.registry import metric_name
from tasks.evaluation.scoring import score_predictions
from tasks.evaluation.settings import ScoringSettings
from tasks.pretraining.passages import build_passages
from tasks.pretraining.settings import PretrainingSettings
from tasks.pretraining.training import pretrain
from tasks.reporting.curves import Curve
from tasks.reporting.plots import curve_picture
from tasks.sources.miniweb.links import Links
from tasks.sources.miniweb.pages import Pages
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.world import World
from tasks.summarization.decoding import decode_shard
from tasks.summarization.examples import build_examples
from tasks.summarization.settings import (
    DecodingSettings,
    ExampleSettings,
    SummarizerSettings,
    TrainingSettings,
    VocabularySettings,
)
from tasks.summarization.training import train_summarizer
from tasks.summarization.vocabulary import train_vocabulary
from tasks.text.vocabulary import read_vocabulary

PAGES, READ = 3, 6  # pages of an article, and paragraphs read of them
VALID, TEST = 30, 50  # articles
OTHER_WORLDS, WORLD = (11, 12), 1
CURVE, NLL = "curve.json", "validation_nll"
METRICS = ("values-input", "values-right", "values-recalled", "facts-right", "rouge1", "rouge2", "rougeL")
SUMMARIZER = SummarizerSettings(
    preset="bart-small",
    overrides={
        "model_size": 96,
        "feed_forward_size": 384,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_positions": 320,
        "source_tokens": 320,
    },
    copying=True,
    max_paragraphs=READ,
    max_paragraph_tokens=48,
    max_target_tokens=144,
)
TRAINING = TrainingSettings(
    steps=200,
    batch_tokens=1000,
    accumulation=1,
    schedule="linear",
    learning_rate=1.5e-3,
    warmup=50,
    label_smoothing=0,
    validation_interval=100,
    validation_articles=VALID,
    decoded_articles=0,
    torch_threads=1,
    log_interval=20,
)


@dataclass(frozen=True)
class Tables:
    """Articles with their paragraphs in one shard, read as training reads shards."""

    tables: tuple[pa.Table, ...]

    def __len__(self) -> int:
        return 1

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        """Return the tables."""
        return self.tables


def corpus(sources: Iterator[tuple[str, str, list[list[str]]]], valid: int, test: int) -> tuple[pa.Table, pa.Table]:
    """Return ARTICLES and PARAGRAPHS rows of (title, lead, paragraphs of each page); the last articles are held out."""
    known = list(sources)
    articles, paragraphs = [], []
    for number, (title, lead, pages) in enumerate(known):
        left = len(known) - number
        split = "test" if left <= test else "valid" if left <= test + valid else "train"
        one = {"article_id": f"{number:06}", "title": title, "lead": lead, "split": split}
        articles.append(one)
        kept = [(page, place, text) for page, texts in enumerate(pages) for place, text in enumerate(texts)]
        for paragraph, (page, place, text) in enumerate(kept):
            paragraphs.append(
                {
                    "article_id": one["article_id"],
                    "paragraph_id": paragraph,
                    "url": f"page:{page}",
                    "provenance": "citation",
                    "position": place,
                    "text": text,
                }
            )
    return (
        pa.Table.from_pylist(articles, schema=ARTICLES.schema),
        pa.Table.from_pylist(paragraphs, schema=PARAGRAPHS.schema),
    )


def miniweb(seed: int, topics: int) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Yield title, lead and the paragraphs of the first cited pages of each topic of a world."""
    settings = MiniwebSettings(seed=seed, topics=topics)
    world = World(seed)
    pages = Pages(settings, world, Links(settings, world))
    for topic in range(topics):
        texts = [list(pages.page(topic, slot).paragraphs) for slot in range(PAGES)]
        yield world.title(topic), pages.lead(topic), texts


def papers(file: Path, count: int) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Yield title, summary and paragraphs of papers."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for record in islice(records(map(json.loads, lines)), count):
            yield record["title"], record["lead"], [document["paragraphs"] for document in record["documents"]]


def found_order(articles: pa.Table, paragraphs: pa.Table) -> pa.Table:
    """Return RANKED rows: the first paragraph of each page, then the second of each, and so on."""
    rows: list[dict[str, Any]] = []
    by_article: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in paragraphs.to_pylist():
        by_article.setdefault(row["article_id"], {}).setdefault(row["url"], []).append(row)
    for article in articles["article_id"].to_pylist():
        turns = chain.from_iterable(zip_longest(*by_article[article].values()))
        best = islice((row for row in turns if row is not None), READ)
        names = ("article_id", "paragraph_id", "url", "position", "text")
        rows += [{**{n: row[n] for n in names}, "rank": rank, "score": 0.0} for rank, row in enumerate(best)]
    return pa.Table.from_pylist(rows, schema=RANKED.schema)


def first_trained(examples: pa.Table, size: int) -> pa.Table:
    """Return the first `size` training articles, and all that are held out."""
    train = examples.filter(pc.equal(examples["split"], "train")).slice(0, size)
    return pa.concat_tables([train, examples.filter(pc.not_equal(examples["split"], "train"))])


def checkpoint(folder: Path, topics: int, real: Path | None, steps: int) -> Vocabulary:
    """Pre-train in `folder`/pretrained, unless that is done, and return the vocabulary."""
    sources = chain(*(miniweb(seed, topics) for seed in OTHER_WORLDS), papers(real, topics // 2) if real else ())
    articles, paragraphs = corpus(sources, valid=0, test=0)
    # Every twentieth article validates.
    splits = ["valid" if number % 20 == 0 else "train" for number in range(articles.num_rows)]
    articles = articles.set_column(articles.schema.get_field_index("split"), "split", pa.array(splits))
    settings = VocabularySettings(pieces=4000, model_type="byte-bpe")
    vocabulary = train_vocabulary([(articles, paragraphs)], settings, seed=1)
    noise = PretrainingSettings(passage_tokens=96)
    passages = build_passages(articles, paragraphs, vocabulary, noise)
    print(f"{articles.num_rows} articles of other worlds, {passages.num_rows} passages", flush=True)
    started = time.process_time()
    training = TRAINING.model_copy(update={"steps": steps, "validation_articles": 60, "validation_interval": 125})
    metrics = pretrain(
        Tables((passages,)),
        vocabulary,
        noise,
        summarizer=SUMMARIZER,
        training=training,
        directory=folder / "pretrained",
        seed=1,
        progress=lambda state: print(f"  {state}", flush=True),
    )
    print(
        f"{metrics['parameters']:,} parameters, validation nll {metrics['validation_nll']:.3f}, "
        f"{time.process_time() - started:.0f} s of processor time",
        flush=True,
    )
    return read_vocabulary(vocabulary)


def compare(folder: Path, words: Vocabulary, sizes: Sequence[int], steps: int) -> None:
    """Fine-tune, decode and score at every size from both starts, and print a table."""
    articles, paragraphs = corpus(miniweb(WORLD, max(sizes) + VALID + TEST), valid=VALID, test=TEST)
    ranked = found_order(articles, paragraphs)
    examples = build_examples(articles, ranked, words, ExampleSettings())
    world = MiniwebSettings(seed=WORLD, topics=articles.num_rows)
    decoding = DecodingSettings(
        beam=4, min_length=20, max_length=140, block_ngrams=4, source_values=True, batch_articles=20
    )
    training = TRAINING.model_copy(update={"steps": steps, "validation_interval": max(steps // 4, 1)})
    curve: list[dict[str, Any]] = []
    print(" ".join(["articles", "start     ", "   nll", *(f"{name:>16}" for name in METRICS), " s"]), flush=True)
    for size in sizes:
        for start in ("fresh", "pretrained"):
            began = time.process_time()
            given = str(folder / "pretrained") if start == "pretrained" else None
            directory = folder / f"{start}-{size}-{steps}"
            metrics = train_summarizer(
                Tables((first_trained(examples, size),)),
                words,
                SUMMARIZER.model_copy(update={"pretrained": given}),
                training=training,
                directory=directory,
                seed=1,
            )
            summaries = decode_shard(examples, directory, decoding, system=start)
            (folder / f"{directory.name}.json").write_text(json.dumps(summaries["summary"].to_pylist(), indent=1))
            scores = score_predictions(
                articles, summaries, ranked, paragraphs, ScoringSettings(metrics=METRICS), world, device="cpu"
            )
            means = [pc.mean(scores.filter(pc.equal(scores["metric"], name))["value"]).as_py() for name in METRICS]
            # A metric is undefined where no summary has what it counts, such as a sentence that states a fact.
            shown = " ".join(f"{'-' if mean is None else format(100 * mean, '.2f'):>16}" for mean in means)
            print(f"{size:8} {start:10} {metrics[NLL]:7.3f} {shown} {time.process_time() - began:4.0f}", flush=True)
            figures = {NLL: metrics[NLL], **dict(zip(METRICS, means, strict=True))}
            curve.append({"articles": size, "start": start, "figures": figures})
            (folder / CURVE).write_text(json.dumps(curve, indent=1))


def curves(found: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """Return a curve for each figure of the benchmark's rows, which have `articles`, `start` and `figures`, by name."""
    drawn = []
    for name in dict.fromkeys(name for row in found for name in row["figures"]):
        label = "validation nll (nats per token)" if name == NLL else f"{metric_name(name)} (%)"
        factor = 1 if name == NLL else 100
        series: dict[str, list[tuple[float, float]]] = {}
        for row in found:
            # Undefined where no summary has what it counts.
            if row["figures"].get(name) is not None:
                series.setdefault(row["start"], []).append((row["articles"], factor * row["figures"][name]))
        if series:
            drawn.append(Curve(f"curve-{name}", "Worth of pre-training", label, series, "training articles"))
    return drawn


def main(
    folder: Path,
    real: Path | None = None,
    topics: int = 150,
    steps: int = 200,
    tuning_steps: int = 60,
    sizes: str = "50,200,800",
) -> None:
    """Pre-train, then draw the curve."""
    began = time.process_time()
    words = checkpoint(folder, topics, real, steps)
    compare(folder, words, [int(size) for size in sizes.split(",")], tuning_steps)
    for curve in curves(json.loads((folder / CURVE).read_text())):
        (folder / f"{curve.name}.png").write_bytes(curve_picture(curve))
    print(f"{time.process_time() - began:.0f} s of processor time in all")


if __name__ == "__main__":
    command(main, __doc__)
