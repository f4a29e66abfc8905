"""Pages that mirror a lead in many layouts, and pages that share only some words with it."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mirrors import LAYOUTS, candidates, honest_shares, share_left, web_page
from storage.schemas import GIVEN
from tasks.paragraphs.mirrors import LeadNgrams, plain_words
from tests.tasks.paragraphs.test_paragraphs import article, build, document

LEAD = (
    "The lock at Arlen was built in 1894 to lift barges past the old weir of the mill. It was rebuilt after the flood "
    "of 1912 had carried away its gates. Engineers from Hull found most of the lower wall in the river below the town. "
    "The new gates were made of oak and hung on cast iron posts.\n"
    "Traffic fell when the railway reached the valley in 1926. A trust of boat owners took over the lock after the war "
    "and opened it again to pleasure boats. More than four thousand boats now pass through it every summer. "
    "The cottage of its keeper holds a small museum on the history of the river. Volunteers lead visitors through its "
    "three rooms and over the lower gates on most days between Easter and October of each year."
)
EIGHT = "one two three four five six seven eight"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layout_of_a_mirror_leaves_the_lead_in_the_sources(layout):
    page = web_page(LEAD, layout)
    texts, reasons = candidates(LEAD, page, 0.4)
    assert share_left(LEAD, page, 0.4) <= 0.02
    assert sum(reason is None for reason in reasons) >= 1  # what the site wrote itself is kept
    assert next(text for text, reason in zip(texts, reasons, strict=True) if reason is None).startswith("Our readers")


def test_without_the_rule_a_sentence_a_paragraph_leaves_the_whole_lead():
    assert share_left(LEAD, web_page(LEAD, "a sentence a paragraph"), None) > 0.9


def test_a_page_up_to_the_threshold_is_no_mirror():
    lead = LeadNgrams(" ".join(f"w{number}" for number in range(17)))  # ten 8-grams
    four = [" ".join(f"w{number}" for number in range(11))]
    five = [" ".join(f"w{number}" for number in range(12)), "something else"]
    assert (lead.share_in(four), lead.share_in(five)) == (0.4, 0.5)
    assert lead.mirrored(four, 0.4) == [False]
    assert lead.mirrored(five, 0.4) == [True, False]


def test_paragraphs_that_an_ngram_reaches_into_and_pieces_of_the_lead_repeat_it():
    lead = LeadNgrams(f"{EIGHT} nine ten eleven twelve")
    page = ["zero one two three", "four five six seven eight nine", "eleven twelve then", "then twelve and more words"]
    assert lead.share_in(page) == 0.4  # of five 8-grams those that begin with "one" and "two"
    assert lead.mirrored(page, 0.39) == [True, True, True, False]


@pytest.mark.parametrize("lead", ["", "one two three four five six seven", "Москва."])
def test_a_lead_of_fewer_than_eight_words_has_no_mirror(lead):
    assert LeadNgrams(lead).share_in([lead]) == 0.0
    assert LeadNgrams(lead).mirrored([lead, ""], 0.0) == [False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The lock.[1] It[note 2] held [citation needed] water", ["the", "lock", "it", "held", "water"]),
        ("lock\u00b9 closed.23 In 1912", ["lock", "closed", "in", "1912"]),
        ("lo\u200bck and wa\u00adll", ["lock", "and", "wall"]),
        ("\u041c\u043e\u0441k", ["mock"]),  # three Cyrillic letters, then a Latin one
        ("\uff21\uff12 \ufb01ne Z\u00fcrich Zu\u0308rich", ["a2", "fine", "zurich", "zurich"]),
        ("3.5 km of 1,200 boats", ["3", "5", "km", "of", "1", "200", "boats"]),
    ],
)
def test_what_mirrors_add_to_letters_is_taken_away(text, words):
    assert plain_words(text) == words


SIGNS = st.sampled_from("ab 1.,[]é\u0323\u0301²’\u200bАоﬁ１٣漢ำ\u0930\u094d½")


@given(st.text(SIGNS | st.characters(categories=["L", "M", "N", "P", "Z"])))
def test_composed_and_decomposed_texts_have_the_same_plain_words(text):
    assert plain_words(unicodedata.normalize("NFD", text)) == plain_words(unicodedata.normalize("NFC", text))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=8, max_size=40), st.integers(1, 9))
def test_a_text_mirrors_itself_wherever_it_is_cut(words, size):
    lead = LeadNgrams(" ".join(words))
    cut = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
    assert lead.share_in(cut) == 1.0
    assert all(lead.mirrored(cut, 0.4))


def test_documents_of_the_source_itself_are_kept():
    """Published summaries quote their documents: 80 % of those of SciSummNet have a share above .4."""
    sentences = [f"{sentence.rstrip('.')}." for sentence in LEAD.replace("\n", " ").split(". ")]
    row = {name: value for name, value in document(*sentences).items() if name in GIVEN.schema.names}
    assert set(build([article(lead=LEAD)], [], given=[row])["drop_reason"]) == {None}
    crawled = document(*sentences, engine="trafilatura")
    assert set(build([article(lead=LEAD, split="test")], [crawled])["drop_reason"]) == {"mirror"}


@pytest.mark.shared_data
def test_real_cited_pages_are_no_mirrors(shared_data: Path) -> None:
    """The first hundred pairs of a section and a page that it cites; `python -m benchmarks.mirrors` takes all."""
    shares = honest_shares(shared_data / "wikigraph", 100)
    assert len(shares) == 100
    assert max(shares) < 0.4
