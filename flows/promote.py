"""Make a version of the models the champion by hand: to roll back, or to use one that the test refused."""

from flows.running.notification import notifying_flow
from flows.running.session import held_root
from flows.running.temporary_server import use_prefect_api
from storage.inventory import check_whole
from storage.registry import check_usable
from storage.root import check_root
from storage.store import Store
from tasks.retraining.champion_change import promote_by_hand


@notifying_flow("promote", "promote-version-{to}")
def promote(root: str, to: int) -> str:
    """Make version `to` the champion; return what happened. StorageError if it is gone or the root is held.

    Args:
        root: folder or URI of the builds.
        to: number of the version that becomes the champion."""
    with held_root(root) as store:
        return promote_by_hand(store, to)


def run(root: str, to: int) -> None:
    """Promote, and print what happened; mistakes are reported before a server starts."""
    store = Store(root)
    check_root(store)
    check_whole(store)
    check_usable(store, to)
    use_prefect_api()
    print(promote(root, to))
