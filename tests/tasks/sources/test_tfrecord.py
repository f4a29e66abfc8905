"""TFRecord files and their checksums."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sources.tensor2tensor import masked_crc32c, read_records
from tests.tasks.sources.tfrecord_files import write_records


def written(*records: bytes) -> bytes:
    stream = io.BytesIO()
    write_records(stream, records)
    return stream.getvalue()


def read(data: bytes) -> list[tuple[int, bytes]]:
    return list(read_records(io.BytesIO(data), name="a.tfrecords"))


def test_the_mask_rotates_and_adds() -> None:
    assert masked_crc32c(b"") == 0xA282EAD8
    assert masked_crc32c(b"123456789") == ((0xE3069283 >> 15) + (0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_a_record_is_length_checksum_data_checksum() -> None:
    data = written(b"ab")
    assert data[:8] == b"\x02\0\0\0\0\0\0\0"
    assert data[12:14] == b"ab"
    assert len(data) == 18


@given(st.lists(st.binary(max_size=100), max_size=6))
def test_what_was_written_is_read(records: list[bytes]) -> None:
    found = read(written(*records))
    assert [data for _, data in found] == records
    assert [offset for offset, _ in found] == [len(written(*records[:place])) for place in range(len(records))]


@given(st.binary(min_size=1, max_size=40), st.data())
def test_a_flipped_bit_anywhere_is_noticed(record: bytes, data: st.DataObject) -> None:
    good = written(b"first", record)
    start = len(written(b"first"))
    bit = data.draw(st.integers(start * 8, len(good) * 8 - 1))
    bad = bytearray(good)
    bad[bit // 8] ^= 1 << bit % 8
    with pytest.raises(ValueError, match=rf"a\.tfrecords, record at byte {start}: its (length|data) has the masked"):
        read(bytes(bad))


@given(st.integers(1, 25))
def test_a_file_cut_short_is_noticed(missing: int) -> None:
    good = written(b"first", b"0123456789")
    with pytest.raises(ValueError, match=r"record at byte 21: expected .* the file ends after"):
        read(good[: len(good) - missing])


def test_the_records_before_the_damage_are_read() -> None:
    found = read_records(io.BytesIO(written(b"whole") + b"\0"), name="a")
    assert next(found) == (0, b"whole")
    with pytest.raises(ValueError, match="record at byte 21"):
        next(found)
