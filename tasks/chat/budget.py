"""What may be spent on a language model: requests and money, counted before each request is sent."""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storage.spending import Ledger


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, read and written."""

    read: float = 0.0
    written: float = 0.0

    def of(self, read: float, written: float) -> float:
        """Return the dollars for so many tokens."""
        return (read * self.read + written * self.written) / 1e6


@dataclass
class Budget:
    """Limits, None = there is none, and what was spent; usable from many threads. What a request may take at most
    counts as spent until its answer is there, so that no limit is exceeded."""

    requests: int | None = None  # at most
    dollars: float | None = None  # at most, by `price`
    price: Price = Price()
    asked: int = 0  # requests so far
    read: int = 0  # tokens so far
    written: int = 0  # tokens so far
    ledger: "Ledger | None" = None  # where the money is written, which may refuse it too (BudgetSpentError)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take(self, read: int, written: int) -> bool:
        """Count a request of at most so many tokens, if the limits admit it; return whether they do."""
        with self._lock:
            dollars = self.price.of(self.read + read, self.written + written)
            spent = ((self.asked + 1, self.requests), (dollars, self.dollars))
            if any(limit is not None and most > limit for most, limit in spent):
                return False
            self.asked, self.read, self.written = self.asked + 1, self.read + read, self.written + written
        self._pay(read, written)
        return True

    def count(self, read: int, written: int) -> None:
        """Count a request that was paid for before."""
        with self._lock:
            self.asked, self.read, self.written = self.asked + 1, self.read + read, self.written + written

    def settle(self, read: int, written: int) -> None:
        """Correct the tokens of a request that was taken by so many, less than 0 for fewer."""
        with self._lock:
            self.read, self.written = self.read + read, self.written + written
        self._pay(read, written)

    def _pay(self, read: int, written: int) -> None:
        if self.ledger is not None:
            self.ledger.add("endpoints", self.price.of(read, written))
