"""Entities by their capitals and by spaCy pipeline: spans, types, loading and its errors."""

from itertools import pairwise
from pathlib import Path

import pytest
import spacy

from tasks.text.entities import RULES, entity_sets, find_names, load_pipeline, pipeline_label
from tasks.verification.parser import installed


def names(text: str) -> list[str]:
    return [entity.text for entity in load_pipeline(RULES)(text).ents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 1921 she met Marie Curie in Paris.", ["Marie Curie", "Paris"]),
        ("The University of Oslo lies in Norway.", ["University of Oslo", "Norway"]),
        ("It flows into Lake Erie and the Ohio River.", ["Lake Erie", "Ohio River"]),
        ("A French painter visited.", ["French"]),
        ("They fought in the Battle of Hastings.", ["Battle of Hastings"]),
        ("It broke the Clean Air Act.", ["Clean Air Act"]),
        ("He crossed Tower Bridge on Monday.", ["Tower Bridge"]),
        ('Her song "Blue Velvet Night" was a hit.', ["Blue Velvet Night"]),
        ("It was made by Dr. J. R. Birch.", ["J. R. Birch"]),
        ("The British Army left in World War II.", ["British Army", "World War II"]),
        ("Acme Holdings Inc. owns it.", ["Acme Holdings Inc."]),
        ("However, many trains were late in January.", []),
        ("", []),
    ],
)
def test_rules(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_sentence_opening_is_a_name_only_with_evidence() -> None:
    assert names("Runoff fell from the hills.") == []
    assert names("The river Tarn fell. Tarn water is cold.") == ["Tarn", "Tarn"]


def test_names_do_not_overlap_and_stay_in_order() -> None:
    doc = load_pipeline(RULES)('The "Old Mill" by Sir John Ash of the Royal Society of London, UK.')
    words = [token.text for token in doc]
    spans = find_names(words)
    assert len(spans) == 4
    assert all(a.stop <= b.start for a, b in pairwise(spans))
    assert all(0 <= span.start < span.stop <= len(words) for span in spans)


def test_a_heading_in_title_case_gives_nothing() -> None:
    assert names("Sign Up For Our Daily Newsletter And Win Great Prizes") == []


def test_entity_sets_even_out_white_space() -> None:
    texts = ["They saw New\n York and Marie Curie.", "none here."]
    assert list(entity_sets(texts)) == [{"New York", "Marie Curie"}, frozenset()]


def test_entity_sets_do_not_depend_on_batches() -> None:
    texts = [f"In Paris we met Anna Ash{'x' * (i % 3)}." for i in range(50)]
    assert list(entity_sets(texts, batch_size=1)) == list(entity_sets(texts, batch_size=64))


def test_a_missing_pipeline_says_how_to_get_it() -> None:
    with pytest.raises(ValueError, match="python -m spacy download en_not_there"):
        load_pipeline("en_not_there")


def test_an_installed_pipeline_is_loaded_and_named(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.meta["name"], nlp.meta["version"] = "toy", "3.1"
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "GPE", "pattern": "Atlantis"},
            {"label": "PER", "pattern": "Curie"},
            {"label": "DATE", "pattern": "May"},
        ]
    )  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "toy")
    name = str(tmp_path / "toy")
    text = "We sailed to Atlantis with Marie Curie in May."
    assert list(entity_sets([text], name)) == [{"Atlantis", "Curie"}]
    assert pipeline_label(name) == f"en_toy 3.1 (spaCy {spacy.__version__})"


@pytest.mark.skipif(installed() is None, reason="needs the extra `english`")
def test_the_pipeline_of_the_extra_finds_names_and_leaves_dates_out() -> None:
    text = "In May 1921 Marie Curie met forty American painters in Paris."
    name = str(installed())
    assert list(entity_sets([text], name)) == [{"Marie Curie", "American", "Paris"}]
    assert pipeline_label(name).startswith("en_core_web_sm")


def test_a_pipeline_without_entities_is_refused(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "toy")
    with pytest.raises(ValueError, match=r"finds no entities.*sentencizer"):
        load_pipeline(str(tmp_path / "toy"))


def test_the_shipped_pipeline_has_a_version() -> None:
    assert pipeline_label(RULES) == f"rules 2 (spaCy {spacy.__version__})"


@pytest.mark.shared_data
def test_spans_on_wikigold(shared_data: Path) -> None:
    """F1 of untyped spans, one sentence at a time, of a half of the corpus that the rules were not written on."""
    text = (shared_data / "wikigold/CONLL-format/data/wikigold.conll.txt").read_text(encoding="utf-8")
    hits = found = gold = 0
    for block in text.split("\n\n")[900:1300]:
        pairs = [line.rsplit(" ", 1) for line in block.splitlines() if not line.startswith("-DOCSTART-")]
        tags = [tag for _, tag in pairs]
        starts = [i for i, tag in enumerate(tags) if tag != "O" and (i == 0 or tags[i - 1] != tag)]
        spans = {(i, next((j for j in range(i, len(tags)) if tags[j] != tags[i]), len(tags))) for i in starts}
        mine = {(name.start, name.stop) for name in find_names([word for word, _ in pairs])}
        hits, found, gold = hits + len(mine & spans), found + len(mine), gold + len(spans)
    assert gold > 500
    assert 2 * hits / (found + gold) >= 0.75
