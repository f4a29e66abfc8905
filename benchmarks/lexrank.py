"""LexRank of one full-size article, 525 paragraphs of 70 words (Liu & Lapata 2019, sec. 4), against networkx in the
same run.

    python -m benchmarks.lexrank

Three ratios: from the similarity matrix to scores (networkx has to build its graph and run `pagerank`), end to end
from texts (the peer with scikit-learn's tf-idf), and from words to their counts alone, against scikit-learn's
CountVectorizer. Each is the best of several rounds; scores must agree.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from benchmarks.synthetic import Corpus
from models.extractive import lexrank_scores
from tasks.text.ngrams import split_words
from tasks.text.tfidf import TfIdf, tfidf_matrix

PARAGRAPHS, WORDS = 525, 70  # Liu & Lapata 2019, sec. 4
TOLERANCE = 1e-6  # for networkx, which stops at N times this value


def best(rounds: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least seconds of several rounds and the result."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return min(seconds), result


def ours(texts: list[str]) -> np.ndarray:
    """Score texts as `tasks/evaluation/baselines.py` does."""
    vectors = tfidf_matrix(texts)
    return lexrank_scores((vectors @ vectors.T).toarray())


def peer(texts: list[str]) -> np.ndarray:
    """Score texts with scikit-learn and networkx."""
    vectors = TfidfVectorizer().fit_transform(texts)
    return pagerank((vectors @ vectors.T).toarray())


def pagerank(similarity: np.ndarray) -> np.ndarray:
    """Score a similarity matrix with networkx."""
    graph = networkx.from_numpy_array(similarity)
    return np.array(list(networkx.pagerank(graph, alpha=0.85, tol=TOLERANCE / len(similarity)).values()))


def main() -> None:
    """Print both ratios and the largest difference of scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    corpus = Corpus(seed=0)
    texts = corpus.texts(PARAGRAPHS, WORDS, corpus.topic())
    vectors = tfidf_matrix(texts)
    similarity = (vectors @ vectors.T).toarray()
    graph = networkx.from_numpy_array(similarity)
    print(f"{PARAGRAPHS} paragraphs of {WORDS} words, {graph.number_of_edges():,} edges, best of {rounds} rounds")

    own, scores = best(rounds, lambda: lexrank_scores(similarity))
    ranked, _ = best(rounds, lambda: networkx.pagerank(graph, alpha=0.85))
    whole, expected = best(rounds, lambda: pagerank(similarity))
    gap = float(np.abs(scores - expected).max() / expected.mean())
    assert gap < 1e-4, f"scores differ by {gap:.1e} of their mean"
    print(
        f"matrix to scores: ours {own * 1e3:.1f} ms; networkx.pagerank {ranked * 1e3:.1f} ms on a ready graph: "
        f"{ranked / own:.1f} x; graph and pagerank {whole * 1e3:.1f} ms: {whole / own:.1f} x"
    )
    print(f"largest difference of scores: {gap:.1e} of their mean")

    own, _ = best(rounds, lambda: ours(texts))
    other, _ = best(rounds, lambda: peer(texts))
    print(
        f"texts to scores:  ours {own * 1e3:.1f} ms; scikit-learn and networkx {other * 1e3:.1f} ms: "
        f"{other / own:.1f} x; against networkx.pagerank alone: {ranked / own:.1f} x"
    )

    words = [split_words(text) for text in texts]
    own, _ = best(rounds, lambda: TfIdf(words))
    counter = CountVectorizer(analyzer=lambda paragraph: paragraph)
    other, _ = best(rounds, lambda: counter.fit_transform(words))
    print(
        f"words to vectors: ours {own * 1e3:.1f} ms; scikit-learn's counts alone {other * 1e3:.1f} ms: "
        f"{other / own:.1f} x"
    )


if __name__ == "__main__":
    main()
