"""tf.train.Example messages: bytes worked out by hand, and round trips with a writer."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sources.tensor2tensor import read_example
from tests.tasks.sources.tfrecord_files import write_example

FEATURES = st.dictionaries(
    st.text(max_size=8),
    st.one_of(
        st.lists(st.binary(max_size=200), max_size=4),
        st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=4),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
    ),
    max_size=4,
)


def test_a_message_is_read_byte_for_byte() -> None:
    value = b"\x0a\x05\x0a\x03abc"  # Feature: bytes_list { value: "abc" }
    entry = b"\x0a\x01k\x12\x07" + value
    message = b"\x0a\x0e\x0a\x0c" + entry
    assert read_example(message) == {"k": [b"abc"]}
    assert write_example({"k": [b"abc"]}) == message


def test_numbers_are_known_by_their_kind_packed_and_alone() -> None:
    packed = b"\x1a\x04\x0a\x02\x05\x07"  # int64_list { value: [5, 7] packed }
    alone = b"\x1a\x0d\x08\x05\x08" + b"\xff" * 9 + b"\x01"  # value: 5, value: -1
    floats = b"\x12\x0a\x0d" + struct.pack("<f", 1.5) + b"\x0d" + struct.pack("<f", -2.0)
    for feature, expected in ((packed, "int"), (alone, "int"), (floats, "float")):
        entry = b"\x0a\x01n\x12" + bytes([len(feature)]) + feature
        features = b"\x0a" + bytes([len(entry)]) + entry
        assert read_example(b"\x0a" + bytes([len(features)]) + features) == {"n": expected}


@given(FEATURES)
def test_what_was_written_is_read(features: dict[str, list[Any]]) -> None:
    kinds = {name: type(values[0]).__name__ if values else "bytes" for name, values in features.items()}
    expected = {name: values if kinds[name] == "bytes" else kinds[name] for name, values in features.items()}
    assert read_example(write_example(features)) == expected


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused_or_read_as_features(data: bytes) -> None:
    try:
        assert isinstance(read_example(data), dict)
    except ValueError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (b"\x0a\x05abc", "field 1 reaches 2 bytes past the end"),
        (b"\x0b", "field 1 has the wire type 3"),
        (b"\x08\x01", "field 1 has the wire type 0"),
        (b"\x0a\xff\xff", "does not end"),
        (b"\x0a\x05\x0a\x03\x0a\x01\xff", "expected a feature's name in UTF-8"),
    ],
)
def test_what_is_no_example_is_named(message: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_example(message)
