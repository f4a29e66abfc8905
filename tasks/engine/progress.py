"""What work reports while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Progress of some work."""

    text: str  # one line for people: numbers with their units
    share: float  # of the whole work that is done, 0-1

    def __str__(self) -> str:
        return self.text
