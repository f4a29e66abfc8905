"""Names of topics: combined from a compact set of syllables and words, unique, and invertible. A topic's ordinal within
its kind is mapped to a combination of name parts by an affine permutation, so names are unique without a table, and a
title can be mapped back to its topic without an index."""

import re
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

_ADJECTIVES = """
Glass Silent Amber Broken Crooked Distant Empty Faithful Gentle Hidden Hollow Iron Ivory Last Little Lonely Lost Narrow
Northern Paper Patient Quiet Red Restless Scarlet Second Secret Seventh Silver Sleeping Slow Small Southern Stolen Stone
Tall Tired Unwritten Velvet Wandering White Wild Wooden Yellow Bitter Blue Borrowed Brass Burning Careless Clever Copper
Crimson Dark Early Endless False Final First Forgotten Fourth Golden Green Grey Honest Humble Painted Proud Third
"""
_NOUNS = """
Orchard Harbour Letter Lantern Piano Garden Window Station Clock Mirror Ferry Staircase Painter Widow Soldier Baker Well
Tailor Sparrow Fox Horse Swan Heron Wolf Key Coat Suitcase Train Bridge Island Lighthouse Theatre Hotel Market Library
Kitchen Balcony Chapel Tower Mill Road Valley Forest Meadow Field Shore Song Waltz Promise Wager Verdict Witness Guest
Stranger Neighbour Daughter Brother Teacher Gardener Fisherman Doctor Judge Messenger Portrait Signal Umbrella Bell
Boat Violin Candle Carriage Crown Door Dream Flag House Journey Night Nurse Pilot Queen
"""
_ENDINGS = words(
    "| of Glass| of Salt| of the North| of Silence| of Summer| of Ashes| of the Valley| at Midnight| at Noon| at Dawn"
    "| by the Sea| by the Lake| by Night| in the Rain| in the Snow| in the Fog| in Love| in Exile| in Spring| in Autumn"
    "| on the Hill| on the Quay| Next Door| Returns| Without a Name| for Two| for Sale| from Nowhere| Upstairs"
    "| Under the Ice",
    "|",
)
FILM_TITLES = (("The ",), tuple(f"{word} " for word in words(_ADJECTIVES)), words(_NOUNS), _ENDINGS)


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
