import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.extraction import read_pages
from tasks.paragraph_filter import ParagraphFilterSettings, drop_reason

DEFAULT = ParagraphFilterSettings()
LIU = ParagraphFilterSettings(preset="liu2018")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The river rises on the moors and runs east for forty miles.", None),
        ("“I never said so,” she told the council on Tuesday.", None),
        ("Was the bridge ever finished? Nobody in the town knows!", None),
        ("The species was described by Gray in 1831.[12]", None),
        ("この橋は一八九四年に架けられ、今も町の人々に使われている。", None),
        ("Мост через реку был построен в 1894 году.", None),
        ("نشأ النهر في المرتفعات ويجري شرقا أربعين ميلا.", None),
        ("नदी पहाड़ों से निकलती है और पूर्व की ओर बहती है।", None),
        ("the river then turns south below the bridge and widens into marshes that are under water", None),  # cut off
        ("Facebook changed its privacy policy after the ruling, and users of the site noticed.", None),
        ("The regulator fined the firm for storing cookies on the devices of people who had refused them.", None),
        ("He signed up for the army in 1914, aged sixteen, under his brother's name.", None),
        ("Menu", "too_short"),
        ("Read the full story here.", "too_short"),
        ("", "no_letters"),
        ("12 345 — 67 %", "no_letters"),
        ("1950 1 002 2 018 Chad 933 485 Mali 1 334 3 341 Togo 63 Benin 1 370 Niger Ghana", "mostly_symbols"),
        ("See https://severn.test/a/very/long/address/of/a/page and https://severn.test/the/other/page for it.",
         "mostly_links"),
        ("* [Bayern Munich of the German league](https://sports.test/teams/bayern-munich-of-the-german-league)",
         "mostly_links"),
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
)  # fmt: skip
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


def test_thresholds_are_settings():
    text = "A river of four."
    assert drop_reason(text, DEFAULT) == "too_short"
    assert drop_reason(text, ParagraphFilterSettings(min_words=4)) is None
    notice = "We use cookies to personalise content and to analyse our traffic."
    assert drop_reason(notice, ParagraphFilterSettings(boilerplate_characters=0)) is None
    assert drop_reason(notice, ParagraphFilterSettings(max_characters=10)) == "too_long"


@pytest.mark.parametrize("preset", ["default", "liu2018", "none"])
def test_language_is_asked_after_the_preset(preset):
    english = ParagraphFilterSettings(preset=preset, language="en")
    german = "Die Brücke wurde im Jahre 1894 von der Stadt gebaut und trägt seither die Straße nach Norden."
    assert drop_reason(german, english) == "language"
    assert drop_reason(german, ParagraphFilterSettings(preset=preset, language="de")) is None
    assert drop_reason(german, ParagraphFilterSettings(preset=preset)) is None
    assert (
        drop_reason("The bridge was built by the town in 1894 and has carried the road north since.", english) is None
    )
    assert drop_reason("Die Brücke steht noch heute da.", english) is None  # too short to be sure


def test_language_that_is_no_code_is_refused():
    with pytest.raises(ValueError, match="language"):
        ParagraphFilterSettings(language="English")


@given(st.text(max_size=300), st.sampled_from(["default", "liu2018", "none"]))
def test_no_text_fails(text, preset):
    assert drop_reason(text, ParagraphFilterSettings(preset=preset)) in {
        None, "too_long", "no_letters", "too_short", "mostly_links", "mostly_symbols", "markup", "boilerplate",
        "navigation", "no_sentence",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a " * 200_000, "|" * 400_000, "[](" * 100_000, "<a " * 100_000, "{" * 300_000])
def test_long_lines_take_no_quadratic_time(text):
    assert drop_reason(text, ParagraphFilterSettings(max_characters=1_000_000)) is not None


@pytest.mark.shared_data
def test_prose_that_people_took_for_the_article_is_kept(shared_data):
    paragraphs = [line for page in read_pages(shared_data / "extraction") for line in page.truth.split("\n")]
    prose = [text for text in paragraphs if len(text) >= 120 and text.rstrip(" ”\"'").endswith((".", "!", "?"))]
    dropped = [text for text in prose if drop_reason(text, DEFAULT)]
    assert len(prose) > 500
    assert len(dropped) <= 1, dropped  # one ends in an invitation to leave a comment
