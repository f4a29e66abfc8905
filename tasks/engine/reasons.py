"""Why a row is refused: every module that refuses rows has an enum of its reasons with their meanings."""

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """A reason for refusing a row: what its column holds, and what that means to a reader of the report."""

    meaning: str  # a phrase without a full stop

    def __new__(cls, value: str, meaning: str) -> Self:
        """Return a member that is equal to its value."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
