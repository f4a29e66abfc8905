"""Malformed parts of a source's input: all are looked for, the first twenty named and the others counted."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
_MOST_NAMED = 20


@dataclass
class Malformed:
    """The malformed lines, entries or titles of an input."""

    number: int = 0  # how many there are
    named: list[str] = field(default_factory=list)  # what is wrong with the first ones, each with its place

    def add(self, message: str) -> None:
        """Count one; the message names its place and what is wrong with it."""
        self.number += 1
        if len(self.named) < _MOST_NAMED:
            self.named.append(message)

    def check(self, more: str = "") -> None:
        """Refuse the input if there is any. `more` is what else is to be said of their number. Raises ValueError: names
        the first ones, and says how many there are if there are several."""
        if self.number:
            total = [f"{self.number} malformed in all{more}"] if self.number > 1 or more else []
            raise ValueError("\n  ".join([*self.named, *total]))


def parsed(
    rows: Iterable[tuple[int, R]],
    parser: Callable[[R], T],
    wrong: type[ValueError],
    named: Callable[[int], str],
    *,
    refused: Callable[[int], T] | None,
    allowed: int,
    every: Iterable[R],
) -> Iterator[T]:
    """Yield what a parser makes of the rows of a part of a file, given with their places; after the first malformed row
    (for which it raises `wrong`) that is one too many, nothing. `named` returns the name of a place, for messages;
    `refused` what stands for a malformed row, None = none may be. The file may have `allowed` of them; `every` are all
    its rows, read to count them only where there is one and some are allowed. Raises ValueError: there are more: names
    the first twenty of the part, and how many there are."""
    found, number = Malformed(), 0
    for place, row in rows:
        try:
            content = parser(row)
        except wrong as error:
            number = number or (_number_among(every, parser, wrong) if allowed else 1)
            if refused is not None and number <= allowed:
                yield refused(place)
            else:
                found.add(f"{named(place)}: {error}")
        else:
            if not found.number:
                yield content
    found.check(f"; the file has {number}, source.malformed allows {allowed}" if allowed else "")


def _number_among(rows: Iterable[R], parser: Callable[[R], object], wrong: type[ValueError]) -> int:
    """Return how many rows a parser refuses; slow, so only where there is one."""
    number = 0
    for row in rows:
        try:
            parser(row)
        except wrong:
            number += 1
    return number
