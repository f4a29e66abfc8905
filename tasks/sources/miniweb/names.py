"""Names of topics: put together from a compact set of syllables and words, unique, and readable backwards.

A topic's ordinal within its kind is scattered over all combinations of name parts by an affine permutation, so names
need no table of those already given, and a title leads back to its topic without an index.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd, prod

from tasks.engine.hashing import stable_hash


def words(text: str, separator: str = " ") -> tuple[str, ...]:
    """Return the words of a list that is easier to read in one string."""
    return tuple(text.split(separator))


# A name stem is HEAD + MIDDLE + tail. Head and middle end in their only vowel, so a stem can be cut in one way only.
_ONSETS = words("b br c d dr f fl g gr h k l m n p r s st t tr v w th sh")
_ACCENTED = words("Bré Mé Lö Sö Té Vé Kö Ré")
HEADS = (*((onset + vowel).capitalize() for onset in _ONSETS for vowel in "aeiou"), *_ACCENTED)
MIDDLES = tuple(onset + vowel for onset in words("b d l m n r v s t k nd rn lm ll rr st") for vowel in "aeio")


@dataclass(frozen=True)
class NameScheme:
    """How names of a kind are put together.

    Attributes:
        parts: for each place in the name the strings that can stand there; places are simply joined.
    """

    parts: tuple[tuple[str, ...], ...]
    _pattern: re.Pattern[str] = field(init=False, repr=False)
    _values: tuple[dict[str, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = ("|".join(re.escape(text) for text in sorted(part, key=len, reverse=True)) for part in self.parts)
        object.__setattr__(self, "_pattern", re.compile("".join(f"({group})" for group in groups)))
        object.__setattr__(
            self, "_values", tuple({text: digit for digit, text in enumerate(part)} for part in self.parts)
        )

    @property
    def size(self) -> int:
        """Number of different names."""
        return prod(len(part) for part in self.parts)

    def digits(self, seed: int, ordinal: int) -> tuple[int, ...]:
        """Return which string stands in each place of the name of a kind's topic number `ordinal`."""
        factor, shift = self._permutation(seed)
        rest = (factor * ordinal + shift) % self.size
        digits = []
        for part in reversed(self.parts):
            rest, digit = divmod(rest, len(part))
            digits.append(digit)
        return tuple(reversed(digits))

    def join(self, digits: Sequence[int]) -> str:
        """Return the name with these digits."""
        return "".join(part[digit] for part, digit in zip(self.parts, digits, strict=True))

    def ordinal(self, seed: int, name: str) -> int | None:
        """Return the ordinal whose name this is, or None where it is no name of this scheme."""
        match = self._pattern.fullmatch(name)
        if match is None:
            return None
        number = 0
        for part, values, text in zip(self.parts, self._values, match.groups(), strict=True):
            number = number * len(part) + values[text]
        factor, shift = self._permutation(seed)
        return (number - shift) * pow(factor, -1, self.size) % self.size

    def _permutation(self, seed: int) -> tuple[int, int]:
        """Return factor and shift of x -> factor * x + shift (mod size), a permutation that looks like none."""
        size = self.size
        factor = stable_hash(seed, "factor", size) % size | 1
        while gcd(factor, size) != 1:
            factor += 2
        return factor, stable_hash(seed, "shift", size) % size
