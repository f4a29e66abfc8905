import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.markup import clean, join_wrapped, page_title, parse, plain_paragraphs


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<head><title> The  River\nSevern </title></head><body><h1>Other</h1>", "The River Severn"),
        ("<title></title><meta property='og:title' content='Severn'><h1>Other</h1>", "Severn"),
        ("<title></title><meta property='name og:title' content='Severn'><h1>Other</h1>", "Severn"),
        ("<body><h1>The <b>Severn</b></h1><h1>Second</h1>", "The Severn"),
        ("<body><svg><title>icon</title></svg><p>text", None),
        ("<body><p>text", None),
    ],
)
def test_title(html, title):
    assert page_title(parse(html)) == title


@pytest.mark.parametrize("html", ["", "   ", "<!-- only a comment -->", '<?xml version="1.0"?>'])
def test_nothing_is_no_tree(html):
    assert parse(html) is None


def test_xml_declaration_and_wrong_meta_do_not_matter():
    tree = parse('<?xml version="1.0" encoding="koi8-r"?><html><meta charset="koi8-r"><body><p>Fluß</p></body></html>')
    assert tree.findtext(".//p") == "Fluß"


def test_clean_takes_what_no_text_has():
    assert clean("a\0b\x0bc\r\nd\re\ud800f") == "abc\nd\ne?f"


def test_plain_text_has_a_paragraph_a_line():
    long = "A line of plain text that is longer than any that was wrapped by hand, because it goes on and on and on."
    assert plain_paragraphs(f"One line.\n\n{long}\nThree.") == ["One line.", long, "Three."]


def test_plain_text_wrapped_by_hand_has_a_paragraph_a_block():
    first = "The ferry that crosses the sound was opened in the year\nof the fair."
    assert plain_paragraphs(f"{first}\n \nTwo\n  lines.\n\n\n") == [first.replace("\n", " "), "Two", "lines."]


def test_short_lines_and_items_of_a_list_were_not_wrapped_by_hand():
    item = "- the ferry that crosses the sound was opened in the year\n  of the fair"
    assert plain_paragraphs(f"Choir trip\ndeadline 1 May\n\nTo do:\n{item}\n* 2 - 3 boats\n") == [
        "Choir trip",
        "deadline 1 May",
        "To do:",
        "- the ferry that crosses the sound was opened in the year of the fair",
        "* 2 - 3 boats",
    ]


WRAPPED = "Following the signing of the arbitration, Germany and Italy"


def test_sentence_broken_over_lines_is_joined():
    assert join_wrapped([WRAPPED, "permitted the occupa-", "tion of the south."]) == [
        f"{WRAPPED} permitted the occupa-",
        "tion of the south.",
    ]
    assert join_wrapped([WRAPPED + " permitted the occupa-", "tion of it."]) == [
        f"{WRAPPED} permitted the occupa-tion of it."
    ]


@pytest.mark.parametrize(
    "following",
    [
        "Germany was next.",  # begins a sentence
        "read",  # a label
        "1938 was the year.",
    ],
)
def test_what_begins_anew_stays_apart(following):
    assert join_wrapped([WRAPPED, following]) == [WRAPPED, following]


@pytest.mark.parametrize("line", ["flour", WRAPPED + ".", WRAPPED + ":", f"{WRAPPED} https://severn.test/page"])
def test_what_is_whole_stays_apart(line):
    assert join_wrapped([line, "permitted the occupation."]) == [line, "permitted the occupation."]


@given(st.lists(st.text(alphabet="ab C.-", min_size=1, max_size=60)))
def test_joining_loses_no_letter(lines):
    joined = join_wrapped(lines)
    assert "".join(joined).replace(" ", "") == "".join(lines).replace(" ", "")
    assert len(joined) <= len(lines)
