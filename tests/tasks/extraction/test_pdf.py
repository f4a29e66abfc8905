from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap

import pypdfium2 as pdfium
import pytest
from fpdf import FPDF
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tasks.extraction import pdf, pdf_pages
from tasks.extraction.engines import extract
from tasks.extraction.extractor import Extractor
from tasks.extraction.reference_marks import without_reference_marks
from tasks.extraction.settings import ExtractSettings
from tasks.sources.miniweb.site import render_pdf

RIVER = (
    "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles before "
    "it meets the sea at Hallow Sands."
)
TOWN = "The town below it has 4,100 people."


def join_lines(pages: list[list[str]]) -> list[str]:
    return [text for text, _ in pdf.join_lines(pages)]


def document() -> FPDF:
    drawn = FPDF(unit="pt", format="A4")
    drawn.set_font("Helvetica", size=10)
    drawn.add_page()
    return drawn


def drawn_bytes(drawn: FPDF, texts: list[tuple[float, float, str]]) -> bytes:
    for left, down, text in texts:
        drawn.text(left, down, text)
    return bytes(drawn.output())


def read(body: bytes):
    return extract(body, "application/pdf", None, ExtractSettings())


def test_lines_become_the_paragraphs_that_they_were():
    found = read(render_pdf("The River Wend", [RIVER, TOWN]))
    assert found.paragraphs == ("The River Wend", RIVER, TOWN)
    assert (found.engine, found.reason) == ("pdf", None)


def test_a_pdf_without_text_says_so():
    assert read(render_pdf("", [])).reason == "no_text_layer"


def test_a_pdf_with_a_password_says_so():
    drawn = document()
    drawn.set_encryption("hush", "hush")
    assert read(drawn_bytes(drawn, [(50, 80, RIVER)])).reason == "encrypted"


FULL = "Sixty characters make a full line of this small page, or so"


def test_a_short_line_that_ends_a_sentence_ends_the_paragraph():
    assert join_lines([[FULL, "of prose.", FULL, "goes on."]]) == [f"{FULL} of prose.", f"{FULL} goes on."]


def test_a_paragraph_goes_on_over_the_page_without_heads_and_page_numbers():
    pages = [["The Annual", FULL, "1"], ["The Annual", "and is done.", "2"]]
    assert join_lines(pages) == [f"{FULL} and is done."]


def test_a_hyphen_is_removed_if_the_word_is_known_and_kept_otherwise():
    lines = [
        "The bridge was rebuilt in the spring, and the new brid-",
        "ge, which is a copy of the old one, is well-",
        "known.",
    ]
    assert join_lines([lines]) == [
        "The bridge was rebuilt in the spring, and the new bridge, which is a copy of the old one, is well-known."
    ]


def test_headings_and_items_stand_alone():
    lines = ["Towns", FULL, "and so on.", "Orme", "Bexley"]
    assert join_lines([lines]) == ["Towns", f"{FULL} and so on.", "Orme", "Bexley"]


def test_running_heads_that_differ_in_their_numbers_are_left_out():
    texts = {number: [f"{FULL} {way}", f"{way} of it."] for number, way in enumerate(["north", "south", "east"], 8)}
    prose = [" ".join(lines) for lines in texts.values()]
    assert join_lines([[f"{n} A. Molloy", *lines, f"Page {n} of 9"] for n, lines in texts.items()]) == prose
    assert join_lines([[str(n), "The Annual", f"Molloy {n}", *lines] for n, lines in texts.items()]) == prose
    assert join_lines([[*lines, f"The Annual, {n}", str(n)] for n, lines in texts.items()]) == prose


def test_soft_hyphens_are_hyphens():
    lines = ["The first lock and the last office of the canal were built of brick, and the sec\u00ad", "ond of"]
    assert join_lines([[*lines, "stone; it is the second of two."]]) == [
        "The first lock and the last office of the canal were built of brick, and the second of stone; it is the "
        "second of two."
    ]


