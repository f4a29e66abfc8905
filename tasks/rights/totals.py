"""Counts of licences, reservations, languages and personal data, for the card of a shared corpus and the report."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from storage.page_columns import PERSONAL_DATA
from tasks.engine.data_files import read_data
from tasks.rights.licences import MEANINGS, terms_of
from tasks.rights.reservations import reserves_training

NO_CLAIM = "no claim found"
COLUMNS = ("licence", "licence_source", "reservations", "language", "personal", "reason")
_PERSONAL = "personal data on the pages"
_MOST = 15  # rows of a table; the rest is added up
_SOURCES: Mapping[str, str] = read_data("tasks.rights", "markup.toml")["sources"]


@dataclass
class PageTotals:
    """Counts over documents with text; a page counts once for each article that has it."""

    documents: int = 0  # how many there are
    # documents by licence; `NO_CLAIM` where none was found, which does not mean that there is none
    licences: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)  # documents by the place of the claim
    reserved: int = 0  # documents with a sign that rights are reserved
    untrained: int = 0  # documents with a sign that reserves them against training
    signs: Counter[str] = field(default_factory=Counter)  # documents by sign; one may have several
    # documents by language; "not sure" where two are likely or the text is short
    languages: Counter[str] = field(default_factory=Counter)
    personal: Counter[str] = field(default_factory=Counter)  # pieces of personal data by kind
    with_personal: int = 0  # documents that have any

    def add(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Count rows with `COLUMNS` of DOCUMENTS; those with a reason have no text and are left out."""
        for row in documents:
            if row["reason"] is not None:
                continue
            self.documents += 1
            self.licences[row["licence"] or NO_CLAIM] += 1
            if row["licence_source"] is not None:
                self.claims[row["licence_source"]] += 1
            self.reserved += bool(row["reservations"])
            self.untrained += any(map(reserves_training, row["reservations"] or ()))
            self.signs.update(row["reservations"] or ())
            self.languages[row["language"] or "not sure"] += 1
            result = row["personal"] or {}
            self.personal.update({kind: result.get(kind) or 0 for kind in PERSONAL_DATA})
            self.with_personal += any(result.values())

    def __add__(self, other: "PageTotals") -> "PageTotals":
        return PageTotals(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def tables(self) -> list[tuple[str, Sequence[Sequence[str]]]]:
        """Return heading and rows of each table: a name, a number, and where it is of documents their share, %."""
        allowed: Counter[str] = Counter()
        for licence, number in self.licences.items():
            if licence != NO_CLAIM:
                allowed[MEANINGS[terms_of(licence)]] += number
        claims = Counter({_SOURCES.get(source, source): number for source, number in self.claims.items()})
        signs = Counter({"any of the signs": self.reserved, "one against training": self.untrained}) + self.signs
        tables = [
            ("licence that documents claim", self.licences),
            ("what it allows", allowed),
            ("where the claim is", claims),
            ("sign that rights are reserved", signs),
            ("language", self.languages),
        ]
        rows = [(heading, [self._row(*pair) for pair in _most(counts)]) for heading, counts in tables if counts]
        personal = [[meaning, f"{self.personal[kind]:,}", "–"] for kind, meaning in PERSONAL_DATA.items()]
        return [*rows, (_PERSONAL, [*personal, self._row("documents with any of it", self.with_personal)])]

    def _row(self, name: str, number: int) -> list[str]:
        return [name, f"{number:,}", f"{100 * number / max(1, self.documents):.1f}"]


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the most frequent names with their numbers, and the rest as one row."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(number for _, number in ordered[_MOST:])
    return [*ordered[:_MOST], *([("others", rest)] if rest else [])]
