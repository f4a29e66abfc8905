"""Labels against rouge-score and by hand."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from tasks.ranking.features import rouge2_recalls
from tasks.text.ngrams import split_words

TEXT = st.lists(st.sampled_from(["a", "B", "c.", "d-a", "é", "a b", "\n"]), max_size=25).map(" ".join)


def test_labels_by_hand():
    lead = split_words("The Severn is the longest river.")  # the severn, severn is, is the, the longest, longest river
    paragraphs = ["The Severn is a river.", "the longest river of the longest river", "River", ""]
    assert rouge2_recalls(lead, map(split_words, paragraphs)).tolist() == [2 / 5, 2 / 5, 0.0, 0.0]


def test_a_lead_without_bigrams_labels_nothing():
    assert rouge2_recalls(["severn"], [["severn"], []]).tolist() == [0.0, 0.0]
    assert rouge2_recalls(["the", "severn"], []).tolist() == []


@given(TEXT, st.lists(TEXT, max_size=5))
def test_labels_are_those_of_rouge_score(lead, paragraphs):
    scorer = rouge_scorer.RougeScorer(["rouge2"])
    expected = [scorer.score(lead, paragraph)["rouge2"].recall for paragraph in paragraphs]
    assert rouge2_recalls(split_words(lead), map(split_words, paragraphs)).tolist() == expected


@pytest.mark.shared_data
def test_labels_of_real_text_are_those_of_rouge_score(shared_data: Path):
    lines = (shared_data / "wikigraph" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    leads = [json.loads(line)["lead"] for line in lines[:60:3]]
    scorer = rouge_scorer.RougeScorer(["rouge2"])
    for lead, neighbour in pairwise(leads):
        paragraphs = neighbour.split("\n")
        expected = [scorer.score(lead, paragraph)["rouge2"].recall for paragraph in paragraphs]
        assert rouge2_recalls(split_words(lead), map(split_words, paragraphs)).tolist() == expected