def test_heads_of_chapters_are_left_out_of_a_long_document():
    heads = [f"The Upper Lock {n}" if n < 4 else f"The Lower Lock {n}" if n < 7 else f"Of Boats {n}" for n in range(12)]
    pages = [[head, f"{FULL} {'abcdefghijkl'[n]}", "and more of"] for n, head in enumerate(heads)]
    assert not [text for text in join_lines(pages) if "Lock" in text or "Boats" in text]


def test_a_head_or_foot_within_a_sentence_is_left_out_and_a_heading_is_not():
    assert join_lines([[FULL, FULL, "A. Molloy"], ["Of Gates, 14", "and is done."]]) == [f"{FULL} {FULL} and is done."]
    assert join_lines([[FULL, "of it."], ["Of Gates", "iron was the dearest."]])[0] == f"{FULL} of it."
    assert "Of Gates" in " ".join(join_lines([[FULL, "of it."], ["Of Gates", "iron was the dearest."]]))


def test_notes_at_the_foot_come_last_and_their_numbers_go():
    pages = [
        [FULL, "It was built of wood.1 The men, who were few,2 then", "1 Molloy, A History of Locks, p. 4.", "2 Ibid."],
        [
            "went home, and the lock was closed.3 It is still there.",
            "3 The Annual, 1901, which says so",
            "of all locks.",
        ],
    ]
    assert without_reference_marks(join_lines(pages)) == [
        f"{FULL} It was built of wood. The men, who were few, then went home, and the lock was closed. "
        "It is still there.",
        "1 Molloy, A History of Locks, p. 4.",
        "2 Ibid.",
        "3 The Annual, 1901, which says so of all locks.",
    ]


CASES = Path(__file__).parents[4] / "shared" / "cases" / "web"


@pytest.mark.shared_data
@pytest.mark.skipif(not CASES.is_dir(), reason="needs ../shared/cases")
@pytest.mark.parametrize(
    ("name", "paragraphs", "begins", "ends"),
    [
        ("41_columns_drawn_by_rows.pdf", 2, "The Harrow Valley Mill was built in 1874 by the engineer", "received."),
        ("47_line_numbers.pdf", 7, "The Harrow Valley Mill was built in 1874 by the engineer", "received."),
    ],
)
def test_columns_by_rows_and_line_numbers(name: str, paragraphs: int, begins: str, ends: str):
    found = read((CASES / name).read_bytes())
    assert len(found.paragraphs) == paragraphs and found.page_numbers == (1,) * paragraphs
    assert found.paragraphs[0].startswith(begins) and found.paragraphs[-1].endswith(ends)
    assert not any(text[0].isdigit() for text in found.paragraphs)


@pytest.mark.shared_data
@pytest.mark.skipif(not CASES.is_dir(), reason="needs ../shared/cases")
def test_hyphens_of_the_language_and_of_ranges():
    assert read((CASES / "48_hyphens.pdf").read_bytes()).paragraphs == (
        "The engineer Thomas Marwick built the mill for the Dunlop family, a well-known house of the valley, in "
        "1874\u20131876, with a wheel of forty-two buckets, and the cost was 1,200-1,400 pounds of the day in the "
        "long-term book of the trust.",
    )


def test_a_hyphen_that_a_later_word_completes_is_kept():
    assert join_lines([["Es gibt die Fähre in 64-Bit-", "als auch in 32-Bit-Form, an Werk-", "sowie Feiertagen."]]) == [
        "Es gibt die Fähre in 64-Bit- als auch in 32-Bit-Form, an Werk- sowie Feiertagen."
    ]


