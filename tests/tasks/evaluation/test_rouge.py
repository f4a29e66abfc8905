"""ROUGE: equal to rouge-score on any text, and to the ROUGE-1.5.5 script where that is possible."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize

from models.sentences import language_of, split_sentences
from tasks.evaluation.metrics import COMPUTED, Score
from tasks.evaluation.rouge import Reference, Sentences
from tasks.text.ngrams import split_words, stem

LIBRARY = {
    stems: RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stems) for stems in (False, True)
}
# Few words, so that they meet often; some share a stem, some are too short for one.
TEXTS = st.lists(
    st.sampled_from(
        ["the", "rivers", "River", "ran", "running", "run", "a", "sses", "Zürich", "3.5", "stop.", "No!", "\n"]
    ),
    max_size=24,
).map(" ".join)


def library(target: str, summary: str) -> dict[str, tuple[float, float, float]]:
    # The target decides how both are cut into sentences.
    lines = ["\n".join(split_sentences(text, language_of(target))) for text in (target, summary)]
    return {
        kind + ("-stem" if stems else ""): tuple(score)
        for stems, scorer in LIBRARY.items()
        for kind, score in scorer.score(*lines).items()
    }


@settings(max_examples=300)
@given(TEXTS, TEXTS)
@example("", "")
@example("one", "")
@example("...", "one")
@example("3.5 Zürich", "Zürich Zürich stop. 3.5")
def test_equals_rouge_score(target: str, summary: str) -> None:
    mine = Reference(target).score(summary)
    assert {metric: (score.precision, score.recall, score.value) for metric, score in mine.items()} == library(
        target, summary
    )


@settings(max_examples=200)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_words_are_those_of_rouge_score(text: str) -> None:
    words = list(chain.from_iterable(map(split_words, split_sentences(text))))
    assert words == tokenize(text, None)
    assert list(map(stem, words)) == tokenize(text, LIBRARY[True]._tokenizer._stemmer)


def test_by_hand() -> None:
    scores = Reference("the cat sat on the mat").score("the mat sat")
    assert scores["rouge1"] == Score(2 / 3, 1.0, 0.5)
    assert scores["rouge2"] == Score(2 * 0.5 * 0.2 / 0.7, 0.5, 0.2)
    assert scores["rougeL"] == Score(4 / 9, 2 / 3, 2 / 6)


def test_other_alphabets_are_compared_by_their_words() -> None:
    scores = Reference("Он родился в 1950 году.").score("Завод закрыли весной 1950.")
    assert scores["rouge1"] == scores["rouge1-stem"] == Score(2 * 0.25 * 0.2 / 0.45, 0.25, 0.2)
    chinese = Reference("这座桥很长。它连接两座城市。").score("它连接两座城市。这座桥很长。")
    assert chinese["rouge1"].value == chinese["rougeLsum"].value == 1.0
    assert chinese["rougeL"].value == pytest.approx(7 / 12)


def test_an_english_target_with_a_foreign_name_keeps_the_rule_of_the_library() -> None:
    target, summary = "Tokyo (東京) is a city.", "東京 is Tokyo."
    assert {kind: tuple(score) for kind, score in LIBRARY[False].score(target, summary).items()} == {
        kind: (score.precision, score.recall, score.value)
        for kind, score in Reference(target, ("rouge1", "rouge2", "rougeL", "rougeLsum")).score(summary).items()
    }


def test_sentences_in_another_order_cost_rouge_l_but_not_rouge_lsum() -> None:
    scores = Reference("One two three. Four five six.").score("Four five six. One two three.")
    assert scores["rougeL"].value == pytest.approx(0.5)
    assert scores["rougeLsum"].value == 1.0


def test_only_what_was_asked_for() -> None:
    assert list(Reference("a b", ("rougeL-stem", "rouge1")).score("a")) == ["rougeL-stem", "rouge1"]
    assert len(COMPUTED["rouge"]) == 8


# ROUGE-1.5.5 prints five digits.
PRINTED = 2e-5
KINDS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeLsum"}


def gaps(item: dict[str, Any], option: str) -> dict[str, float]:
    """Return, for each metric of an item of shared/data/rouge155, the largest gap of R, P and F to the script's.

    Several references are averaged as the script's `-f A` does: hits and totals are summed.
    """
    summary = words(item["hyp"])
    found = {}
    for name, official in item["official"][option].items():
        hits = counted = wanted = 0.0
        for lines in item["refs"]:
            n = 2 if name == "ROUGE-2" else 1
            metric: Any = KINDS[name] + ("-stem" if option.startswith("stem") else "")
            score = Reference(words(lines), (metric,)).score(summary)[metric]
            total = max(sum(map(len, summary)) - n + 1, 0)
            hits, counted = hits + score.precision * total, counted + total
            wanted += max(sum(map(len, words(lines))) - n + 1, 0)
        recall, precision = hits / wanted if wanted else 0.0, hits / counted if counted else 0.0
        both = precision + recall
        mine = (recall, precision, 2 * precision * recall / both if both else 0.0)
        found[name] = max(abs(a - b) for a, b in zip(mine, official, strict=True))
    return found


def words(lines: list[str]) -> Sentences:
    return [split_words(line) for line in lines]


def read(shared_data: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (shared_data / "rouge155" / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "option"), [("freshwiki_single_ref.jsonl", "plain"), ("scisumm_two_refs.jsonl", "plain_avg")]
)
def test_unstemmed_equals_the_script(shared_data: Path, name: str, option: str) -> None:
    compared = 0
    for item in read(shared_data, name)[::2]:
        if "İ" in "".join(chain(item["hyp"], *item["refs"])):  # Python's lower() finds an "i" in it, Perl's does not
            continue
        assert max(gaps(item, option).values()) < PRINTED, item["id"]
        compared += 1
    assert compared > 90


@pytest.mark.shared_data
def test_tiny_items_equal_the_script_stemmed_too(shared_data: Path) -> None:
    for item in read(shared_data, "google_tiny.jsonl"):
        for option in item["official"]:
            assert max(gaps(item, option).values()) < PRINTED, item["id"]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "option"), [("freshwiki_single_ref.jsonl", "stem"), ("scisumm_two_refs.jsonl", "stem_avg")]
)
def test_stemmed_is_near_the_script(shared_data: Path, name: str, option: str) -> None:
    """The script asks WordNet's exceptions before Porter, so single items part by up to 4 points, their mean by .4."""
    found = [gaps(item, option) for item in read(shared_data, name)[::3]]
    for metric in KINDS:
        mine = [gap[metric] for gap in found]
        assert sum(mine) / len(mine) < 0.005
        assert max(mine) < 0.05
