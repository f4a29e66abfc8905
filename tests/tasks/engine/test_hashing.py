"""The stable hash: known values, spread, and what it refuses."""

from collections import Counter

import pytest

from tasks.engine.hashing import article_id, shard_of, stable_hash, unit_interval


def test_values_never_change() -> None:
    # blake2b with an 8-byte digest of "a\x1f1", read big-endian; `printf 'a\0371' | b2sum -l 64` says the same.
    assert f"{stable_hash('a', 1):016x}" == "8181c16b4ad83cc1"
    assert article_id("records", "Ada") == f"{stable_hash('article', 'records', 'Ada'):016x}"


def test_order_and_borders_of_parts_matter() -> None:
    assert len({stable_hash("ab", "c"), stable_hash("a", "bc"), stable_hash("c", "ab"), stable_hash("abc")}) == 4


def test_shards_are_all_used_and_evenly() -> None:
    counts = Counter(shard_of(f"{number:016x}", 8) for number in range(8000))
    assert set(counts) == set(range(8))
    assert max(counts.values()) < 1.15 * min(counts.values())


def test_a_dataset_without_shards_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 shard, got 0"):
        shard_of("key", 0)


def test_unit_interval_spreads_evenly() -> None:
    draws = [unit_interval("seed", number) for number in range(4000)]
    assert all(0 <= draw < 1 for draw in draws)
    assert abs(sum(draws) / len(draws) - 0.5) < 0.02
