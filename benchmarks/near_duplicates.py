"""Near-duplicates and leakage across articles: cost per paragraph, and recall of pairs that are known.

    python -m benchmarks.near_duplicates [--shards N] [--articles N]

Articles of 525 synthetic paragraphs of 70 words; a twentieth of them is copied from another article with up to three
words changed. All four stages run as in a build, from Parquet to Parquet, one
process; the processor time is that of the whole, imports left out. The bar is 10 million paragraphs in a core-hour, and
.9 of the pairs with Jaccard similarity .8 and more of their 5-grams found. For comparison datasketch's MinHashLSH, with
as many hashes and bands, indexes a sample in the same run: it holds all in memory and finds near-duplicates alone."""

import random
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.frame import command, peak_bytes
from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages import across
from storage.parts import whole
from storage.schemas import ARTICLES, PARAGRAPHS
from storage.store import Store
from tasks.across.shingles import BANDS, ROWS, SHINGLE_WORDS
from tasks.engine.inputs import StageResult
from tasks.engine.recipe import Recipe
from tasks.engine.stage import InlineExecutor, Run

ARTICLE_PARAGRAPHS, PARAGRAPH_WORDS = 525, 70  # Liu & Lapata 2019, sec. 4
COPIED = 0.05  # of the paragraphs
FULL = 10_000_000
PEER_PARAGRAPHS = 5_000
LEAST_RECALL = 0.9
_WORDS = [f"w{number}" for number in range(50_000)]


def texts(number: int) -> list[str]:
    """Return the paragraphs of an article; some are copies of the last article's own, with words changed."""
    draw, own = random.Random(number), _own_texts(number)
    if number == 0:
        return own
    copied = _own_texts(number - 1)
    for place in range(1, int(COPIED * ARTICLE_PARAGRAPHS) + 1):
        own[-place] = _changed(copied[place], draw)
    return own


def _own_texts(number: int) -> list[str]:
    draws = np.random.default_rng((number < 0, abs(number))).random(ARTICLE_PARAGRAPHS * PARAGRAPH_WORDS)
    words = [_WORDS[place] for place in (len(_WORDS) * draws**3).astype(int).tolist()]
    return [" ".join(words[start : start + PARAGRAPH_WORDS]) for start in range(0, len(words), PARAGRAPH_WORDS)]


def _changed(text: str, draw: random.Random) -> str:
    words = text.split()
    for place in draw.sample(range(len(words)), draw.randrange(4)):
        words[place] = "changed"
    return " ".join(words)


def make_articles(shard: int, articles: int) -> pa.Table:
    """Return the articles of a shard; one in ten is of the test split."""
    numbers = range(shard * articles, (shard + 1) * articles)
    rows = [
        {
            "article_id": f"{number:016x}",
            "title": f"Article {number}",
            "lead": " ".join(_own_texts(-number - 1)[:2]),
            "split": "test" if number % 10 == 9 else "train",
        }
        for number in numbers
    ]
    return pa.Table.from_pylist(rows, ARTICLES.schema)


def make_paragraphs(shard: int, articles: int) -> Iterator[pa.RecordBatch]:
    """Yield the paragraphs of a shard, an article at a time; ten to a page."""
    for number in range(shard * articles, (shard + 1) * articles):
        rows = [
            {
                "article_id": f"{number:016x}",
                "paragraph_id": i,
                "url": f"http://h.test/{number}/{i // 10}",
                "text": text,
            }
            for i, text in enumerate(texts(number))
        ]
        yield from pa.Table.from_pylist(rows, PARAGRAPHS.schema).to_batches()


def similarity(first: str, second: str) -> float:
    """Return the Jaccard similarity of the 5-grams of two texts."""
    a, b = (
        {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}
        for words in (first.split(), second.split())
    )
    return len(a & b) / len(a | b)


