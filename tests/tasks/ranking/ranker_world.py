"""A small world in which worth can be learned: paragraphs that tell facts, and ones that only drop the title's name."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import pyarrow as pa

from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, FEATURES, PARAGRAPHS
from tasks.ranking.features import compute_features
from tasks.summarization.settings import VocabularySettings
from tasks.summarization.vocabulary import train_vocabulary

FACTS = ["it flows past the old mill", "its basin is wide and flat", "it was named by early settlers"]
CHATTER = ["share this page with your friends", "tickets are sold at the gate", "the weather is mild today"]


@dataclass(frozen=True)
class InMemory:
    """Shards held as tables."""

    shards: Sequence[tuple[pa.Table, ...]]

    def __len__(self) -> int:
        return len(self.shards)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        return self.shards[shard]


def articles(*rows: dict[str, object]) -> pa.Table:
    """ARTICLES rows; title, lead and split have defaults."""
    defaults = {"title": "river", "lead": "a river", "split": "train"}
    return pa.Table.from_pylist([defaults | row for row in rows], schema=ARTICLES.schema)


def paragraphs(*rows: tuple[str, int, str, str | None]) -> pa.Table:
    """PARAGRAPHS rows of (article_id, paragraph_id, text, drop_reason)."""
    names = ("article_id", "paragraph_id", "text", "drop_reason")
    places = {"url": "http://a.test/", "provenance": "citation", "position": 7}
    return pa.Table.from_pylist([places | dict(zip(names, row, strict=True)) for row in rows], PARAGRAPHS.schema)


def features(*rows: tuple[str, int, float, float]) -> pa.Table:
    """FEATURES rows of (article_id, paragraph_id, rouge2_recall, title_similarity)."""
    return pa.table(dict(zip(FEATURES.schema.names, zip(*rows, strict=True), strict=True)), schema=FEATURES.schema)


@cache
def world(shards: int = 3, per_shard: int = 14) -> InMemory:
    """Articles of three splits; a third of their paragraphs tell facts of the lead and never name the title."""
    dice = Random(5)
    tables = []
    for shard in range(shards):
        topics = [f"{dice.choice('bdfgk')}a{dice.choice('lmnr')}o{number}" for number in range(per_shard)]
        ids = [f"{shard}{number:03d}" for number in range(per_shard)]
        splits = ["valid" if n % 7 == 5 else "test" if n % 7 == 6 else "train" for n in range(per_shard)]
        leads = [f"{topic} is a river. {'. '.join(FACTS)}." for topic in topics]
        about = [
            {"article_id": i, "title": t, "lead": lead, "split": s}
            for i, t, lead, s in zip(ids, topics, leads, splits, strict=True)
        ]
        rows = []
        for id_, topic in zip(ids, topics, strict=True):
            for number in range(12):
                padding = " ".join(dice.sample(CHATTER, dice.randint(1, 3)))
                told = dice.choice(FACTS) if number % 3 == 0 else f"all about {topic} {topic}"
                rows.append((id_, number, f"{told}. {padding}.", None if number < 11 else "filtered"))
        tables.append((articles(*about), paragraphs(*rows)))
    return InMemory([(a, p, pa.Table.from_batches(compute_features(a, p))) for a, p in tables])


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary of `world`."""
    pairs = [(shard[0], shard[1]) for shard in world().shards]
    return Vocabulary.of(train_vocabulary(pairs, VocabularySettings(pieces=400, threads=1), seed=1))
