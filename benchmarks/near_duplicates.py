"""Near-duplicates and leakage across articles: cost per paragraph, recall by the share of words changed, precision.

    python -m benchmarks.near_duplicates [--shards N] [--articles N] [--pages FILE.warc.gz]

Articles of 525 paragraphs; a twentieth of them is copied from another article with 0 to 20 % of the words changed into
others of the corpus. Synthetic paragraphs have 70 words; `--pages` takes the real ones of 10 words and more of archived
pages, as many articles as they make. All stages run as in a build, from Parquet to Parquet, one process; the processor
time is that of the whole, imports left out. The bars: .5 core-hours for 10 million paragraphs, and .9 of the copies
with 5 and with 10 % changed words are detected. Of the detected ones, .95 have a Jaccard similarity of words of .7 and
more. For comparison datasketch's MinHashLSH, with as many hashes and bands, indexes a sample in the same run: it holds
all in memory and finds candidates alone."""

import random
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lxml import html
from warcio.archiveiterator import ArchiveIterator

from benchmarks.frame import command, peak_bytes
from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages.texts import compared as refuse_overlaps
from flows.stages.texts import overlaps as find_overlaps
from storage.recipes import whole
from storage.schemas import ARTICLES, PARAGRAPHS
from storage.store import Store
from tasks.engine.recipe import Recipe, StageResult
from tasks.engine.stage import Executor, Run
from tasks.near_duplicates.overlaps import BANDS, ROWS
from tasks.text.ngrams import split_words

ARTICLE_PARAGRAPHS, PARAGRAPH_WORDS = 525, 70  # Liu & Lapata 2019, sec. 4
COPIED = 26  # paragraphs of an article, a twentieth
CHANGED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)  # of their words
FULL = 10_000_000
PEER_PARAGRAPHS = 5_000
LEAST_RECALL, LEAST_PRECISION, LEAST_SIMILARITY = 0.9, 0.95, 0.7


@cache
def _real(pages: str) -> list[str]:
    """Return the different paragraphs of the pages of an archive."""
    result: dict[str, None] = {}
    with Path(pages).open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response" and (body := record.content_stream().read().strip()):
                texts = (" ".join(element.text_content().split()) for element in html.fromstring(body).iter("p"))
                result |= dict.fromkeys(text for text in texts if len(split_words(text)) >= 10)
    return list(result)


def texts(pages: str, number: int) -> list[str]:
    """Return the paragraphs of an article; some are copies of the last article's own, with words changed."""
    draw, own = random.Random(number), _own_texts(pages, number)
    if number:
        others = " ".join(own).split()
        for index, copied in enumerate(_own_texts(pages, number - 1)[1 : COPIED + 1], 1):
            words = copied.split()
            for at in draw.sample(range(len(words)), int(CHANGED[index % 6] * len(words) + draw.random())):
                words[at] = draw.choice(others)
            own[-index] = " ".join(words)
    return own


def _own_texts(pages: str, number: int) -> list[str]:
    if pages and number >= 0:
        return _real(pages)[number * ARTICLE_PARAGRAPHS : (number + 1) * ARTICLE_PARAGRAPHS]
    draws = np.random.default_rng((number < 0, abs(number))).random(ARTICLE_PARAGRAPHS * PARAGRAPH_WORDS)
    words = [f"w{place}" for place in (50_000 * draws**3).astype(int).tolist()]
    return [" ".join(words[start : start + PARAGRAPH_WORDS]) for start in range(0, len(words), PARAGRAPH_WORDS)]


def make_articles(shard: int, articles: int, pages: str) -> pa.Table:
    """Return the articles of a shard; one in ten is of the test split."""
    rows = [
        {
            "article_id": f"{number:016x}",
            "lead": " ".join(_own_texts(pages, -number - 1)[:2]),
            "split": "test" if number % 10 == 9 else "train",
        }
        for number in range(shard * articles, (shard + 1) * articles)
    ]
    return pa.Table.from_pylist(rows, ARTICLES.schema)


def make_paragraphs(shard: int, articles: int, pages: str) -> Iterator[pa.RecordBatch]:
    """Yield the paragraphs of a shard, an article at a time; ten to a page."""
    for number in range(shard * articles, (shard + 1) * articles):
        rows = [
            {
                "article_id": f"{number:016x}",
                "paragraph_id": i,
                "url": f"http://h.test/{number}/{i // 10}",
                "text": text,
            }
            for i, text in enumerate(texts(pages, number))
        ]
        yield from pa.Table.from_pylist(rows, PARAGRAPHS.schema).to_batches()


