"""Malformed parts of a source's input: all are looked for, the first twenty named and the others counted."""

from dataclasses import dataclass, field

_MOST_NAMED = 20


@dataclass
class Malformed:
    """The malformed lines, entries or titles of an input.

    Attributes:
        number: how many there are.
        named: what is wrong with the first ones, each with its place.
    """

    number: int = 0
    named: list[str] = field(default_factory=list)

    def add(self, message: str) -> None:
        """Count one; the message names its place and what is wrong with it."""
        self.number += 1
        if len(self.named) < _MOST_NAMED:
            self.named.append(message)

    def check(self, more: str = "") -> None:
        """Refuse the input if there is any.

        Args:
            more: what else is to be said of their number.

        Raises:
            ValueError: names the first ones, and says how many there are if there are several.
        """
        if self.number:
            total = [f"{self.number} malformed in all{more}"] if self.number > 1 or more else []
            raise ValueError("\n  ".join([*self.named, *total]))
