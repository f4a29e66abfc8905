"""Text whose word statistics are like those of real pages, for benchmarks: Zipf's law, topics, punctuation."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from storage.schemas import ARTICLES, DOCUMENTS, FRONTIER, PAGES, SEARCH
from tasks.crawl.urls import host_of

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


def make_articles(articles: int, lead_words: int = 139, references: int = 47) -> pa.Table:
    """Return ARTICLES rows; the mean lead of WikiSum has 139 tokens (Liu & Lapata 2019, sec. 4)."""
    corpus = SyntheticCorpus(seed=1)
    rows = []
    for number in range(articles):
        topic = corpus.topic()
        lead, title = corpus.texts(1, lead_words, topic)[0], corpus.texts(1, 3, topic)[0]
        cited = [f"http://host{cite}.test/articles/{number}/sources/{cite}.html" for cite in range(references)]
        rows.append(
            {"article_id": f"{number:016x}", "title": title, "lead": lead, "references": cited, "split": "train"}
        )
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def make_documents(articles: int, documents: int = 25, paragraphs: int = 21, words: int = 70) -> pa.Table:
    """Return DOCUMENTS rows: 525 paragraphs of 70 tokens per article (Liu & Lapata 2019, sec. 4)."""
    corpus = SyntheticCorpus(seed=1)  # the same words as the articles'
    batches = []
    for number in range(articles):
        texts = corpus.texts(documents * paragraphs, words, corpus.topic())
        rows = [
            {
                "article_id": f"{number:016x}",
                "article_shard": 0,
                "url": f"http://host{document}.test/articles/{number}/sources/{document}.html",
                "provenance": "citation" if document < documents // 2 else "search",
                "rank": document % (documents // 2),
                "paragraphs": texts[document * paragraphs : (document + 1) * paragraphs],
                "boilerplate": [False] * paragraphs,
                "engine": "synthetic",
            }
            for document in range(documents)
        ]
        batches += pa.Table.from_pylist(rows, schema=DOCUMENTS.schema).to_batches()
    return pa.Table.from_batches(batches, schema=DOCUMENTS.schema)


def make_search(articles: int, results: int = 10) -> pa.Table:
    """Return SEARCH rows: ten results per article, as in the papers; none is among the references."""
    rows = [
        {
            "article_id": f"{number:016x}",
            "url": f"http://found{rank}.test/articles/{number}/pages/{rank}.html",
            "rank": rank,
            "provider": "synthetic",
        }
        for number in range(articles)
        for rank in range(results)
    ]
    return pa.Table.from_pylist(rows, schema=SEARCH.schema)


PAGES_PER_ARTICLE = 3  # in a host shard as large as a shard of 1,000 articles is
HOSTS = 30


def _page_url(page: int) -> str:
    return f"http://host{page % HOSTS}.test/pages/{page}.html"


def make_host_frontier(articles: int) -> pa.Table:
    """Return FRONTIER rows of one host shard: the URL of every page of `make_pages`, each cited once."""
    return frontier_of(map(_page_url, range(articles * PAGES_PER_ARTICLE)), cited=PAGES_PER_ARTICLE, shards=64)


def frontier_of(urls: Iterable[str], *, cited: int = 1, shards: int = 1) -> pa.Table:
    """Return FRONTIER rows of one host shard: every article cites as many of the URLs, which come in their order."""
    pieces, numbered = [FRONTIER.schema.empty_table()], enumerate(urls)
    while piece := list(islice(numbered, 10_000)):  # Python's objects take more memory than the table
        rows = [
            {
                "article_id": f"{number // cited:016x}",
                "article_shard": number % shards,
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


def make_pages(articles: int, paragraphs: int = 40, words: int = 70, page_bytes: int = 30_000) -> pa.Table:
    """Return PAGES rows of one host shard: three pages per article, prose between menus, 30 KB each."""
    corpus = SyntheticCorpus(seed=2)
    batches = []
    for page in range(articles * PAGES_PER_ARTICLE):
        texts = corpus.texts(paragraphs, words, corpus.topic())
        prose = "\n".join(f"<p>{text}</p>" for text in texts)
        menu = "".join(f'<li><a href="/section/{item}">Section {item}</a></li>' for item in range(60))
        html = f"<html><head><title>Page {page}</title></head><body><ul>{menu}</ul><article>{prose}</article>"
        script = "<script>" + "x = 1; " * (max(0, page_bytes - len(html.encode())) // 7) + "</script>"
        body = f"{html}{script}</body></html>".encode()
        row = {
            "url": _page_url(page),
            "host": f"host{page % HOSTS}.test",
            "status": 200,
            "final_url": _page_url(page),
            "mime": "text/html",
            "charset": "utf-8",
            "bytes": len(body),
            "body": body,
        }
        batches += pa.Table.from_pylist([row], schema=PAGES.schema).to_batches()
    return pa.Table.from_batches(batches, schema=PAGES.schema)


def make_ranker(vocabulary: pa.Table, directory: Path, size: int) -> dict[str, Any]:
    """Write a ranker of random weights, on whose values memory and speed do not depend, into `directory`.

    `size` is that of its embeddings and LSTMs.
    """
    import torch  # here, because the other stages' processes need none

    from models.ranker import ParagraphRanker, RankerConfig
    from models.training.weights import save_weights
    from tasks.ranking.directory import CONFIG, VOCABULARY, WEIGHTS, describe_ranker
    from tasks.text.vocabulary import read_vocabulary

    pieces = read_vocabulary(vocabulary)
    config = RankerConfig(vocabulary=pieces.size, pad=pieces.pad, embedding=size, hidden=size)
    torch.manual_seed(0)
    save_weights(ParagraphRanker(config), directory / WEIGHTS)
    describe_ranker(directory, config, pieces, title_tokens=32, paragraph_tokens=100)
    return {"published": [WEIGHTS, CONFIG, VOCABULARY]}
