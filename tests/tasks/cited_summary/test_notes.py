import pyarrow as pa
import pytest

from storage.schemas import DOCUMENTS
from tasks.cited_summary.reading import read_notes
from tests.tasks.cited_summary.topic import files, summarized


def documents(lines: list[str], engine: str | None = "plain") -> pa.Table:
    row = dict.fromkeys(DOCUMENTS.schema.names) | {
        "engine": engine,
        "paragraphs": lines,
        "boilerplate": [True] * len(lines),
        "reservations": [],
    }
    return pa.Table.from_pylist([row], schema=DOCUMENTS.schema)


def paragraphs(lines: list[str], engine: str | None = "plain") -> list[str]:
    return read_notes(documents(lines, engine))["paragraphs"][0].as_py()


def test_lines_that_state_something_become_one_paragraph_of_sentences():
    lines = ["The ferry was opened in 1974", "It carries 120 cars", "The crossing takes 45 minutes"]
    for engine in ("plain", "markdown"):
        assert paragraphs(lines, engine) == [
            "The ferry was opened in 1974. It carries 120 cars. The crossing takes 45 minutes."
        ]
        assert read_notes(documents(lines, engine))["boilerplate"][0].as_py() == [False]


def test_lines_of_two_slides_become_two_paragraphs_with_their_numbers():
    lines = ["The ferry was opened in 1974", "It carries 120 cars", "The crossing takes 45 minutes", "Thank you"]
    table = documents(lines, "slides")
    numbers = pa.array([[1, 1, 2, 2]], DOCUMENTS.schema.field("page_numbers").type)
    index = table.schema.get_field_index("page_numbers")
    noted = read_notes(table.set_column(index, DOCUMENTS.schema.field(index), numbers))
    assert noted["paragraphs"][0].as_py() == [
        "The ferry was opened in 1974. It carries 120 cars.",
        "The crossing takes 45 minutes.",
        "Thank you",
    ]
    assert noted["page_numbers"][0].as_py() == [1, 2, 2]


@pytest.mark.parametrize(
    ("lines", "paragraph"),
    [
        (
            ["1. The dam cost 412 euros.", "Agenda", "2) The roof leaks."],
            ["The dam cost 412 euros.", "Agenda", "The roof leaks."],
        ),
        (["- The ferry was sold", "• It carries 120 cars"], ["The ferry was sold. It carries 120 cars."]),
        (["3. Mai ist Feiertag.", "Danach ist offen."], ["3. Mai ist Feiertag.", "Danach ist offen."]),
        (["1. Mai ist Feiertag.", "3. Mai ist offen."], ["1. Mai ist Feiertag.", "3. Mai ist offen."]),
    ],
)
def test_marks_of_items_are_left_out_and_days_are_not(lines: list[str], paragraph: list[str]):
    assert paragraphs(lines) == paragraph


@pytest.mark.parametrize(
    "line",
    [
        "The ferry was opened in 1974.",
        "The ferry was opened in 1974:",
        "The ferry was opened in 1974,",
        "and was opened in 1974",  # the rest of a line before it
        "It was opened",  # three words
        "Ferries of the northern islands",
        "How the ferry was built in Lund",
        "The ferries of the north",
        "Home | News | Contact | About us",
    ],
)
def test_other_lines_stay_as_they_are_and_part_what_stands_around_them(line):
    before, after = "The mill was built in 1700", "The mill was burned in 1800"
    assert paragraphs([before, line, after]) == [f"{before}.", line, f"{after}."]


def test_pages_stay_as_they_are():
    lines = ["The ferry was opened in 1974", "It carries 120 cars"]
    assert paragraphs(lines, "blocks") == lines
    assert read_notes(documents(lines, "blocks"))["boilerplate"][0].as_py() == [True, True]
    assert paragraphs([], None) == []


def test_a_paragraph_of_notes_ends_before_it_is_too_long_to_be_read():
    found = paragraphs([f"The lamp {number} was lit by a keeper" for number in range(30)])
    assert [len(paragraph.split()) for paragraph in found] == [80, 80, 80]


@pytest.mark.integration
def test_a_list_without_full_stops_is_summarized_and_cited():
    listed = "# Ferry\n\n* The Skerry ferry was opened in 1974\n* The crossing takes 45 minutes\n"
    for given in (files(notes_md=listed), files(notes_txt=listed.replace("* ", "").replace("# Ferry\n\n", ""))):
        summary, _ = summarized(given, title="Skerry ferry")
        assert "The Skerry ferry was opened in 1974." in [sentence.text for sentence in summary.sentences]
        assert all(sentence.verdict == "said" for sentence in summary.sentences)


def test_neighbouring_lines_with_a_value_stay_lines_of_one_paragraph():
    lines = ["Choir trip", "- deadline 28 February", "price 20 euros", "The trip was announced in May", "Bring cake"]
    assert paragraphs(lines) == [
        "Choir trip\ndeadline 28 February\nprice 20 euros",
        "The trip was announced in May.",
        "Bring cake",
    ]


@pytest.mark.integration
def test_short_notes_are_sources_and_one_or_two_words_are_refused_with_their_number():
    given = files(
        a_txt="Ferry leaves at noon daily.",
        b_txt="ferry",
        c_txt="ferry leaves",
        d_md="Ferry leaves at noon daily.",
        e_txt="dogs must wear leads",
    )
    summary, _ = summarized(given, title="Ferry")
    assert [source.refused for source in summary.sources] == [
        None,
        "it has only one word: expected at least 3",
        "it has only 2 words: expected at least 3",
        "it says nothing that an earlier source does not say: every usable paragraph is a repetition",
        None,
    ]
    assert [(one.text, one.verdict) for one in summary.sentences] == [("Ferry leaves at noon daily.", "said")]
    (alone,) = summarized(files(e_txt="dogs must wear leads"), title="Ferry")[0].sentences
    assert (alone.text, alone.verdict) == ("dogs must wear leads", "said")


@pytest.mark.integration
def test_what_two_notes_say_differently_is_listed_with_their_lines_as_passages():
    given = files(
        a_txt="Choir trip\n\n- deadline 28 February\n- price 20 euros\n\nmeeting in room 4\n",
        b_txt="trip of the choir\ndeadline 15 March\nPrice: 20 euros\nmeeting in room 6",
    )
    summary, _ = summarized(given, title="Choir trip")
    assert [one.sides for one in summary.differing] == [
        ("deadline 28 February", "deadline 15 March"),
        ("meeting in room 4", "meeting in room 6"),
    ]
    assert [passage.shown for passage in summary.passages] == [
        "Choir trip · deadline 28 February · price 20 euros · meeting in room 4",
        "trip of the choir · deadline 15 March · Price: 20 euros · meeting in room 6",
    ]