def test_hyphens_by_the_document_then_by_the_language():
    lines = [
        "It is a well-known house of the Dunlops, and of Baden-",
        "Baden, Kuber-",
        "netes and the Mar-",
        "wicks; pre- and post-",
        "office houses, state-of-the-",
        "art boats, a long-",
        "term reader and an e-",
        "mail, the co-op and the co-",
        "op, sub-",
        "way and bridge.",
    ]
    assert join_lines([lines]) == [
        "It is a well-known house of the Dunlops, and of Baden-Baden, Kubernetes and the Marwicks; pre- and "
        "post-office houses, state-of-the-art boats, a long-term reader and an e-mail, the co-op and the co-op, "
        "subway and bridge."
    ]


def test_each_paragraph_has_the_page_on_which_it_begins():
    east, west = FULL.replace("Sixty", "Eastern"), FULL.replace("Sixty", "Western")
    pages = [[FULL, "of prose.", east], ["goes on.", west, "ends."]]
    assert pdf.join_lines(pages) == [(f"{FULL} of prose.", 1), (f"{east} goes on.", 1), (f"{west} ends.", 2)]


def test_the_title_is_drawn_where_the_metadata_has_none():
    drawn = document()
    drawn.set_title("untitled")
    drawn.set_font_size(20)
    drawn.text(50, 60, "The Locks of Wend")
    drawn.set_font_size(10)
    found = read(drawn_bytes(drawn, [(50, 90, RIVER[:90]), (50, 102, RIVER[90:])]))
    assert (found.title, found.paragraphs[0]) == ("The Locks of Wend", "The Locks of Wend")


def test_a_title_keeps_its_smaller_words_and_no_symbol_or_list_of_contents_is_one():
    drawn = document()
    for down, parts in [(60, [(20, "Reading tides in "), (16, "wend"), (20, " files")]), (90, [(10, RIVER[:80])])]:
        drawn.set_xy(50, down)
        for size, text in parts:
            drawn.set_font_size(size)
            drawn.cell(drawn.get_string_width(text), text=text)
    drawn.set_font_size(30)
    drawn.text(50, 160, "X 2")  # the sign of a sum
    assert read(bytes(drawn.output())).title == "Reading tides in wend files"


@pytest.mark.parametrize(("word", "title"), [("Barometers", "Barometers"), ("CLARION", None), ("Contents", None)])
def test_one_large_word_is_a_title_unless_it_is_a_logo(word: str, title: str | None):
    drawn = document()
    drawn.set_font_size(20)
    drawn.text(50, 60, word)
    drawn.set_font_size(10)
    assert read(drawn_bytes(drawn, [(50, 90, RIVER[:90])])).title == title


def test_ligatures_and_quotation_marks_of_tex_fonts_without_a_table_are_read():
    drawn = document()
    drawn.core_fonts_encoding = "latin-1"
    found = read(
        drawn_bytes(drawn, [(50, 90, "The \x1crst lock is de\x1cned as \x10e\x1ecient\x11 by its sta\x1b, 1\x155 m.")])
    )
    assert found.paragraphs == ("The first lock is defined as “efficient” by its staff, 1–5 m.",)


def test_a_superscript_is_no_part_of_a_number():
    drawn = document()
    for left, down, size, text in [
        (50, 80, 10, "It opened in 1874"),
        (130, 76, 6, "1"),
        (140, 80, 10, "and covers 31 km"),
        (214, 76, 6, "2"),
        (225, 80, 10, "of land."),
    ]:
        drawn.set_font_size(size)
        drawn.text(left, down, text)
    assert read(bytes(drawn.output())).paragraphs == ("It opened in 1874 and covers 31 km² of land.",)


def test_a_table_is_read_row_by_row():
    rows = [("Orme", "4,100", "1874"), ("Bexley", "310", "1902"), ("Dun", "214", "1926"), ("Wend", "77", "1931")]
    texts = [
        (left, 80.0 + 14 * n, cell)
        for n, row in enumerate(rows)
        for left, cell in zip((50, 200, 350), row, strict=True)
    ]
    assert " ".join(read(drawn_bytes(document(), texts)).paragraphs) == (
        "Orme 4,100 1874 Bexley 310 1902 Dun 214 1926 Wend 77 1931"
    )


