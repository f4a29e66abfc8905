"""Which pieces of a summary belong to which sentence, to relate a summarizer's attention to its sentences."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from models.sentences import split_sentences

SPACE_MARK = "\u2581"
# Pieces whose text differs from their name: marks have no text, a byte may be part of a character, `<unk>` is one sign.
_MARK = re.compile(r"<(?:PAD|S|/S|T|P|Q|pad|s|/s|mask)>|\[(?:BOS|CLS|SEP|PAD|MASK)\]")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def sentence_pieces(text: str, pieces: Sequence[str]) -> Iterator[tuple[str, slice]]:
    """Yield the sentences of a text with the slices of their pieces; empty for a sentence in which no piece ends. A
    piece belongs to the sentence that contains its last character, counting characters other than spaces; a lone space
    mark to the sentence that it begins. Together the pieces spell the text, or begin with it."""
    ends = list(accumulate(map(spelled, pieces)))
    start = passed = 0
    for sentence in split_sentences(text):
        passed += len("".join(sentence.split()))
        stop = bisect_right(ends, passed)
        while stop > start and pieces[stop - 1] == SPACE_MARK:
            stop -= 1
        yield sentence, slice(start, stop)
        start = stop


def spelled(piece: str) -> int:
    """Return the number of characters of text, without spaces, that a piece spells."""
    if _MARK.fullmatch(piece):
        return 0
    if piece == "<unk>":
        return 1  # decoded as one sign
    # Of the bytes of a character only the first counts.
    whole = _BYTE.sub(lambda byte: "" if int(byte[1], 16) & 0xC0 == 0x80 else "x", piece)
    return len(whole.replace(SPACE_MARK, ""))
