"""Which of many patterns a text may have, told for all of them in one pass over its bytes, by Hyperscan's automaton.

The answer may name a pattern too many and never leaves one out, so that Python's `re` need only try those it names. The
automaton reads Windows-1252 with an underscore for each letter that is not ASCII: to a pattern both are characters of a
word, so a range of letters may hold no sign (à-ÿ holds ÷). What it does not have (assertions about what stands around,
possessive repetition) it takes for granted."""

import codecs
import re
from collections.abc import Sequence
from threading import Lock

import hyperscan as hs

_NOT_REGULAR = re.compile(r"\(\?[<=!>]|[*+?]\+")


def _stand_in(character: str) -> str:
    """Return the ASCII character that patterns take for the same kind as another."""
    if character.isdecimal():
        return "0"
    return "_" if character.isalnum() else " " if character.isspace() else "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_stand_in, error.object[error.start : error.end])), error.end


codecs.register_error("stand-in", _replace)
_SIGNS = [bytes([byte]).decode("cp1252", "replace") for byte in range(256)]
_STAND_INS = bytes(  # line breaks stay, because "$" and "." tell them from other spaces
    ord(_stand_in(sign)) if sign != "\n" and (sign.isspace() or (byte > 127 and sign.isalnum())) else byte
    for byte, sign in enumerate(_SIGNS)
)


def _encoded(text: str) -> bytes:
    return text.encode("cp1252", "stand-in").translate(_STAND_INS)


class PatternSet:
    """Patterns that are looked for together; of the first `any_case` ones case is ignored, whatever they say."""

    def __init__(self, patterns: Sequence[re.Pattern[str]], any_case: int = 0) -> None:
        flags = [
            hs.HS_FLAG_SINGLEMATCH
            | hs.HS_FLAG_ALLOWEMPTY
            | (hs.HS_FLAG_PREFILTER if _NOT_REGULAR.search(pattern.pattern) else 0)
            | (hs.HS_FLAG_CASELESS if pattern.flags & re.IGNORECASE or number < any_case else 0)
            for number, pattern in enumerate(patterns)
        ]
        self._database = hs.Database()
        self._database.compile(
            expressions=[_encoded(pattern.pattern) for pattern in patterns], ids=list(range(len(patterns))), flags=flags
        )
        self._lock = Lock()  # a database has memory for one search at a time

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the patterns that a text may have, each once; all that it has are among them."""
        found: list[int] = []
        with self._lock:
            self._database.scan(_encoded(text), match_event_handler=lambda number, *_: found.append(number))
        return found
