"""A handful of examples with their vocabulary and graphs, and settings that train a summarizer on them in seconds."""

import io
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import sentencepiece

from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, EXAMPLES, GRAPHS, PARAGRAPHS
from tasks.summarization.settings import SummarizerSettings, TrainingSettings, VocabularySettings
from tasks.summarization.vocabulary import train_vocabulary

FACTS = {
    "Aral": "Aral is a river in the north of Tavia.",
    "Boreth": "Boreth is a city on the southern coast.",
    "Cyrine": "Cyrine was a painter born in Boreth.",
    "Dolva": "Dolva is a film about the river Aral.",
}
TINY = SummarizerSettings(
    preset="ht",
    overrides={
        "model_size": 32,
        "feed_forward_size": 64,
        "heads": 2,
        "local_layers": 1,
        "global_layers": 1,
        "dropout": 0.0,
    },
    max_paragraphs=3,
    max_paragraph_tokens=40,
    max_target_tokens=60,
)
FEW = TrainingSettings(
    steps=6,
    batch_tokens=512,
    accumulation=1,
    warmup=20,
    validation_interval=2,
    keep_best=2,
    log_interval=2,
    decoded_articles=2,
    learning_rate_factor=1,
    torch_threads=1,
)

# Steps in which a small pre-trained model or its extractor learns FACTS by heart.
BY_HEART = TrainingSettings(
    steps=150,
    batch_tokens=900,
    accumulation=1,
    schedule="linear",
    learning_rate=0.01,
    warmup=10,
    label_smoothing=0,
    validation_interval=150,
    decoded_articles=1,
    torch_threads=1,
)


@dataclass(frozen=True)
class InMemory:
    """Shards of examples and graphs."""

    tables: list[tuple[pa.Table, ...]]

    def __len__(self) -> int:
        return len(self.tables)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        return self.tables[shard]


@cache
def vocabulary() -> Vocabulary:
    ids = [f"{n:016x}" for n in range(len(FACTS))]
    articles = {name: [None] * len(ids) for name in ARTICLES.schema.names}
    articles |= {"article_id": ids, "title": list(FACTS), "lead": list(FACTS.values()), "split": ["train"] * len(ids)}
    table = pa.table(articles, schema=ARTICLES.schema)
    settings = VocabularySettings(pieces=330, threads=1)
    return Vocabulary.of(train_vocabulary([(table, PARAGRAPHS.schema.empty_table())], settings, seed=0))


def examples(split: str, *, titles: list[str] | None = None, paragraphs: int = 3) -> pa.Table:
    """An example for each fact: its paragraphs say so, and something else."""
    words = vocabulary()
    rows = []
    for title in titles or list(FACTS):
        texts = [FACTS[title], "See the map of Tavia.", "No more is known.", "Nothing."][:paragraphs]
        row = {
            "article_id": f"{split}-{title}",
            "split": split,
            "title": words.encode(title),
            "source": [words.encode(text) for text in texts],
            "slots": [],
            "target": [words.begin, *words.encode(FACTS[title]), words.end],
            "title_text": title,
            "target_text": FACTS[title],
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=EXAMPLES.schema)


def graphs(table: pa.Table) -> pa.Table:
    """A similarity edge between the first two paragraphs of every article, and none in the discourse graph."""
    rows = [
        {"article_id": id_, "nodes": 3, "similarity": [{"i": 0, "j": 1, "weight": 0.5}], "discourse": []}
        for id_ in reversed(table.column("article_id").to_pylist())
    ]
    return pa.Table.from_pylist(rows, schema=GRAPHS.schema)


def shards() -> InMemory:
    """Two shards of training examples, validation examples in both."""
    return InMemory(
        [
            (pa.concat_tables([examples("train"), examples("valid", titles=["Aral"])]),),
            (pa.concat_tables([examples("valid", titles=["Cyrine"]), examples("train", titles=["Boreth"])]),),
        ]
    )


def released_vocabulary() -> Vocabulary:
    """A small vocabulary with the special pieces of the released ranked WikiSum at their places."""
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the river aral rises in the hills .", "it flows north to the sea ."] * 5),
        model_writer=writer,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        user_defined_symbols=["<T>", "<S>", "</S>", "<PAD>", "<P>", "<Q>"],
    )
    return Vocabulary(writer.getvalue())
