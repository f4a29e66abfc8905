"""Conditions on the columns of a page, by which its paragraphs are kept or refused.

`licence=CC-BY-4.0|CC0-1.0`, `terms=free|non-commercial`, `reservations=none`, `language=en|unknown`, `words>=50`,
`emails<=3`: a column, a comparison and a value. Text is compared without case and may have `*`; `unknown` stands for
null, `none` for an empty list. `terms` is what the licence allows (`tasks.rights.licences`)."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from storage.page_columns import PERSONAL_DATA, QUALITY_SIGNALS
from tasks.engine.data_files import read_data
from tasks.engine.reasons import Reason
from tasks.rights.licences import TERMS, terms_of
from tasks.rights.reservations import reserves_training


class ConditionReason(Reason):
    """Why the paragraphs of a page are refused together."""

    PAGE_LICENCE = "page_licence", "the licence of its page is not among the wanted ones"
    PAGE_RESERVED = "page_reserved", "there is a sign that the rights of its page are reserved against mining"
    PAGE_NOT_FOR_TRAINING = "page_not_for_training", "it is reserved against training, and its article is of that split"
    PAGE_LANGUAGE = "page_language", "its page is not surely in a wanted language"
    PAGE_QUALITY = "page_quality", "a signal of its page's quality is outside the chosen thresholds"
    PAGE_PERSONAL_DATA = (
        "page_personal_data",
        "its page has more personal data, such as e-mail addresses, than the settings allow",
    )


_TEXTS = {
    **dict.fromkeys(("licence", "terms", "licence_source"), ConditionReason.PAGE_LICENCE),
    "reservations": ConditionReason.PAGE_RESERVED,
    "language": ConditionReason.PAGE_LANGUAGE,
}
_NUMBERS = {
    **dict.fromkeys(QUALITY_SIGNALS, ("quality", ConditionReason.PAGE_QUALITY)),
    **dict.fromkeys(PERSONAL_DATA, ("personal", ConditionReason.PAGE_PERSONAL_DATA)),
}
COLUMNS = ("licence", "licence_source", "reservations", "language", "quality", "personal")

RULE_SETS: Mapping[str, list[str]] = read_data("tasks.rights", "rule_sets.toml")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_WRITTEN = re.compile(r"\s*(\w+)\s*(<=|>=|<|>|=)\s*+(\S(?:.*\S)?)?\s*")


@dataclass(frozen=True)
class Condition:
    """One condition."""

    reason: str  # why a page that does not meet it is refused
    holds: Callable[[Mapping[str, Any]], bool]  # tells from a row of DOCUMENTS whether it is met


def parse_conditions(written: tuple[str, ...]) -> list[Condition]:
    """Return the conditions, with the name of a rule set replaced by its conditions. Raises ValueError: one is
    malformed."""
    return [_parsed(item) for name in written for item in RULE_SETS.get(name.strip().lower(), (name,))]


def for_training() -> Condition:
    """Return the condition that no sign reserves a page against training."""
    return Condition(
        ConditionReason.PAGE_NOT_FOR_TRAINING,
        lambda document: not any(map(reserves_training, document["reservations"] or ())),
    )


def refusal(document: Mapping[str, Any], conditions: list[Condition]) -> str | None:
    """Return the reason of the first condition that a page does not meet, or None."""
    return next((condition.reason for condition in conditions if not condition.holds(document)), None)


def _parsed(written: str) -> Condition:
    match = _WRITTEN.fullmatch(written)
    if match is None or not match[3]:
        raise ValueError(
            f"{written!r} is not a condition: expected a column, a comparison and a value, such as language=en, or a "
            f"set of rules: {', '.join(RULE_SETS)}"
        )
    name, sign, value = match.groups()
    if name in _NUMBERS:
        return _number(written, name, sign, value)
    if name not in _TEXTS:
        raise ValueError(f"{written!r} names no column: expected one of {', '.join([*_TEXTS, *_NUMBERS])}")
    if sign != "=":
        raise ValueError(f"{written!r} compares a text by {sign}: expected {name}=VALUE or {name}=VALUE|VALUE")
    patterns = [item.strip().lower() for item in value.split("|")]
    if name != "terms":
        return Condition(_TEXTS[name], lambda document: _matches(document[name], patterns))
    known = (*TERMS, "unknown")
    if unknown := [pattern for pattern in patterns if pattern not in known]:
        raise ValueError(f"{written!r} names terms {unknown[0]!r}: expected some of {', '.join(known)}")
    return Condition(_TEXTS[name], lambda document: _terms(document["licence"]) in patterns)


def _terms(licence: str | None) -> str:
    return "unknown" if licence is None else terms_of(licence)


def _number(written: str, name: str, sign: str, value: str) -> Condition:
    try:
        limit = float(value)
    except ValueError:
        raise ValueError(f"{written!r} compares {name} with {value!r}: expected a number") from None
    column, reason = _NUMBERS[name]
    compare = _COMPARE[sign]
    return Condition(reason, lambda page: page[column] is not None and compare(page[column][name], limit))


def _matches(value: str | list[str] | None, patterns: list[str]) -> bool:
    """Tell whether a text matches a pattern, or every text of a list does."""
    if isinstance(value, list):
        return all(any(fnmatchcase(item.lower(), p) for p in patterns) for item in value) and (
            bool(value) or "none" in patterns
        )
    return any(fnmatchcase("unknown" if value is None else value.lower(), pattern) for pattern in patterns)
