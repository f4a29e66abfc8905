"""Pins: builds that people keep by name, however many newer ones there are."""

from storage.builds import is_build_name, read_build
from storage.sealed import seal
from storage.store import Store

_FOLDER = "builds/pinned"


def pin_build(store: Store, name: str) -> None:
    """Protect a build from pruning until it is unpinned; pinning it twice does no harm. Raises StorageError: there is
    no build of that name, or its manifest cannot be read."""
    read_build(store, name)
    store.write_bytes(pin_path(name), seal({"build": name}))


def unpin_build(store: Store, name: str) -> None:
    """Remove the pin of a build. Raises ValueError: it is not pinned."""
    if name not in pinned_builds(store):
        raise ValueError(f"build {name!r} is not pinned; pinned are: {', '.join(pinned_builds(store)) or 'none'}")
    store.delete(pin_path(name))


def pinned_builds(store: Store) -> list[str]:
    """Return the names of the pinned builds, oldest first; a pin protects also if its content is damaged."""
    return sorted(filter(is_build_name, store.sizes(_FOLDER)))


def pin_path(name: str) -> str:
    """Return the path of a build's pin, relative to the root."""
    return f"{_FOLDER}/{name}"
