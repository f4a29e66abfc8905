from typing import Any

import pytest

from storage.page_columns import PERSONAL_DATA, QUALITY_SIGNALS
from tasks.rights.conditions import RULE_SETS, parse_conditions, refusal

PAGE: dict[str, Any] = {
    "licence": "CC-BY-SA-4.0",
    "licence_source": "rel-license",
    "reservations": [],
    "language": "en",
    "quality": {
        **dict.fromkeys(QUALITY_SIGNALS, 0.5),
        "words": 400,
        "word_length": 5.0,
        "stop_words": 6,
        "alphabetic": 0.9,
        "symbols": 0.0,
        "ellipses": 0.1,
        "sentences": 20,
        "placeholders": 0,
        "repeated": 0,
    },
    "personal": {**dict.fromkeys(PERSONAL_DATA, 0), "emails": 2},
}


def why(*conditions: str, **changed: Any) -> str | None:
    return refusal({**PAGE, **changed}, parse_conditions(conditions))


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("licence=CC-BY-SA-4.0", None),
        ("licence=cc-by-4.0|cc-by-sa-*", None),
        ("licence=CC-BY-4.0", "page_licence"),
        ("licence=unknown", "page_licence"),
        ("licence_source=domain", "page_licence"),
        ("terms=free", None),
        ("terms=Non-Commercial | no-derivatives", "page_licence"),
        ("terms=unknown", "page_licence"),
        ("reservations=none", None),
        ("reservations=*noimageai", "page_reserved"),  # an empty list is `none` and nothing else
        ("language=en", None),
        ("language=de|fr", "page_language"),
        (" words >= 400 ", None),
        ("words>400", "page_quality"),
        ("emails<=1", "page_personal_data"),
        ("emails=2", None),
        ("phones<1", None),
        ("gopher", None),
        ("c4", None),
        ("FineWeb", None),
    ],
)
def test_conditions(condition: str, reason: str | None) -> None:
    assert why(condition) == reason


def test_null_is_unknown_and_meets_no_other_value() -> None:
    assert why("licence=*", licence=None) is None  # every name, that of an unknown licence too
    assert why("licence=CC*", licence=None) == "page_licence"
    assert why("licence=CC*|unknown", licence=None) is None
    assert why("language=en|unknown", language=None) is None
    assert why("words>=1", quality=None) == "page_quality"


def test_reservations_must_all_be_allowed() -> None:
    assert why("reservations=none", reservations=["meta noai"]) == "page_reserved"
    assert why("reservations=none|*noimageai", reservations=["header noimageai"]) is None
    assert why("reservations=none|*noimageai", reservations=["header noimageai", "meta noai"]) == "page_reserved"


def test_the_first_condition_that_fails_gives_the_reason() -> None:
    assert why("words>=1", "language=de", "licence=CC0-1.0") == "page_language"


@pytest.mark.parametrize(
    ("rules", "signal", "value"),
    [
        ("gopher", "words", 49),
        ("gopher", "ellipses", 0.31),
        ("gopher", "alphabetic", 0.79),
        ("gopher", "stop_words", 1),
        ("c4", "sentences", 2),
        ("c4", "placeholders", 1),
        ("fineweb", "ended", 0.12),
        ("fineweb", "short", 0.67),
        ("fineweb", "repeated", 0.1),
    ],
)
def test_published_thresholds(rules: str, signal: str, value: float) -> None:
    assert why(rules) is None
    assert why(rules, quality={**PAGE["quality"], signal: value}) == "page_quality"
    assert set(RULE_SETS) == {"gopher", "c4", "fineweb"}


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("english", "'english' is not a condition: expected a column"),
        ("licence=", "'licence=' is not a condition"),
        ("license=CC0-1.0", "'license=CC0-1.0' names no column: expected one of licence, "),
        ("language>=en", "compares a text by >=: expected language=VALUE"),
        ("words>=many", "compares words with 'many': expected a number"),
    ],
)
def test_wrong_conditions_are_named(condition: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_conditions((condition,))


def test_a_page_without_a_claim_has_unknown_terms() -> None:
    assert why("terms=free|non-commercial", licence=None) == "page_licence"
    assert why("terms=free|unknown", licence=None) is None


def test_terms_that_do_not_exist_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"'terms=free\|open' names terms 'open': expected some of free, non-c"):
        parse_conditions(("terms=free|open",))
