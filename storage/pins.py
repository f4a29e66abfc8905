"""Pins: builds that people keep by name, however many later ones there are."""

from storage.builds import read_build
from storage.store import Store

_FOLDER = "builds/pinned"


def pin_build(store: Store, name: str) -> None:
    """Keep a build until its pin is taken away; a pin that is there stays.

    Raises:
        StorageError: there is no build of that name, or its manifest cannot be read.
    """
    read_build(store, name)
    store.write_bytes(f"{_FOLDER}/{name}", b"")


def unpin_build(store: Store, name: str) -> None:
    """Take the pin of a build away.

    Raises:
        ValueError: it is not pinned.
    """
    if name not in pinned_builds(store):
        raise ValueError(f"build {name!r} is not pinned; pinned are: {', '.join(pinned_builds(store)) or 'none'}")
    store.delete(f"{_FOLDER}/{name}")


def pinned_builds(store: Store) -> list[str]:
    """Return the names of the pinned builds, oldest first."""
    return sorted(store.sizes(_FOLDER))
