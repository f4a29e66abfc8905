"""CRC-32C (Castagnoli), the checksum of TFRecord files, in numpy.

A CRC is linear over GF(2): that of two pieces one after the other is that of the first, pushed through as many zero
bytes as the second has, xor that of the second. So a message's bytes are combined in pairs, then the pairs, and so on:
the work of a level is done for all pieces at once.
"""

import functools

import numpy as np
import numpy.typing as npt

_POLYNOMIAL = 0x82F63B78  # reversed bit order
_MASK_DELTA = 0xA282EAD8

_Table = npt.NDArray[np.uint32]


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes, 0 to 2^32 - 1."""
    register = 0xFFFFFFFF
    if data:
        register = int(_advance(np.array([register], np.uint32), len(data))[0]) ^ _raw(data)
    return register ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """Return the CRC-32C in the form in which TFRecord files store it: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _raw(data: bytes) -> int:
    """Return the register after some bytes, from 0; zero bytes in front do not change it."""
    pieces = _byte_table()[np.frombuffer(data, np.uint8)]
    size = 1
    while len(pieces) > 1:
        if len(pieces) % 2:
            pieces = np.concatenate([np.zeros(1, np.uint32), pieces])
        pieces = _apply(_zeros(size.bit_length() - 1), pieces[::2]) ^ pieces[1::2]
        size *= 2
    return int(pieces[0])


def _advance(registers: _Table, count: int) -> _Table:
    """Push registers through `count` zero bytes."""
    for power in range(count.bit_length()):
        if count >> power & 1:
            registers = _apply(_zeros(power), registers)
    return registers


def _apply(tables: _Table, registers: _Table) -> _Table:
    """Apply a linear map, given as a table for each of the four bytes of a register (least significant first)."""
    parts = np.ascontiguousarray(registers, "<u4").view(np.uint8).reshape(-1, 4)
    result: _Table = tables[0][parts[:, 0]]
    for byte in (1, 2, 3):
        result ^= tables[byte][parts[:, byte]]
    return result


@functools.cache
def _zeros(power: int) -> _Table:
    """Return the map of 2^power zero bytes, as tables [4, 256]."""
    if power == 0:
        values = np.arange(256, dtype=np.uint32)[None, :] << np.array([[0], [8], [16], [24]], np.uint32)
        shifted: _Table = (values >> np.uint32(8)) ^ _byte_table()[values & 0xFF]
        return shifted
    half = _zeros(power - 1)
    return _apply(half, half.ravel()).reshape(4, 256)


@functools.cache
def _byte_table() -> _Table:
    """Return the register after each byte, from 0."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> np.uint32(1)) ^ np.where(table & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return table.astype(np.uint32)
