"""A map from URL to the position of its row, with 16 bytes per slot: a dictionary of a million URLs is too large."""

import hashlib
import os
from array import array
from typing import NamedTuple

_SLOTS = 1 << 10
_OFFSET_BITS = 40  # segments of up to 1 TB, and 16 million of them
_EMPTY, _FORGOTTEN = 0, 1  # never a stored value, because stored segment numbers start at 1


class Place(NamedTuple):
    """The position of a row."""

    segment: int  # number of the segment
    offset: int  # start of its record batch in the segment, in bytes


class Places:
    """URL -> place: a hash table with open addressing over 64 bits of a digest with a secret key.

    Two of a million URLs have the same 64 bits once in 37 million shards, and the secret key prevents deliberate
    collisions; readers of a row still compare its URL.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._secret = os.urandom(16)
        self._digests = array("Q", bytes(8 * _SLOTS))
        self._values = array("Q", bytes(8 * _SLOTS))
        self._used = 0  # slots, those of forgotten URLs included
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, url: str) -> Place | None:
        """Return the place of a URL, or None."""
        value = self._values[self._slot(self._digest(url))]
        return None if value in (_EMPTY, _FORGOTTEN) else _place(value)

    def put(self, url: str, place: Place) -> Place | None:
        """Store the place of a URL and return the previous one, or None."""
        if 3 * self._used >= 2 * len(self._values):
            self._grow()
        digest = self._digest(url)
        slot = self._slot(digest)
        before = self._values[slot]
        self._used += before == _EMPTY
        self._count += before in (_EMPTY, _FORGOTTEN)
        self._digests[slot] = digest
        self._values[slot] = (place.segment + 1) << _OFFSET_BITS | place.offset
        return None if before in (_EMPTY, _FORGOTTEN) else _place(before)

    def forget(self, url: str) -> Place:
        """Remove a URL and return its place.

        Raises:
            KeyError: it is not in the map.
        """
        slot = self._slot(self._digest(url))
        value = self._values[slot]
        if value in (_EMPTY, _FORGOTTEN):
            raise KeyError(url)
        self._values[slot] = _FORGOTTEN  # not empty, because searches for other URLs continue past this slot
        self._count -= 1
        return _place(value)

    def _digest(self, url: str) -> int:
        return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8, key=self._secret).digest(), "little")

    def _slot(self, digest: int) -> int:
        """Return the slot of a digest, or the empty one where it belongs."""
        digests, values, last = self._digests, self._values, len(self._values) - 1
        slot = digest & last
        while values[slot] != _EMPTY and digests[slot] != digest:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        digests, values = self._digests, self._values
        self._digests = array("Q", bytes(16 * len(values)))
        self._values = array("Q", bytes(16 * len(values)))
        self._used = self._count
        for digest, value in zip(digests, values, strict=True):
            if value not in (_EMPTY, _FORGOTTEN):
                slot = self._slot(digest)
                self._digests[slot], self._values[slot] = digest, value


def _place(value: int) -> Place:
    return Place((value >> _OFFSET_BITS) - 1, value & ((1 << _OFFSET_BITS) - 1))
