"""LexRank of one full-size article, 525 paragraphs of 70 words (Liu & Lapata 2019, sec. 4), against networkx in the
same run.

    python -m benchmarks.lexrank

Two ratios: from the similarity matrix to scores (networkx has to build its graph and run `pagerank`), and end to end
from texts (the peer with scikit-learn's tf-idf). Each is the best of several rounds; scores must agree."""

import networkx
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.frame import command, fastest
from benchmarks.synthetic import SyntheticCorpus
from models.extractive import lexrank_scores
from tasks.text.tfidf import tfidf_matrix

PARAGRAPHS, WORDS = 525, 70  # Liu & Lapata 2019, sec. 4
TOLERANCE = 1e-6  # for networkx, which stops at N times this value


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


def main(rounds: int = 5) -> None:
    """Print both ratios and the largest difference of scores."""
    corpus = SyntheticCorpus(seed=0)
    texts = corpus.texts(PARAGRAPHS, WORDS, corpus.topic())
    vectors = tfidf_matrix(texts)
    similarity = (vectors @ vectors.T).toarray()
    graph = networkx.from_numpy_array(similarity)
    print(f"{PARAGRAPHS} paragraphs of {WORDS} words, {graph.number_of_edges():,} edges, best of {rounds} rounds")

    scores, expected = lexrank_scores(similarity), pagerank(similarity)
    gap = float(np.abs(scores - expected).max() / expected.mean())
    assert gap < 1e-4, f"scores differ by {gap:.1e} of their mean"
    took = fastest(
        {
            "matrix": lambda: lexrank_scores(similarity),
            "networkx": lambda: networkx.pagerank(graph, alpha=0.85),
            "graph, networkx": lambda: pagerank(similarity),
            "texts": lambda: ours(texts),
            "scikit-learn, networkx": lambda: peer(texts),
        },
        rounds,
    )
    print(f"largest difference of scores: {gap:.1e} of their mean")
    for what, own, peers in (
        ("matrix to scores", "matrix", ("networkx", "graph, networkx")),
        ("texts to scores", "texts", ("scikit-learn, networkx", "networkx")),
    ):
        ratios = "; ".join(f"{one} {took[one] * 1e3:.1f} ms: {took[one] / took[own]:.1f} x" for one in peers)
        print(f"{what}: ours {took[own] * 1e3:.1f} ms; {ratios}")


if __name__ == "__main__":
    command(main, __doc__)
