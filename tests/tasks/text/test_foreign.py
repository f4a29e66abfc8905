"""Paragraphs in another language than their article, on pages by hand."""

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, DOCUMENTS
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.paragraphs.settings import ParagraphSettings
from tasks.text.language import article_language, in_other_language

ENGLISH = [
    "The weir was built in 1894 to keep the upper river deep enough for barges, and it was rebuilt after the flood.",
    "When the last barge had gone, the county sold the lock to a company which lights the town with its water.",
]
GERMAN = [
    "Das Wehr wurde 1894 gebaut, damit der Fluss oberhalb tief genug für die Lastkähne der Stadt blieb.",
    "Nachdem der letzte Kahn gefahren war, verkaufte der Kreis die Schleuse an eine Gesellschaft mit zwei Turbinen.",
    "Heute steigen die Lachse über eine Treppe aus neun Becken, für die der Anglerverein im Jahr 1931 bezahlt hat.",
]
SHORT = "Lachse steigen im Herbst auf."  # too short to be told
NAMES = "Hakon Jonsson, Hannes Eggertsson, Olafur Stefansson, Gudny Arnadottir, Florian Zink."


def foreign(texts: list[str], language: str = "en") -> list[bool]:
    return in_other_language(texts, [False] * len(texts), language)


def test_a_page_in_another_language_is_refused_whole() -> None:
    assert foreign([*GERMAN, SHORT]) == [True] * 4
    assert foreign([*GERMAN, SHORT], "de") == [False] * 4


def test_on_a_page_of_the_language_only_what_is_surely_in_another_is_refused() -> None:
    assert foreign([*ENGLISH, GERMAN[0], SHORT]) == [False, False, True, False]
    assert foreign([*GERMAN, ENGLISH[0]], "de") == [False, False, False, True]


def test_what_is_in_the_language_stays_on_a_page_in_another() -> None:
    assert foreign([*GERMAN, ENGLISH[0], SHORT]) == [True, True, True, False, True]


def test_a_paragraph_alone_does_not_decide_on_its_page() -> None:
    assert foreign([GERMAN[0], SHORT]) == [True, False]


def test_a_refused_paragraph_is_not_judged_and_says_nothing_of_its_page() -> None:
    assert in_other_language([*GERMAN, SHORT], [True] * 3 + [False], "en") == [False] * 4


@pytest.mark.parametrize(
    "text",
    [
        "She left Garmisch-Partenkirchen for Kraków, and in Łódź she met Józef Piłsudski and the mayor of Opole.",
        "The Société nationale des chemins de fer français runs it, as it does the Paris to Zürich line.",
        "He wrote Also sprach Zarathustra, Jenseits von Gut und Böse and Ecce homo while he was ill.",
        "Gold, silver, bronze: 11 31 54 2 2 2 0 19 28.",
    ],
)
def test_names_of_abroad_make_no_other_language(text: str) -> None:
    assert foreign([*ENGLISH, text]) == [False] * 3
    assert foreign([text]) == [False]


def test_the_language_of_an_article_is_that_of_its_lead() -> None:
    assert [article_language(text) for text in (ENGLISH[0], GERMAN[0], NAMES[:30], "")] == ["en", "de", None, None]


def reasons(lead: str, engine: str | None, language: str | None = "article") -> list[str | None]:
    article = {"article_id": "a", "split": "train", "title": "Weir", "lead": lead}
    document = {"article_id": "a", "url": "u", "rank": 0, "provenance": "citation", "engine": engine}
    (table,) = build_paragraphs(
        pa.Table.from_pylist([article], schema=ARTICLES.schema),
        pa.Table.from_pylist([document | {"paragraphs": [*GERMAN, SHORT]}], schema=DOCUMENTS.schema),
        ParagraphSettings.model_validate({"filter": {"language": language, "preset": "none"}}),
    )
    return [str(reason) for reason in table["drop_reason"].to_pylist()]


@pytest.mark.parametrize(
    ("lead", "engine", "language", "refused"),
    [
        (ENGLISH[0], "blocks", "article", 4),
        (ENGLISH[0], "pdf", "article", 4),
        (ENGLISH[0], "blocks", None, 0),
        (ENGLISH[0], "blocks", "de", 0),
        (GERMAN[0], "blocks", "article", 0),
        (GERMAN[0], "blocks", "en", 4),
        ("Weir.", "blocks", "article", 0),  # too short to have a sure language
        (ENGLISH[0], "plain", "article", 0),  # pasted or written without markup: it is meant
        (ENGLISH[0], "plain", "en", 0),
        (ENGLISH[0], None, "article", 0),  # the source's own documents
        (ENGLISH[0], None, "en", 4),
    ],
)
def test_another_language_is_a_reason_of_its_own(
    lead: str, engine: str | None, language: str | None, refused: int
) -> None:
    assert reasons(lead, engine, language).count("language") == refused


def test_english_on_a_foreign_page_is_judged_as_junk_too() -> None:
    references = [
        "Harris, T. & Webb, K. L. (1987). Weirs of the lower valley. Journal of River Engineering, 14(2), 211–229.",
        "Bell, A. (ed.), 1999, Locks and Keepers, Cambridge University Press, pp. 61–88.",
    ]
    article = {"article_id": "a", "split": "train", "title": "Weir", "lead": ENGLISH[0]}
    document = {
        "article_id": "a",
        "url": "u",
        "rank": 0,
        "provenance": "citation",
        "engine": "blocks",
        "language": "de",
        "paragraphs": [*GERMAN, *references, ENGLISH[1]],
    }
    (table,) = build_paragraphs(
        pa.Table.from_pylist([article], schema=ARTICLES.schema),
        pa.Table.from_pylist([document], schema=DOCUMENTS.schema),
        ParagraphSettings(quality=0.7),
    )
    assert set(table["drop_reason"].to_pylist()[:3]) == {"language"}
    assert table["drop_reason"].to_pylist()[3:] == ["junk", "language", None]
