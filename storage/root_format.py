"""The number of a root's format, so that a program refuses a root that a newer one has changed the layout of.

The format is how the files below a root are named and sealed, and what the small ones hold; what a stage's shards hold
is up to the stage's version. A change that an older program would misread raises `FORMAT` (`docs/upgrading.md` lists
what changed). A root without the file gets it from its next build."""

from storage.errors import StorageError
from storage.sealed import seal, unseal
from storage.store import Store

FORMAT = 2
FILE = "root.json"


def prepare_root(store: Store) -> None:
    """Make the root if there is none, check that it can be written, and give it its format number. Raises StorageError:
    it cannot be written, or has a format that this version does not read."""
    store.check_writable()
    check_format(store)
    if not store.exists(FILE):
        store.write_bytes(FILE, seal({"format": FORMAT}))


def check_root(store: Store) -> None:
    """Check that there is a root to read. Raises StorageError: there is none, or none of a format that is read here."""
    store.check_exists()
    check_format(store)


def check_format(store: Store) -> None:
    """Check the format of a root, if there is one. Raises StorageError: it is not read here, or is damaged."""
    try:
        number = unseal(store.read_bytes(FILE)).get("format")
    except FileNotFoundError:
        return
    except ValueError as error:
        raise StorageError(
            f"{FILE} below {store.root}, the root's format, cannot be read ({error}): restore it from a backup, or "
            "delete it if no newer version of wikisum has written there"
        ) from error
    if number != FORMAT:
        raise StorageError(
            f"root {store.root!r} has format {number}, and this version of wikisum reads format {FORMAT}: use the "
            "version that wrote it or a later one (docs/upgrading.md)"
        )
