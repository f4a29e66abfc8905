"""The stable hash behind every id, shard number, split and seeded choice (never Python's own `hash`)."""

from hashlib import blake2b

_SEPARATOR = "\x1f"


def stable_hash(*parts: str | int) -> int:
    """Return a 64-bit hash of the parts, the same on every machine and Python; order matters."""
    key = _SEPARATOR.join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")


def article_id(source: str, title: str) -> str:
    """Return the id of an article of a source: 16 hex digits."""
    return f"{stable_hash('article', source, title):016x}"


def unit_interval(*parts: str | int) -> float:
    """Return a number in [0, 1) that depends only on the parts."""
    return (stable_hash(*parts) >> 11) / (1 << 53)


def shard_of(key: str, shards: int) -> int:
    """Return the shard of a key, 0 to `shards` - 1. Raises ValueError: fewer than one shard."""
    if shards < 1:
        raise ValueError(f"a dataset needs at least 1 shard, got {shards}")
    return stable_hash("shard", key) % shards
