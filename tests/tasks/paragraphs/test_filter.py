from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchmarks.web_pages import read_news as read_pages
from tasks.paragraphs import filter as rules
from tasks.paragraphs.filter import ParagraphReason, drop_reason
from tasks.paragraphs.settings import ParagraphFilterSettings
from tasks.text.boilerplate_phrases import is_boilerplate
from tasks.text.ngrams import split_words

DEFAULT = ParagraphFilterSettings()
LIU = ParagraphFilterSettings(preset="liu2018")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The river rises on the moors and runs east for forty miles.", None),
        ("“I never said so,” she told the council on Tuesday.", None),
        ("Was the bridge ever finished? Nobody in the town knows!", None),
        ("The species was described by Gray in 1831.[12]", None),
        ("یہ ایک لمبا دریا ہے جو کئی شہروں سے گزرتا ہے۔", None),
        ("ይህ ረጅም ወንዝ ነው ብዙ ከተሞችን አልፎ ይሄዳል።", None),
        ("នេះជាទន្លេវែង។ ស្ពាននេះបើកនៅឆ្នាំ១៩០០។", None),
        ("แม่น้ำสายนี้ยาวมากและไหลผ่านเมืองใหญ่หลายแห่ง " * 3, None),
        ("หน้าแรก ข่าว ติดต่อ สินค้า บริการ " * 4, "no_sentence"),
        ("この橋は一八九四年に架けられ、今も町の人々に使われている。", None),
        ("Мост через реку был построен в 1894 году.", None),
        ("نشأ النهر في المرتفعات ويجري شرقا أربعين ميلا.", None),
        ("नदी पहाड़ों से निकलती है और पूर्व की ओर बहती है।", None),
        ("the river then turns south below the bridge and widens into marshes that are under water", None),  # cut off
        ("Facebook changed its privacy policy after the ruling, and users of the site noticed.", None),
        ("The regulator fined the firm for storing cookies on the devices of people who had refused them.", None),
        ("He signed up for the army in 1914, aged sixteen, under his brother's name.", None),
        ("The committee's report lists three causes:", None),
        ("The mayor answered with one sentence:”", None),
        ("The New York Times Sunday Magazine:", "no_sentence"),
        ("The committee's report lists three causes", "no_sentence"),
        ("In a post on X, the president said the bridge would be built.", None),
        ("Source: the river rises on the moors, where it rains on two days of every three.", None),
        ("Register of the Treasury was an office that Lincoln gave to a friend.", None),
        ("Menu", "too_short"),
        ("Read the full story here.", "too_short"),
        ("", "no_letters"),
        ("12 345 — 67 %", "no_letters"),
        ("1950 1 Ma & Zong 2022 2 018 Chad 933 485 Mali 1 334 3 341 Togo 63 Benin 1 370 Niger Ghana", "mostly_symbols"),
        (
            "See https://severn.test/a/very/long/address/of/a/page and https://severn.test/the/other/page for it.",
            "mostly_links",
        ),
        (
            "* [Bayern Munich of the German league](https://sports.test/teams/bayern-munich-of-the-german-league)",
            "mostly_links",
        ),
        ("You may use <b>these</b> tags in <i>your</i> reply to the story.", "markup"),
        ("var tracker = function(a, b) { return a.push(b) } and so on.", "markup"),
        ("We use cookies to personalise content and to analyse our traffic.", "boilerplate"),
        ("Copyright © 2019 The County Courier. Every word belongs to us.", "boilerplate"),
        ("Please enable JavaScript to read the comments on this page.", "boilerplate"),
        ("Share this story with your friends on every network you use.", "boilerplate"),
        ("Subscribe to our newsletter for the best stories of the week.", "boilerplate"),
        ("By using this site you agree to our Terms of Service and all that.", "boilerplate"),
        ("Lycan, W. C. (1987) Consciousness. MIT Press. Google Scholar", "boilerplate"),
        ("Home | News | Sport | Weather | Travel | Shop | Contact | Help", "navigation"),
        ("Steam FAQ guide * How to share games * How to use streaming * Deals", "navigation"),
        ("Barges Return to the Severn After a Hundred Years of Silence", "no_sentence"),
        ("Reporting by Stephen Nellis and Editing by David Gregorio", "no_sentence"),
        ("The river. " * 1000, "too_long"),
    ],
)
def test_default_preset(text, reason):
    assert drop_reason(text, DEFAULT) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("One two three four five.", "too_short"),
        ("One two three four five six.", None),
        ("Река течёт на восток через весь город.", "no_letters"),
        ("The river rises on the moors and runs east", "no_sentence"),
        ("See here now. And then one more phrase", "no_sentence"),  # the sentence has three tokens
        ("See it here now. And then one more phrase", None),
        ("Was the bridge ever finished in that year?", "no_sentence"),
        ("We use cookies to personalise the content.", None),
    ],
)
def test_rules_of_liu_2018(text, reason):
    assert drop_reason(text, LIU) == reason


def test_no_rules():
    assert drop_reason("", ParagraphFilterSettings(preset="none")) is None


