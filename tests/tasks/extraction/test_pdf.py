from tasks.extraction.engines import extract
from tasks.extraction.pdf import join_lines
from tasks.extraction.reference_marks import without_reference_marks
from tasks.extraction.settings import ExtractSettings
from tasks.sources.miniweb.site import render_pdf

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