def test_a_small_table_of_phrases_is_read_row_by_row():
    rows = [
        ("built by Thomas Marwick", "opened in the spring"),
        ("burned in the war", "rebuilt after nine years of work"),
        ("sold to the town council", "closed for good"),
    ]
    drawn = document()
    for number, cells in enumerate(rows):
        for left, text in zip((60, 300), cells, strict=True):
            drawn.text(left, 100 + 13 * number, text)
    found = " ".join(read(bytes(drawn.output())).paragraphs)
    assert found == " ".join(text for row in rows for text in row)


def test_spaces_of_justified_text_that_lie_below_one_another_are_no_gutter():
    lines = [
        ("The mill stands on", "the river Wend, where"),
        ("it was built by two", "brothers of the town,"),
        ("who sold it to the", "railway in the spring"),
        ("of the year after its", "great wheel broke, and"),
        ("never saw it at work", "again in their lives."),
    ]
    drawn, texts = document(), list[tuple[float, float, str]]()
    for row, parts in enumerate(lines):
        for left, part in zip((50, 200), parts, strict=True):
            words = part.split()
            free = 140 - sum(map(drawn.get_string_width, words))
            for word in words:
                texts.append((left, 80 + 12 * row, word))
                left += drawn.get_string_width(word) + free / (len(words) - 1)
    assert read(drawn_bytes(drawn, texts)).paragraphs == (" ".join(part for parts in lines for part in parts),)


@pytest.mark.parametrize(("apart", "text"), [({3, 7}, "For exam ple"), (set(range(10)), "Forexample")])
def test_words_drawn_apart_without_a_space_are_words_and_letters_set_apart_are_one(
    monkeypatch: pytest.MonkeyPatch, apart: set[int], text: str
):
    # PDFium writes no space where groff moves on by 0.26 of the font's size; 10 points have boxes of 9.25
    monkeypatch.setattr(
        pdf_pages, "_box", lambda page, index: box(5.0 * index + 2.6 * sum(one <= index for one in apart))
    )
    drawn = drawn_bytes(document(), [(50, 80, "Forexample")])
    assert read(drawn).paragraphs == (text,)


def box(left: float) -> pdfium.raw.FS_RECTF:
    return pdfium.raw.FS_RECTF(left=left, right=left + 5, bottom=700, top=709.25)


def test_numbers_of_list_items_and_years_stay():
    items = [f"Lock of the {name} Canal" for name in "ABCDEF"]
    places = [[(50.0, 80.0 + 14 * n, f"{n + 1}"), (70.0, 80.0 + 14 * n, item)] for n, item in enumerate(items)]
    found = read(drawn_bytes(document(), [place for row in places for place in row]))
    assert " ".join(found.paragraphs) == " ".join(f"{n} {item}" for n, item in enumerate(items, 1))


def test_a_damaged_pdf_and_one_of_many_pages_stay_within_the_limits():
    body = render_pdf("The River Wend", [RIVER])
    with Extractor(ExtractSettings(), memory_mib=1024) as extractor:
        assert (
            extractor.extract(b"%PDF-1.7\n" + b"junk" * 100, mime=pdf.MIME, charset=None).reason == "extraction_failed"
        )
        assert extractor.extract(body, mime=pdf.MIME, charset=None).paragraphs == ("The River Wend", RIVER)
    with Extractor(ExtractSettings(), cpu_seconds=0.05) as extractor:
        drawn = document()
        for _ in range(400):
            drawn.add_page()
            for line in range(50):
                drawn.text(50, 60 + 14 * line, RIVER[:90])
        assert extractor.extract(bytes(drawn.output()), mime=pdf.MIME, charset=None).reason == "extraction_timeout"


