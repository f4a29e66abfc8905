"""Names of topics: combined from a compact set of syllables and words, unique, and invertible. A topic's ordinal within
its kind is mapped to a combination of name parts by an affine permutation, so names are unique without a table, and a
title can be mapped back to its topic without an index."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import gcd, prod

from tasks.engine.hashing import Dice, stable_hash


def words(text: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the words of a list written as one string, which is easier to read."""
    return tuple(text.split(separator))


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text; a line that begins with two spaces continues the one before it."""
    return tuple(text.strip().replace("\n  ", " ").split("\n"))


# A name stem is HEAD + MIDDLE + tail. Head and middle end in their only vowel, so a stem can be split in only one way.
_ONSETS = words("b br c d dr f fl g gr h k l m n p r s st t tr v w th sh")
_ACCENTED = words("Bré Mé Lö Sö Té Vé Kö Ré")
HEADS = (*((onset + vowel).capitalize() for onset in _ONSETS for vowel in "aeiou"), *_ACCENTED)
MIDDLES = tuple(onset + vowel for onset in words("b d l m n r v s t k nd rn lm ll rr st") for vowel in "aeio")

_WOMEN = "Anna Berta Clara Dora Elsa Frida Greta Hanna Ida Johanna Karin Lena Marta Nora Olga Paula Rosa Sofia Tilda"
_MEN = "Anton Bruno Carl Daniel Emil Felix Georg Henrik Ivan Jonas Kaspar Leon Martin Niels Oskar Peter Rolf Stefan"
WOMEN, MEN = words(f"{_WOMEN} Ursula Vera Wilma Yvonne Zora"), words(f"{_MEN} Theo Ulrich Viktor Walter Xaver Zoltan")
FIRST_NAMES = WOMEN + MEN
LAST_TAILS = words("n r ll sen rt ck nt ler mann ski vic rd nsson tt berg lund")

# The lists of parts that `kinds/kinds.toml` calls by their names.
LISTS: Mapping[str, tuple[str, ...]] = {
    "HEADS": HEADS,
    "MIDDLES": MIDDLES,
    "FIRST_NAMES": tuple(f"{name} " for name in FIRST_NAMES),
    "LAST_TAILS": LAST_TAILS,
}


def somebody(dice: Dice) -> str:
    """Return the name of a person who is not a topic."""
    return f"{dice.pick(FIRST_NAMES)} {dice.pick(HEADS)}{dice.pick(MIDDLES)}{dice.pick(LAST_TAILS)}"


@dataclass(frozen=True)
class NameScheme:
    """How names of a kind are composed."""

    parts: tuple[tuple[str, ...], ...]  # for each position in a name the possible strings

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = ("|".join(re.escape(text) for text in sorted(part, key=len, reverse=True)) for part in self.parts)
        return re.compile("".join(f"({group})" for group in groups))

    @cached_property
    def size(self) -> int:
        """Number of different names."""
        return prod(len(part) for part in self.parts)

    def name_parts(self, seed: int, ordinal: int) -> tuple[str, ...]:
        """Return the parts of the name of a kind's topic number `ordinal`."""
        factor, shift = _permutation(seed, self.size)
        rest = (factor * ordinal + shift) % self.size
        parts = []
        for part in reversed(self.parts):
            rest, index = divmod(rest, len(part))
            parts.append(part[index])
        return tuple(reversed(parts))

    def ordinal(self, seed: int, name: str) -> int | None:
        """Return the ordinal of a name, or None if it is not a name of this scheme."""
        match = self._pattern.fullmatch(name)
        if match is None:
            return None
        number = 0
        for part, text in zip(self.parts, match.groups(), strict=True):
            number = number * len(part) + part.index(text)
        factor, shift = _permutation(seed, self.size)
        return (number - shift) * pow(factor, -1, self.size) % self.size


@cache
def _permutation(seed: int, size: int) -> tuple[int, int]:
    """Return factor and shift of the permutation x -> factor * x + shift (mod size)."""
    factor = stable_hash(seed, "factor", size) % size | 1
    while gcd(factor, size) != 1:
        factor += 2
    return factor, stable_hash(seed, "shift", size) % size
