import pyarrow as pa
import pytest

from tasks.cited_summary.reading import suggest_title


def documents(*rows: tuple[str | None, str]) -> pa.Table:
    schema = pa.schema({"title": pa.string(), "paragraphs": pa.list_(pa.string()), "reason": pa.string()})
    made = [{"title": title, "paragraphs": [text] if text else [], "reason": None} for title, text in rows]
    return pa.Table.from_pylist(made, schema=schema)


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([("Harrow Mill | The Dene Courier", "The mill stands on the Dene.")], "Harrow Mill"),
        ([(None, "In 1847 Skerry Point Lighthouse was lit, and Skerry Point Lighthouse shines.")], None),
        (
            [(None, "Frau Ober und der Ruderverein Wend tagen."), (None, "Frau Ober dankt dem Ruderverein Wend.")],
            "Ruderverein Wend",
        ),
        (
            [
                ("A walk to Harrow Mill and its wheel", "Harrow Mill turns."),
                ("Harrow Mill", "It was built in 1874."),
                ("Ten mills of the county", "Some say Harrow Mill is the best."),
            ],
            "Harrow Mill",
        ),
    ],
)
def test_the_title_is_what_most_sources_speak_of(rows: list[tuple[str | None, str]], title: str | None) -> None:
    assert suggest_title(documents(*rows), ["a.html"]) == (title or "Skerry Point Lighthouse")


def test_without_a_text_it_is_the_name_of_the_first_source() -> None:
    assert suggest_title(documents(), ["tram_4.html", "b.txt"]) == "tram 4"
