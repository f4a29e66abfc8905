from math import log, sqrt

import numpy as np
import pyarrow as pa
import pytest

from tasks.tables.figures import attention_cosine, gold_attention, lead_attention, mean_attention, score_attention
from tests.tasks.reporting.reporting_tables import articles, prediction, predictions, ranked


def test_gold_attention_is_the_normalised_tf_idf_similarity() -> None:
    # Three paragraphs of one word each, so unit vectors; "river" is in two of them, "lake" in one.
    # The gold summary "river lake" has weights log(3/2) and log(3), and its cosine with a one-word paragraph is the
    # weight of that word over their length; normalised, the length cancels.
    river, lake = log(3 / 2), log(3)
    expected = np.array([river, river, lake]) / (2 * river + lake)
    np.testing.assert_allclose(gold_attention("river lake", ["river", "river", "lake"]), expected)


def test_paragraphs_that_share_nothing_with_the_gold_summary_have_no_gold_attention() -> None:
    assert gold_attention("river", ["sea", "lake"]).tolist() == [0.0, 0.0]
    assert gold_attention("river", ["river"]).tolist() == [0.0]


def test_attention_is_the_mean_over_tokens_on_the_paragraphs_that_count() -> None:
    assert mean_attention([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]], 2).tolist() == [0.75, 0.125]
    assert mean_attention([[0.5, 0.5]], 3).tolist() == [0.5, 0.5, 0.0]
    assert mean_attention([], 2).tolist() == [0.0, 0.0]


def test_lead_pays_attention_in_words() -> None:
    assert lead_attention("The Aral", "The Aral a b c d", ["a b c", "d e", "f"]).tolist() == [3.0, 1.0, 0.0]
    assert lead_attention("The Aral Sea", "The Aral", ["a b c"]).tolist() == [0.0]


def test_cosine_by_hand() -> None:
    assert attention_cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0])) == pytest.approx(24 / 25)
    assert attention_cosine(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 0.0
    assert attention_cosine(np.array([0.0, 0.0]), np.array([0.0, 1.0])) is None


def test_every_asked_system_is_scored_on_the_articles_with_gold_attention() -> None:
    about = articles(a="river", b="sea")
    texts = ranked(a=["http://x.test/", "http://y.test/"], b=["http://x.test/", "http://y.test/"])
    words = pa.array(["river", "lake", "lake", "hill"], texts.schema.field("text").type)
    texts = texts.set_column(texts.schema.get_field_index("text"), texts.schema.field("text"), words)
    written = predictions(
        prediction("a", "ht", "x y", [[1.0, 0.0], [0.0, 1.0]]),
        prediction("a", "ft", "x", [[1.0, 0.0]]),
        prediction("b", "ht", "x", [[1.0, 0.0]]),
    )
    base = predictions(prediction("a", "lead", "A river lake lake"), prediction("a", "greedy-rouge2", "river"))
    scores = score_attention([(about, texts, base, written)], ["ht", "lead"], 30)
    found = {(row["article_id"], row["system"]): row["value"] for row in scores.to_pylist()}
    # Gold attention of a is (1, 0); no paragraph of b shares a word with its lead. Lead takes one word of each.
    assert found == {("a", "lead"): pytest.approx(1 / sqrt(2)), ("a", "ht"): pytest.approx(1 / sqrt(2))}
    assert set(scores["metric"].to_pylist()) == {"attention"}
