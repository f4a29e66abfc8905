from typing import Any

from pydantic import TypeAdapter

from tasks.rights.totals import PageTotals


def document(**columns: Any) -> dict[str, Any]:
    return {
        "licence": None,
        "licence_source": None,
        "reservations": [],
        "language": "en",
        "reason": None,
        "personal": {"emails": 0, "phones": 0, "ip_addresses": 0},
        **columns,
    }


ROWS = [
    document(licence="CC0-1.0", licence_source="domain"),
    document(licence_source="ambiguous", reservations=["header noai", "meta noai"], language=None),
    document(personal={"emails": 3, "phones": 1, "ip_addresses": 0}, reservations=None),
    document(reason="http_404", language=None, personal=None, reservations=["robots.txt"]),  # has no text
]


def totals(rows: list[dict[str, Any]]) -> PageTotals:
    counted = PageTotals()
    counted.add(rows)
    return counted


def test_documents_with_text_are_counted() -> None:
    assert totals(ROWS).tables() == [
        ("licence that documents claim", [["no claim found", "2", "66.7"], ["CC0-1.0", "1", "33.3"]]),
        ("what it allows", [["may be shared and changed", "1", "33.3"]]),
        (
            "where the claim is",
            [["claims that contradict each other", "1", "33.3"], ["the terms of the site", "1", "33.3"]],
        ),
        (
            "sign that rights are reserved",
            [
                ["any of the signs", "1", "33.3"],
                ["header noai", "1", "33.3"],
                ["meta noai", "1", "33.3"],
                ["one against training", "1", "33.3"],
            ],
        ),
        ("language", [["en", "2", "66.7"], ["not sure", "1", "33.3"]]),
        (
            "personal data on the pages",
            [
                ["e-mail addresses", "3", "–"],
                ["telephone numbers", "1", "–"],
                ["IP addresses", "0", "–"],
                ["numbers of payment cards", "0", "–"],
                ["numbers of bank accounts (IBAN)", "0", "–"],
                ["documents with any of it", "1", "33.3"],
            ],
        ),
    ]


def test_parts_add_up_to_the_whole_and_survive_a_file() -> None:
    whole = totals(ROWS)
    assert totals(ROWS[:1]) + totals(ROWS[1:]) == whole
    counts = TypeAdapter(PageTotals)
    assert counts.validate_json(counts.dump_json(whole)) == whole


def test_rare_names_are_added_up() -> None:
    rows = [document(language=f"x{number}") for number in range(20)]
    languages = dict(totals(rows).tables())["language"]
    assert len(languages) == 16
    assert languages[-1] == ["others", "5", "25.0"]