WORDS = st.sampled_from(
    [
        "river",
        "town",
        "bridge",
        "built",
        "county",
        "Marwick",
        "Ardal",
        "Lorne",
        "1874",
        "1,200",
        "31.5",
        "7",
        "214",
        "of",
    ]
)


# The same layouts each time: of pages whose lines mostly begin with figures, one in a hundred is read wrongly.
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(WORDS, min_size=100, max_size=130), min_size=1, max_size=3),
    st.sampled_from(["one column", "columns", "rows"]),
    st.booleans(),
    st.sampled_from([9, 10, 12]),
)
def test_every_word_drawn_stands_in_its_order(paragraphs: list[list[str]], layout: str, numbered: bool, size: int):
    drawn = FPDF(unit="pt", format="A4")
    drawn.set_font("Helvetica", size=size)
    drawn.add_page()
    texts = [" ".join(words).capitalize() + "." for words in paragraphs]
    lines = [line for text in texts for line in wrap(text, 44 if layout != "one column" else 80)]
    half = (len(lines) + 1) // 2 if layout != "one column" else len(lines)
    places = [(70 if n < half else 330, 80 + 1.3 * size * (n % half), line) for n, line in enumerate(lines)]
    if layout == "rows":
        places.sort(key=lambda place: (place[1], place[0]))
    if numbered and layout == "one column":
        places = [each for n, (x, y, line) in enumerate(places, 1) for each in ((40, y, str(n)), (x, y, line))]
    for left, down, line in places:
        drawn.text(left, down, line)
    found = " ".join(read(bytes(drawn.output())).paragraphs).split()
    expected = " ".join(texts).split()
    assert found == expected


SMALL_WORDS = st.sampled_from(["river", "town", "bridge", "built", "county", "miller", "of", "the", "1,200", "Marwick"])
SHORT_TEXT = st.lists(SMALL_WORDS, min_size=20, max_size=60).map(lambda words: " ".join(words).capitalize() + ".")


_FEW_WORDS = 5


def _goes_on(lines: list[str]) -> bool:
    """Tell whether at least half of the lines begin in lower case. Texts of other lines look like tables."""
    return sum(line[0].islower() for line in lines[1:]) >= max(1, len(lines) / 2)


# The same layouts each time: columns that repeat one word are read across.
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(SHORT_TEXT, SHORT_TEXT), min_size=1, max_size=3), st.sampled_from([9, 10, 12]))
def test_short_texts_side_by_side_are_read_one_after_the_other(blocks: list[tuple[str, str]], size: int):
    drawn = FPDF(unit="pt", format="A4")
    drawn.set_font("Helvetica", size=size)
    drawn.add_page()
    top, expected = 80.0, list[str]()
    for texts in blocks:
        columns = [drawn.multi_cell(230, text=text, align="L", dry_run=True, output="LINES") for text in texts]
        assume(all(map(_goes_on, columns)) and all(len(set(text.lower().split())) > _FEW_WORDS for text in texts))
        heading = "Part of the history of the county, over the whole width of both of its columns"
        drawn.text(70, top, heading)
        for row, lines in enumerate(zip_longest(*columns, fillvalue=""), 1):
            for left, line in zip((70, 330), lines, strict=True):
                drawn.text(left, top + (1 + 1.3 * row) * size, line)
        top += 1.3 * size * (max(map(len, columns)) + 3)
        expected += f"{heading} {' '.join(texts)}".split()
    assert " ".join(read(bytes(drawn.output())).paragraphs).split() == expected


def test_words_of_less_than_a_point_are_read():
    places = {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.75, "e": 0.85, "f": 0.95}
    line = [pdf_pages.PdfWord(text, left, left + 0.05, 0.0, 0.5) for text, left in places.items()]
    below = [replace(word, bottom=-1.0) for word in line]
    assert pdf_pages.text_lines([line, below]) == ["a b c d e f"] * 2