def quality(store: Store, found: StageResult, pages: str, articles: int) -> tuple[dict[float, float], float, int]:
    """Return the share of copies found by the share of their words changed, the precision, and how many were found."""
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    for record in found.in_order:
        table = whole(record).read(store)
        table = table.filter(pc.and_(pc.invert(table["whole"]), pc.or_(table["in_article"], table["in_other"])))
        rows = zip(
            *(table[n].to_pylist() for n in ("article", "paragraph_id", "of_article", "of_paragraph")), strict=True
        )
        seen |= {(article, own): (of, first) for article, own, of, first in rows}
    hits: dict[float, list[bool]] = {share: [] for share in CHANGED}
    for number in range(1, articles):
        for place in range(1, COPIED + 1):
            pair = (number - 1, place), (number, ARTICLE_PARAGRAPHS - place)
            later = max(pair, key=lambda one: (one[0] % 10 != 9, one))  # test articles come first
            hits[CHANGED[place % 6]].append(later in seen)
    words = [[set(split_words(text)) for text in texts(pages, number)] for number in range(articles)]
    pairs = ((words[own][place], words[of][first]) for (own, place), (of, first) in seen.items())
    alike = [len(a & b) >= LEAST_SIMILARITY * len(a | b) for a, b in pairs]
    return {share: float(np.mean(given)) for share, given in hits.items()}, float(np.mean(alike)), len(seen)


def peer_seconds(sample: list[str]) -> float:
    """Return processor seconds that datasketch takes to sketch, index and query a sample."""
    from datasketch import MinHash, MinHashLSH  # the peer alone needs it

    started = time.process_time()
    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    grams = ([" ".join(gram).encode() for gram in pairwise(text.split())] for text in sample)
    for number, sketch in enumerate(MinHash.generator(grams, num_perm=BANDS * ROWS)):
        index.query(sketch)
        index.insert(number, sketch)
    return time.process_time() - started


def main(shards: int = 4, articles: int = 100, pages: str = "") -> int:
    """Print time, memory and recall; return 1 if a bar is missed."""
    if pages:
        articles = min(articles, len(_real(pages)) // ARTICLE_PARAGRAPHS // shards)
    config = BuildConfig.model_validate(
        {"shards": {"articles": shards}, "across": {"near_duplicates": "corpus", "leakage": "pages"}}
    )
    with tempfile.TemporaryDirectory() as root:
        executor = Executor()
        session = Session(config, executor, Run(Store(root), executor))  # type: ignore[arg-type]
        given = {"articles": articles, "pages": pages}
        made: dict[str, Any] = {
            dataset.name: session.run.stage(
                Recipe(dataset, function, arguments=given, per_shard={"shard": range(shards)}), shards=shards, inputs={}
            )
            for dataset, function in ((ARTICLES, make_articles), (PARAGRAPHS, make_paragraphs))
        }
        started = time.process_time()
        overlaps = find_overlaps(session, made["articles"], made["paragraphs"])
        compared = refuse_overlaps(session, made["paragraphs"], overlaps)
        seconds = time.process_time() - started
        assert overlaps is not None
        peak = peak_bytes() / 1e9
        stages = {name: result.in_order for name, result in session.run.stages.items() if name not in made}
        recall, precision, results = quality(session.run.store, overlaps, pages, shards * articles)
    count = shards * articles * ARTICLE_PARAGRAPHS
    sample = [text for number in range(PEER_PARAGRAPHS // ARTICLE_PARAGRAPHS + 1) for text in texts(pages, number)]
    peer, hours = peer_seconds(sample[:PEER_PARAGRAPHS]) / PEER_PARAGRAPHS, FULL * seconds / count / 3600
    print(
        f"{count:,} paragraphs in {shards} shards: {seconds:.0f} s, {1e6 * seconds / count:.0f} s a million, "
        f"{peak:.2f} GB peak; {sum(sum(record.drops.values()) for record in compared.in_order):,} refused"
    )
    for name, records in stages.items():
        taken, written = sum(r.seconds for r in records), sum(r.written.bytes for r in records)
        print(f"  {name:11}{taken:8.1f} s{written / 1e6:9.1f} MB")
    print(f"{FULL:,} paragraphs: {hours:.2f} core-hours; datasketch alone {FULL * peer / 3600:.2f}")
    print("copies found, by words changed: " + ", ".join(f"{s:.0%} {100 * share:.1f} %" for s, share in recall.items()))
    print(f"{results:,} paragraphs found, {100 * precision:.1f} % of them with similarity {LEAST_SIMILARITY} and more")
    good = min(recall[0.05], recall[0.1]) >= LEAST_RECALL and precision >= LEAST_PRECISION
    return 0 if hours <= 0.5 and good else 1


if __name__ == "__main__":
    command(main, __doc__)
