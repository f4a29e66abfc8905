import csv
import io

from tasks.cited_summary.cited import CitedSummary, Paragraph, SummarySource
from tasks.cited_summary.table import QuotedAnswer, asked_questions, source_table, to_csv

QUESTIONS = ["When was the tower built?", "Who was the keeper?"]
SOURCES = [
    SummarySource(1, "a.txt", paragraphs=[Paragraph("Menu", "furniture"), Paragraph("The tower was built in 1874.")]),
    SummarySource(2, "gone.pdf", refused="the file is empty"),
    SummarySource(3, "=b.txt", paragraphs=[Paragraph("The keeper was Ann Lee. She left."), Paragraph("It rained.")]),
]
SUMMARY = CitedSummary("Skerry Tower", "concepts", "", [], [], SOURCES)


def test_a_row_for_each_source_that_was_used_and_a_cell_for_each_question() -> None:
    rows = source_table(SUMMARY, QUESTIONS)
    assert [row.source.number for row in rows] == [1, 3]
    assert rows[0].cells == [QuotedAnswer("The tower was built in 1874.", "paragraph 2"), None]
    assert rows[1].cells == [None, QuotedAnswer("The keeper was Ann Lee.", "paragraph 1")]


def test_a_spreadsheet_runs_no_cell() -> None:
    written = to_csv(["=1+1", *QUESTIONS], source_table(SUMMARY, ["=1+1", *QUESTIONS]))
    assert written.startswith("\ufeff")
    assert list(csv.reader(io.StringIO(written.removeprefix("\ufeff")))) == [
        ["source", "'=1+1", *QUESTIONS],
        ["a.txt", "", "The tower was built in 1874.", ""],
        ["'=b.txt", "", "", "The keeper was Ann Lee."],
    ]


def test_questions_are_asked_once_each_and_not_too_many() -> None:
    assert asked_questions([" When? ", "", "When?", "Who?"]) == ["When?", "Who?"]
    assert len(asked_questions([f"Question {number}?" for number in range(50)])) == 10
    assert asked_questions(["x" * 1_000]) == ["x" * 300]