def test_length_decides_on_short_notices_and_on_endless_text(monkeypatch):
    text = "A river of four."
    assert drop_reason(text, DEFAULT) == "too_short"
    notice = "We use cookies to personalise content and to analyse our traffic."
    assert drop_reason(notice, DEFAULT) == "boilerplate"
    monkeypatch.setattr(rules, "BOILERPLATE_CHARACTERS", 60)
    assert drop_reason(notice, DEFAULT) is None
    monkeypatch.setattr(rules, "MAX_CHARACTERS", 10)
    assert drop_reason(notice, DEFAULT) == "too_long"


def test_language_that_is_no_code_is_refused():
    with pytest.raises(ValueError, match="language"):
        ParagraphFilterSettings(language="English")


@given(st.text(max_size=300), st.sampled_from(["default", "liu2018", "none"]))
def test_no_text_fails(text, preset):
    assert drop_reason(text, ParagraphFilterSettings(preset=preset)) in (None, *ParagraphReason)


def every_rule_in_full(text: str, settings: ParagraphFilterSettings) -> str | None:
    """The preset `default` without what spares searches: all counts are taken, then the rules asked in order."""
    words, sentences = len(split_words(text, "unicode")), rules._sentences(text, len(text) + 1)
    symbols, linked = len(rules._SYMBOL.findall(text)), sum(map(len, rules._LINK.findall(text)))
    markup, separators = len(rules._MARKUP.findall(text)), len(rules._SEPARATOR.findall(text))
    answers = {
        "too_long": len(text) > rules.MAX_CHARACTERS,
        "no_letters": not rules._SPELLED.search(text),
        "too_short": words < 6,
        "mostly_links": linked > rules.MAX_LINK_SHARE * len(text),
        "mostly_symbols": symbols > rules._MAX_SYMBOL_SHARE * (len(text) - text.count(" ")),
        "markup": markup * rules._WORDS_PER_MARKUP > words,
        "boilerplate": len(text) <= rules.BOILERPLATE_CHARACTERS and is_boilerplate(text),
        "navigation": separators > max(2, words / rules._WORDS_PER_SEPARATOR)
        and sentences * rules._WORDS_PER_SENTENCE < words,
        "no_sentence": not sentences and not rules._is_unfinished_prose(text, words),
    }
    return next((reason for reason, holds in answers.items() if holds), None)


PIECES = [
    "The river rises on the moors",
    "and runs east",
    "for forty miles.",
    "In 1894 it was",
    "new. See",
    "https://wye.test",
    "wWw.severn.test/a",
    "HTTP://a",
    "[the map](a)",
    "![](b",
    "[12]",
    "[x]",
    "<b>",
    "<A href=",
    "</i>",
    "&nbsp;",
    "&#39;",
    "{{",
    "}}",
    "function f(a) {",
    "var a = 1;",
    '{"a":',
    "{ color : red; }",
    "|",
    "•",
    "/",
    "- a",
    "* b",
    "›",
    "12 345",
    "We use cookies.",
    "Share this story",
    "Menu",
    "News",
    "橋は今も",
    "ℕ",
    "“Never!”",
    "vs.",
    "J. Smith",
    "?",
    "Café—1894…",
    "x² ½",
    "٣٤",
    "\u2009",
]


@hypothesis_settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from([0.0, 0.2, 0.5]))
def test_searches_that_are_spared_change_nothing(pieces, share):
    text = " ".join(pieces)
    with patch.multiple(rules, MAX_LINK_SHARE=share, BOILERPLATE_CHARACTERS=100):
        assert drop_reason(text, DEFAULT) == every_rule_in_full(text, DEFAULT)
        assert drop_reason(text, DEFAULT, split_words(text)) == every_rule_in_full(text, DEFAULT)


@given(st.text(st.characters(max_codepoint=0x2100)))
def test_words_and_symbols_are_those_of_the_patterns(text):
    assert rules._words_and_symbols(text) == (len(split_words(text, "unicode")), len(rules._SYMBOL.findall(text)))


def test_every_character_counts_as_by_the_patterns():
    for text in map(chr, range(0x3100)):
        assert rules._words_and_symbols(text) == (len(split_words(text, "unicode")), len(rules._SYMBOL.findall(text)))


@pytest.mark.parametrize("text", ["a " * 200_000, "|" * 400_000, "[](" * 100_000, "<a " * 100_000, "{" * 300_000])
def test_long_lines_take_no_quadratic_time(text, monkeypatch):
    monkeypatch.setattr(rules, "MAX_CHARACTERS", 1_000_000)
    assert drop_reason(text, DEFAULT) is not None


@pytest.mark.shared_data
def test_prose_that_people_took_for_the_article_is_kept(shared_data):
    paragraphs = [line for page in read_pages(shared_data / "extraction") for line in page.truth.split("\n")]
    prose = [text for text in paragraphs if len(text) >= 120 and text.rstrip(" ”\"'").endswith((".", "!", "?"))]
    dropped = [text for text in prose if drop_reason(text, DEFAULT)]
    assert len(prose) > 500
    assert len(dropped) <= 1, dropped  # one ends in an invitation to leave a comment
