"""A summary as a Word file and as a PDF, read back by what reads other people's files."""

from dataclasses import replace
from io import BytesIO

import pypdfium2
import pytest
from docx import Document

from tasks.cited_summary.cited import CitedSummary, Paragraph, Passage, SummarySentence, SummarySource
from tasks.cited_summary.documents import to_docx, to_pdf

SUMMARY = CitedSummary(
    title="Skerry Point – Σκέρι",
    system="concepts",
    why="No model was given.",
    sentences=[
        SummarySentence("The tower was built in 1847.", "said", (1,), (), (), "one passage says it", "History"),
        SummarySentence("Ann Molloy left in 1990.", "partly", (1, 2), (), ("1990",), "not found: 1990"),
        SummarySentence("", "said", (1, 2), ("It cost £5.", "It cost £6."), sides=("it cost £5", "it cost £6")),
    ],
    passages=[
        Passage(1, 1, 3, "It was built in 1847. It cost £5.", ("It was built in 1847.",)),
        Passage(2, 2, 0, "Ann Molloy left in 1986. It cost £6.", ("Ann Molloy left in 1986.",), page=7),
    ],
    sources=[
        SummarySource(1, "https://example.org/tower", "The tower", None, (Paragraph("It was built in 1847."),), True),
        SummarySource(2, "notes.pdf", None, None, (Paragraph("Ann Molloy left in 1986."),), True),
        SummarySource(3, "locked.pdf", None, "encrypted"),
    ],
    notes=["1 of 3 sources could not be used; the list of sources says why."],
)
LINES = [
    "Skerry Point – Σκέρι",
    "History",
    "The tower was built in 1847.",
    "(partly supported: not found: 1990)",
    "Where sources differ",
    "it cost £6",
    "1 of 3 sources could not be used",
    "[2] notes.pdf, page 7, paragraph 1: Ann Molloy left in 1986.",
    "2. notes.pdf",
    "3. locked.pdf Not used: encrypted.",
]


def of_docx(file: bytes) -> str:
    return " ".join(paragraph.text for paragraph in Document(BytesIO(file)).paragraphs)


def of_pdf(file: bytes) -> str:
    pages = pypdfium2.PdfDocument(file)
    return " ".join(" ".join(page.get_textpage().get_text_range().split()) for page in pages)


@pytest.mark.parametrize(("write", "read"), [(to_docx, of_docx), (to_pdf, of_pdf)])
def test_a_document_has_everything_in_order(write, read) -> None:
    text = read(write(SUMMARY))
    places = [text.find(line) for line in LINES]
    assert -1 not in places, LINES[places.index(-1)]
    assert places == sorted(places)


def test_a_word_file_states_when_and_by_what_it_was_made() -> None:
    stated = Document(BytesIO(to_docx(replace(SUMMARY, made="2026-05-04T10:20:30+00:00")))).core_properties
    assert (stated.author, stated.comments) == ("wikisum", "")
    assert stated.created is not None
    assert stated.created.date().isoformat() == "2026-05-04"


def test_citations_of_word_are_raised_numbers() -> None:
    paragraphs = Document(BytesIO(to_docx(SUMMARY))).paragraphs
    cited = next(one for one in paragraphs if one.text.startswith("Ann Molloy left in 1990."))
    assert [run.text for run in cited.runs if run.font.superscript] == ["[1]", "[2]"]


def test_a_pdf_says_which_letters_it_cannot_show() -> None:
    with pytest.raises(ValueError, match="lacks 京 東: export as docx or html"):
        to_pdf(replace(SUMMARY, title="東京"))
    assert "東京" in of_docx(to_docx(replace(SUMMARY, title="東京")))


@pytest.mark.parametrize("title", ["افتتح الجسر عام 1911", "הגשר נפתח בשנת 1911"])
def test_no_pdf_has_text_drawn_backwards(title: str) -> None:
    with pytest.raises(ValueError, match=r"from right to left .*: export as docx or html"):
        to_pdf(replace(SUMMARY, title=title))
    assert title in of_docx(to_docx(replace(SUMMARY, title=title)))


def test_a_pdf_has_a_box_for_a_symbol_that_its_font_lacks() -> None:
    assert "Books □ and hearts ❤ 1911" in of_pdf(to_pdf(replace(SUMMARY, title="Books 📚 and hearts ❤\ufe0f 1911")))


def test_an_empty_summary_is_a_document_too() -> None:
    empty = CitedSummary("Nothing", "concepts", "", [], [], [], ["There is no summary."])
    assert "There is no summary." in of_docx(to_docx(empty))
    assert "There is no summary." in of_pdf(to_pdf(empty))
