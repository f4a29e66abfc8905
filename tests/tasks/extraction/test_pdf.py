from tasks.extraction.engines import extract
from tasks.extraction.pdf import join_lines
from tasks.extraction.settings import ExtractSettings
from tasks.sources.miniweb.pdf import render_pdf

RIVER = (
    "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles before "
    "it meets the sea at Hallow Sands."
)
TOWN = "The town below it has 4,100 people."


def read(body: bytes):
    return extract(body, "application/pdf", None, ExtractSettings())


def test_lines_become_the_paragraphs_that_they_were():
    found = read(render_pdf("The River Wend", [RIVER, TOWN]))
    assert found.paragraphs == ("The River Wend", RIVER, TOWN)
    assert (found.engine, found.reason) == ("pdf", None)


def test_a_pdf_without_text_says_so():
    assert read(render_pdf("", [])).reason == "no_text_layer"


def test_a_pdf_with_a_password_says_so():
    from io import BytesIO

    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(PdfReader(BytesIO(render_pdf("Secret", [RIVER]))))
    writer.encrypt("hush", algorithm="RC4-128")
    locked = BytesIO()
    writer.write(locked)
    assert read(locked.getvalue()).reason == "encrypted"


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


def test_words_torn_at_a_letter_are_mended_and_variables_are_not():
    whole = "The forecasts of the storm Tembin and the rain that others made were said to be wrong."
    torn = "Th e forecast s of the storm T embin an d the rain were wron g. A forecast was made, and I saw it."
    assert join_lines([[whole, torn]]) == [
        f"{whole} The forecasts of the storm Tembin and the rain were wrong. A forecast was made, and I saw it."
    ]
    formula = "Then let n be the number of gates, and n boats with n sails pass the n gates in the n locks then."
    assert join_lines([[formula]]) == [formula]


def test_ligatures_and_soft_hyphens_are_letters_and_hyphens():
    lines = ["The \ufb01rst lock and the last of\ufb01ce of the canal were built of brick, and the sec\u00ad", "ond of"]
    assert join_lines([[*lines, "stone; it is the second of two."]]) == [
        "The first lock and the last office of the canal were built of brick, and the second of stone; it is the "
        "second of two."
    ]
