"""Both graphs over ranked paragraphs, against values worked out by hand."""

import math
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from storage.schemas import GRAPHS, RANKED
from tasks.summarization.graphs import build_graphs, discourse_edges, similarity_edges
from tasks.summarization.settings import GraphSettings

NO_NAMES: frozenset[str] = frozenset()


def ranked(article: str, *paragraphs: tuple[str, int, str]) -> list[dict[str, Any]]:
    return [
        {"article_id": article, "rank": i, "paragraph_id": 9 - i, "url": url, "position": position, "text": text}
        | {"score": 1.0 - i / 10}
        for i, (url, position, text) in enumerate(paragraphs)
    ]


def pairs(edges: list[dict[str, Any]]) -> dict[tuple[int, int], float]:
    return {(edge["i"], edge["j"]): edge["weight"] for edge in edges}


def test_similarity_is_the_cosine_of_tfidf() -> None:
    # idf over three paragraphs: a and b occur in two (log 1.5), c, d and e in one (log 3).
    rare, common = math.log(3), math.log(1.5)
    norm = math.sqrt(2 * common**2 + rare**2)
    edges = pairs(similarity_edges(["a b c", "a b d", "e"], GraphSettings(similarity_threshold=0.0)))
    assert edges == {(0, 1): pytest.approx(2 * common**2 / norm**2)}


def test_edges_below_the_threshold_are_dropped_and_those_at_it_kept() -> None:
    texts = ["a a b", "a b b", "c", "c c c"]
    weights = pairs(similarity_edges(texts, GraphSettings(similarity_threshold=0.0)))
    assert weights == {(0, 1): pytest.approx(0.8), (2, 3): pytest.approx(1.0)}
    assert pairs(similarity_edges(texts, GraphSettings(similarity_threshold=0.81))).keys() == {(2, 3)}
    assert pairs(similarity_edges(texts, GraphSettings(similarity_threshold=0.79))).keys() == {(0, 1), (2, 3)}


def test_discourse_counts_shared_entities_and_markers() -> None:
    names = [frozenset({"Oslo", "Erie", "Ash"}), frozenset({"Oslo", "Erie"}), frozenset({"oslo"}), NO_NAMES]
    edges = discourse_edges(["u", "u", "v", "v"], [2, 3, 0, 1], ["x", "However, x", "x", "Also x"], names)
    # 0.2 * 2 + 1 between 0 and 1; "oslo" is no exact match; 2 and 3 are joined by "also" alone.
    assert pairs(edges) == {(0, 1): pytest.approx(1.4), (2, 3): 1.0}


def test_a_neighbour_of_better_rank_may_come_later_on_the_page() -> None:
    edges = discourse_edges(["u", "u"], [5, 4], ["Then x", "x"], [NO_NAMES, NO_NAMES])
    assert pairs(edges) == {(0, 1): 1.0}


def test_table_of_two_articles() -> None:
    rows = ranked("a1", ("u", 0, "We saw Marie Curie."), ("v", 7, "He met Marie Curie."), ("v", 8, "Later it rained."))
    rows += ranked("a2", ("w", 0, "Alone."))
    graphs = build_graphs(pa.Table.from_pylist(rows, RANKED.schema), GraphSettings())
    assert graphs.schema.equals(GRAPHS.schema)
    first, second = graphs.to_pylist()
    assert (first["article_id"], first["nodes"]) == ("a1", 3)
    assert pairs(first["discourse"]) == {(0, 1): pytest.approx(0.2), (1, 2): 1.0}
    assert second == {"article_id": "a2", "nodes": 1, "similarity": [], "discourse": []}


def test_no_articles() -> None:
    assert build_graphs(RANKED.schema.empty_table(), GraphSettings()).num_rows == 0


def test_ranks_out_of_order_are_an_error() -> None:
    rows = ranked("a1", ("u", 0, "x"), ("u", 1, "y"))
    with pytest.raises(ValueError, match="article a1"):
        build_graphs(pa.Table.from_pylist(rows[::-1], RANKED.schema), GraphSettings())


def test_what_shapes_a_graph_is_in_the_recipe() -> None:
    assert GraphSettings(similarity_threshold=0.3).recipe() != GraphSettings().recipe()
    with pytest.raises(ValidationError):
        GraphSettings(similarity_threshold=1.5)
