"""Graphs over an article's ranked paragraphs, for graph-informed attention (Liu & Lapata 2019, app. A, eq. 24-26).
ranked -> graphs. Node i is the paragraph of rank i. The similarity graph connects paragraphs that use the same words,
the approximate discourse graph (ADG) those that name the same entities or are connected by a discourse marker."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from storage.schemas import GRAPHS
from tasks.engine.grouping import by_article
from tasks.summarization.settings import GraphSettings
from tasks.text.entities import entity_sets
from tasks.text.language import marked_pairs
from tasks.text.ngrams import WordRule, rule_for
from tasks.text.tfidf import tfidf_matrix

_ENTITY_WEIGHT, _MARKER_WEIGHT = 0.2, 1.0  # of a shared entity and of a marker (Liu & Lapata 2019, eq. 26)

Edges = list[dict[str, Any]]


def build_graphs(ranked: pa.Table, settings: GraphSettings, words: WordRule = "rouge") -> pa.Table:
    """Return a GRAPHS row with both graphs of each article, given RANKED rows sorted by article and rank; edges i < j
    are in order of (i, j). `words` is how paragraphs are cut into words for tf-idf. Raises ValueError: the pipeline
    cannot be used, or the ranks of an article are not 0, 1, 2, ..."""
    texts: list[str] = ranked["text"].to_pylist()
    entities = entity_sets(texts, settings.spacy_pipeline)
    rows = []
    for article_id, paragraphs in by_article(ranked):
        ranks = paragraphs["rank"].to_pylist()
        if ranks != list(range(len(ranks))):
            raise ValueError(f"article {article_id} has ranks {ranks[:5]}...: expected 0, 1, 2, ... in order")
        names = [next(entities) for _ in ranks]
        urls, positions, own = (paragraphs[name].to_pylist() for name in ("url", "position", "text"))
        edges = {
            "similarity": similarity_edges(own, settings, words),
            "discourse": discourse_edges(urls, positions, own, names),
        }
        rows.append({"article_id": article_id, "nodes": len(ranks), **edges})
    return pa.Table.from_pylist(rows, schema=GRAPHS.schema)


def similarity_edges(texts: Sequence[str], settings: GraphSettings, words: WordRule = "rouge") -> Edges:
    """Return the edges between paragraphs whose tf-idf cosine reaches the threshold (Liu & Lapata 2019, app. A.1). N_d
    of eq. 25 is the number of given paragraphs, those of one article."""
    vectors = tfidf_matrix(texts, rule_for(" ".join(texts), words))
    cosines = (vectors @ vectors.T).toarray().clip(max=1.0)
    if settings.similarity_threshold > 0:
        cosines[cosines < settings.similarity_threshold] = 0.0
    return _upper_edges(cosines)


def discourse_edges(
    urls: Sequence[str],  # page of each of N paragraphs
    positions: Sequence[int],  # position of each in its page
    texts: Sequence[str],
    entities: Sequence[frozenset[str]],  # entities of each, E_i
) -> Edges:
    """Return the edges of the approximate discourse graph (Liu & Lapata 2019, eq. 26)."""
    weights = _ENTITY_WEIGHT * _shared(entities)
    for i, j in marked_pairs(urls, positions, texts):
        weights[i, j] += _MARKER_WEIGHT
        weights[j, i] += _MARKER_WEIGHT
    return _upper_edges(weights)


def _shared(entities: Sequence[frozenset[str]]) -> np.ndarray:
    """Return how many entities each pair of paragraphs shares, [N, N] float64."""
    from sklearn.preprocessing import MultiLabelBinarizer  # here, because it takes a second that --help need not wait

    holds = MultiLabelBinarizer(sparse_output=True).fit_transform(entities).astype(np.float64)
    shared: np.ndarray = (holds @ holds.T).toarray()
    return shared


def _upper_edges(weights: np.ndarray) -> Edges:
    rows, columns = np.nonzero(np.triu(weights, k=1))
    return [
        {"i": i, "j": j, "weight": weight}
        for i, j, weight in zip(rows.tolist(), columns.tolist(), weights[rows, columns].tolist(), strict=True)
    ]
