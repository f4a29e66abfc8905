"""Delete shards, models and leftovers that no kept build and no kept model version needs."""

from collections.abc import Sequence

from flows.running.notification import notifying_flow
from flows.running.session import held_root
from flows.running.temporary_server import use_prefect_api
from storage.builds import pin_build, pinned_builds, unpin_build
from storage.pruning import carry_out, plan_pruning
from storage.root import check_root
from storage.store import Store
from tasks.retraining.champion_change import describe_pruning


@notifying_flow("prune", "prune-keep-{keep}")
def prune(root: str, keep: int = 3, dry_run: bool = False, pin: Sequence[str] = (), unpin: Sequence[str] = ()) -> str:
    """Prune the root, or only list what would go; return what happened. Pins protect builds from now on. Raises
    StorageError, or ValueError for wrong pins.

    Args:
        root: folder or URI of the builds.
        keep: how many of the latest builds stay.
        dry_run: only say what would go.
        pin: names of builds that stay for good.
        unpin: names of builds that no longer do."""
    if dry_run and (pin or unpin):
        raise ValueError("a dry run changes no pins: expected pin and unpin without dry_run")
    with held_root(root, dry_run=dry_run) as store:
        for name in pin:
            pin_build(store, name)
        for name in unpin:
            unpin_build(store, name)
        pruning = plan_pruning(store, keep)
        if not dry_run:
            carry_out(store, pruning)
        pinned = pinned_builds(store)
    return "\n".join(
        [describe_pruning(pruning, done=not dry_run), *([f"pinned: {', '.join(pinned)}"] if pinned else [])]
    )


def run(root: str, keep: int, *, dry_run: bool, pin: Sequence[str], unpin: Sequence[str]) -> None:
    """Prune, and print what happened; a dry run needs no Prefect server."""
    check_root(Store(root))  # before a server is started
    if not dry_run:
        use_prefect_api()
    print((prune.fn if dry_run else prune)(root, keep, dry_run=dry_run, pin=pin, unpin=unpin))
