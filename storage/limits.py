"""What a run and a month may spend at most; settings import it, so it imports nothing that is slow."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MONEY, HOURS = ("search", "endpoints"), ("cores", "gpus")


@dataclass(frozen=True)
class Limits:
    """At most so much of `dollars`, `cores` and `gpus`, where they have one; `prices` are dollars for an hour."""

    run: Mapping[str, float] = field(default_factory=dict)
    month: Mapping[str, float] = field(default_factory=dict)
    prices: Mapping[str, float] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.run or self.month)

    def dollars(self, amounts: Mapping[str, float]) -> float:
        """Return the money, that for hours included."""
        hours = sum(amounts.get(what, 0.0) * self.prices.get(what, 0.0) for what in HOURS)
        return sum(amounts.get(what, 0.0) for what in MONEY) + hours