def recall(store: Store, found: StageResult, articles: int) -> tuple[float, int, int]:
    """Return the share of known pairs found, their number, and the paragraphs found that are no copies."""
    seen: set[tuple[int, int]] = set()
    for record in found.in_order:
        table = whole(record).read(store)
        table = table.filter(pc.invert(table["whole"]))
        seen |= set(zip(table["article"].to_pylist(), table["paragraph_id"].to_pylist(), strict=True))
    known: set[tuple[int, int]] = set()
    copies: set[tuple[int, int]] = set()
    for number in range(1, articles):
        own, before = texts(number), _own_texts(number - 1)
        for place in range(1, int(COPIED * ARTICLE_PARAGRAPHS) + 1):
            at, of = (number, ARTICLE_PARAGRAPHS - place), (number - 1, place)
            copies |= {at, of}  # the later one is found: the test split comes first
            if similarity(own[-place], before[place]) >= 0.8:
                known.add(max(at, of) if (number % 10 == 9) == ((number - 1) % 10 == 9) else _later(at, of))
    return len(known & seen) / len(known), len(known), len(seen - copies)


def _later(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    """Return the paragraph of the training article."""
    return second if first[0] % 10 == 9 else first


def peer_seconds(sample: list[str]) -> float:
    """Return processor seconds that datasketch takes to sketch, index and query a sample."""
    from datasketch import MinHash, MinHashLSH  # the peer alone needs it

    started = time.process_time()
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for number, text in enumerate(sample):
        words = text.split()
        sketch = MinHash(num_perm=BANDS * ROWS)
        sketch.update_batch(
            [" ".join(words[i : i + SHINGLE_WORDS]).encode() for i in range(len(words) - SHINGLE_WORDS + 1)]
        )
        index.query(sketch)
        index.insert(number, sketch)
    return time.process_time() - started


def main(shards: int = 4, articles: int = 100) -> int:
    """Print time, memory and recall; return 1 if a bar is missed."""
    config = BuildConfig.model_validate(
        {"shards": {"articles": shards}, "across": {"near_duplicates": "corpus", "leakage": "pages"}}
    )
    with tempfile.TemporaryDirectory() as root:
        executor = InlineExecutor()
        session = Session(config, executor, Run(Store(root), executor))  # type: ignore[arg-type]
        made: dict[str, Any] = {
            dataset.name: session.run.stage(
                Recipe(dataset, function, arguments={"articles": articles}, per_shard={"shard": range(shards)}),
                shards=shards,
                inputs={},
            )
            for dataset, function in ((ARTICLES, make_articles), (PARAGRAPHS, make_paragraphs))
        }
        started = time.process_time()
        overlaps = across.overlaps(session, made["articles"], made["paragraphs"])
        compared = across.compared(session, made["paragraphs"], overlaps)
        seconds = time.process_time() - started
        assert overlaps is not None
        peak = peak_bytes() / 1e9
        stages = {name: session.run.stages[name].in_order for name in ("sketches", "twins", "overlaps", "compared")}
        share, pairs, strangers = recall(session.run.store, overlaps, shards * articles)
    count = shards * articles * ARTICLE_PARAGRAPHS
    refused = sum(sum(record.drops.values()) for record in compared.in_order)
    sample = [text for number in range(PEER_PARAGRAPHS // ARTICLE_PARAGRAPHS + 1) for text in texts(number)]
    peer = peer_seconds(sample[:PEER_PARAGRAPHS]) / PEER_PARAGRAPHS
    hours = FULL * seconds / count / 3600
    print(
        f"{count:,} paragraphs in {shards} shards: {seconds:.0f} s, {1e6 * seconds / count:.0f} us a paragraph, "
        f"{peak:.2f} GB peak; {refused:,} refused"
    )
    for name, records in stages.items():
        print(
            f"  {name:10}{sum(r.seconds for r in records):8.1f} s{sum(r.written.bytes for r in records) / 1e6:9.1f} MB"
        )
    print(f"{FULL:,} paragraphs: {hours:.2f} core-hours; datasketch alone {FULL * peer / 3600:.2f}")
    print(f"found {100 * share:.1f} % of {pairs:,} pairs of similarity .8 and more; {strangers:,} that are no copies")
    return 0 if hours <= 1 and share >= LEAST_RECALL else 1


if __name__ == "__main__":
    command(main, __doc__)
