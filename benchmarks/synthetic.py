"""Text whose word statistics are like those of real pages, for benchmarks: Zipf's law, topics, punctuation."""

import numpy as np
import pyarrow as pa

from storage.schemas import ARTICLES, DOCUMENTS

VOCABULARY = 50_000
TOPIC_WORDS = 300
TOPIC_SHARE = 0.3  # of the words of a text
SENTENCE_WORDS = 20
LETTERS = np.array(list("etaoinsrhldcumfpgwybvkxjqz"))
ACCENTED = str.maketrans("eaou", "éäöü")


class Corpus:
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


def make_articles(articles: int, lead_words: int = 139) -> pa.Table:
    """Return ARTICLES rows; the mean lead of WikiSum has 139 tokens (000 sec. 4)."""
    corpus = Corpus(seed=1)
    rows = []
    for number in range(articles):
        topic = corpus.topic()
        lead, title = corpus.texts(1, lead_words, topic)[0], corpus.texts(1, 3, topic)[0]
        rows.append({"article_id": f"{number:016x}", "title": title, "lead": lead, "split": "train"})
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def make_documents(articles: int, documents: int = 25, paragraphs: int = 21, words: int = 70) -> pa.Table:
    """Return DOCUMENTS rows: 525 paragraphs of 70 tokens an article (000 sec. 4)."""
    corpus = Corpus(seed=1)  # the same words as the articles'
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
