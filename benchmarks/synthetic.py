"""Text whose word statistics are like those of real pages, for benchmarks: Zipf's law, topics, punctuation."""

import io
import json
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from storage.schemas import FRONTIER
from tasks.fetching.urls import host_of

if TYPE_CHECKING:
    from flows.config import BuildConfig

LEAD_WORDS, DOCUMENTS, DOCUMENT_PARAGRAPHS, WORDS = 139, 15, 35, 70
VOCABULARY = 50_000
TOPIC_WORDS = 300
TOPIC_SHARE = 0.3  # of the words of a text
SENTENCE_WORDS = 20
LETTERS = np.array(list("etaoinsrhldcumfpgwybvkxjqz"))
ACCENTED = str.maketrans("eaou", "éäöü")


class SyntheticCorpus:
    """A seeded source of texts. A word's frequency is one over its rank; frequent words are short."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        ranks = np.arange(1, VOCABULARY + 1)
        letter_shares = 1 / np.arange(2, 2 + len(LETTERS))
        lengths = np.round(1.5 + 0.6 * np.log(ranks) + self._random.random(VOCABULARY)).astype(int)
        letters = self._random.choice(LETTERS, lengths.sum(), p=letter_shares / letter_shares.sum())
        words = np.split(letters, lengths.cumsum()[:-1])
        self._words = [
            word.translate(ACCENTED) if rank % 50 == 49 else word for rank, word in enumerate(map("".join, words))
        ]
        self._shares = np.cumsum(1 / ranks)
        self._topic_shares = np.cumsum(1 / np.arange(1, TOPIC_WORDS + 1))

    def draw_as(self, *numbers: int) -> None:
        """Draw from here on what belongs to these numbers, whatever was drawn before; the words stay the same."""
        self._random = np.random.default_rng(numbers)

    def topic(self) -> np.ndarray:
        """Return the words an article's texts share, most frequent first."""
        return self._random.integers(200, VOCABULARY, TOPIC_WORDS)

    def texts(self, count: int, words: int, topic: np.ndarray) -> list[str]:
        """Return texts of `words` words on a topic: sentences with a capital, a comma and a full stop."""
        size = count * words
        common = np.searchsorted(self._shares, self._random.random(size) * self._shares[-1])
        special = topic[np.searchsorted(self._topic_shares, self._random.random(size) * self._topic_shares[-1])]
        chosen = np.where(self._random.random(size) < TOPIC_SHARE, special, common)
        drawn = [self._words[number] for number in chosen.tolist()]
        return [self._punctuate(drawn[start : start + words]) for start in range(0, size, words)]

    def _punctuate(self, words: list[str]) -> str:
        for start in range(0, len(words), SENTENCE_WORDS):
            end = min(start + SENTENCE_WORDS, len(words)) - 1
            words[start] = words[start].capitalize()
            words[(start + end) // 2] += ","
            words[end] += "."
        return " ".join(words)


def page_of(title: str, texts: Iterable[str], size: int = 30_000) -> bytes:
    """Return the HTML of a page: prose between a menu and a script that fills it up to `size` bytes."""
    prose = "\n".join(f"<p>{text}</p>" for text in texts)
    menu = "".join(f'<li><a href="/section/{item}">Section {item}</a></li>' for item in range(60))
    html = f"<html><head><title>{title}</title></head><body><ul>{menu}</ul><article>{prose}</article>"
    script = "<script>" + "x = 1; " * (max(0, size - len(html.encode())) // 7) + "</script>"
    return f"{html}{script}</body></html>".encode()


def write_records(file: Path, articles: int, archive: Path | None = None) -> None:
    """Write articles as JSONL, each with its documents; or with references to pages, which go to a WARC file.

    An article has a lead of 139 words and 525 paragraphs of 70 words (Liu & Lapata 2019, sec. 4) in 15 documents. Every
    tenth one is of the test split, the one before it of the validation split."""
    corpus = SyntheticCorpus(seed=1)
    with ExitStack() as stack:
        lines = stack.enter_context(file.open("w"))
        pages = None if archive is None else WARCWriter(stack.enter_context(archive.open("wb")), gzip=True)
        for number in range(articles):
            topic = corpus.topic()
            lead, title = corpus.texts(1, LEAD_WORDS, topic)[0], corpus.texts(1, 3, topic)[0]
            split = {8: "valid", 9: "test"}.get(number % 10, "train")
            article: dict[str, Any] = {"title": f"{title} {number}", "lead": lead, "split": split}
            documents = [
                (f"http://host{n}.test/articles/{number}.html", corpus.texts(DOCUMENT_PARAGRAPHS, WORDS, topic))
                for n in range(DOCUMENTS)
            ]
            if pages is None:
                article["documents"] = [{"url": url, "paragraphs": texts} for url, texts in documents]
            else:
                article["references"] = [url for url, _ in documents]
                for url, texts in documents:
                    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], "HTTP/1.1")
                    body = io.BytesIO(page_of(title, texts))
                    pages.write_record(pages.create_warc_record(url, "response", body, http_headers=head))
            lines.write(json.dumps(article) + "\n")


def build_of_records(records: Path, root: Path, shards: int, **sections: Any) -> "BuildConfig":
    """Return the settings of a build of a file of records, without a search; `sections` are set too."""
    from flows.config import BuildConfig  # here, because a benchmark may have to say first where Prefect's home is

    return BuildConfig.model_validate(
        {
            "root": str(root),
            "source": {"kind": "records", "records": {"paths": [str(records)]}},
            "search": {"provider": "none"},
            "shards": {"articles": shards, "hosts": shards},
            **sections,
        }
    )


def frontier_of(urls: Iterable[str], *, cited: int = 1) -> pa.Table:
    """Return FRONTIER rows of one host shard: every article cites as many of the URLs, which come in their order."""
    pieces, numbered = [FRONTIER.schema.empty_table()], enumerate(urls)
    while piece := list(islice(numbered, 10_000)):  # Python's objects take more memory than the table
        rows = [
            {
                "article_id": f"{number // cited:016x}",
                "article_shard": 0,
                "url": url,
                "host": host_of(url),
                "host_shard": 0,
                "provenance": "citation",
                "rank": number % cited,
            }
            for number, url in piece
        ]
        pieces.append(pa.Table.from_pylist(rows, schema=FRONTIER.schema))
    return pa.concat_tables(pieces)
