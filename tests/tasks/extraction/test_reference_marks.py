import pytest

from tasks.extraction.engines import extract
from tasks.extraction.reference_marks import without_reference_marks
from tasks.extraction.settings import ExtractSettings


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("The gate was rebuilt [12], and then [3, 4][7–9] sold.", "The gate was rebuilt, and then sold."),
        ("It fell in 1901.[note 2] Nobody was hurt.[citation needed]", "It fell in 1901. Nobody was hurt."),
        ("“It is safe”[3] was all.", "“It is safe” was all."),
        ("As in [12], and see [3] and from [4].", "As in [12], and see [3] and from [4]."),
        ("Read [12](https://example.org) and items[1] = 2 of 1921 [1922].", None),
        ("[26] As Molloy has it, the gate was new.", None),
    ],
)
def test_numbers_in_brackets_are_left_out_where_the_sentence_does_not_need_them(text, without):
    assert without_reference_marks([text]) == [text if without is None else without]


def test_numbers_glued_to_sentences_and_words_are_left_out_where_they_count():
    lines = [
        "The gate was rebuilt.11 It was a wooden gate, “as before.”12",
        "The masons13 who built it, said Molloy,14 were few; masons of the town were there.15",
    ]
    assert without_reference_marks(lines) == [
        "The gate was rebuilt. It was a wooden gate, “as before.”",
        "The masons who built it, said Molloy, were few; masons of the town were there.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "It runs on Windows10 and Windows11, and on windows of glass.",
        "See Figure2 and Table3 of it; Figure 2 has a table, Table 3 a figure.",
        "Math. Comp.29 (1975), and vol.30 and No.31 of it.",
        "It was signed.12 Nobody came.19 They left.",
        "The gates were built in area14 and zone15.",
        "In Ser.12 A and in Ser.13 B it is told.",
        "On one day,12 men came, and on the next,40 men.",
        "It cost them 4.5 and 5.6 of it, 12, 13 and 14.",
    ],
)
def test_other_numbers_stay(line):
    assert without_reference_marks([line]) == [line]


def test_a_page_and_a_plain_text_lose_them_alike():
    prose = "The gate of the upper lock was rebuilt in wood by the company.1 It fell in the flood of that winter.2"
    for body, mime in ((f"<p>{prose}</p>".encode(), "text/html"), (prose.encode(), "text/plain")):
        found = extract(body, mime, None, ExtractSettings())
        assert found.paragraphs == (
            "The gate of the upper lock was rebuilt in wood by the company. It fell in the flood of that winter.",
        )
