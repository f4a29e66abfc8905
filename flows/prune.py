"""Delete shards, models and leftovers that no kept build and no kept model version needs."""

import argparse
import sys

from prefect import flow

from flows.temporary_server import use_prefect_api
from storage.errors import StorageError
from storage.lock import root_lock
from storage.pruning import carry_out, plan_pruning
from storage.store import Store
from tasks.notification import notify
from tasks.retraining.outcome import describe_pruning


@flow(name="prune", flow_run_name="prune-keep-{keep}", on_failure=[notify], on_crashed=[notify])
def prune(root: str, keep: int = 3, dry_run: bool = False) -> str:
    """Prune the root, or with `dry_run` only say what would go; return what happened."""
    return prune_root(root, keep, dry_run=dry_run)


def prune_root(root: str, keep: int, *, dry_run: bool) -> str:
    """Do what the flow does, outside a flow run too.

    Raises:
        StorageError: another run holds the root, or a manifest cannot be read.
        ValueError: `keep` is less than 1.
    """
    store = Store(root)
    with root_lock(store):
        found = plan_pruning(store, keep)
        if not dry_run:
            carry_out(store, found)
    return describe_pruning(found, done=not dry_run)


def main() -> int:
    """Parse the options, prune, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.prune", description=__doc__)
    parser.add_argument("--root", default="data", help="folder or URI everything is written below (default: data)")
    parser.add_argument("--keep", type=int, default=3, help="newest builds and model versions to keep (default: 3)")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be deleted")
    options = parser.parse_args()
    try:
        if options.dry_run:
            print(prune_root(options.root, options.keep, dry_run=True))
        else:
            use_prefect_api()
            print(prune(options.root, options.keep))
        return 0
    except (StorageError, ValueError) as error:
        print(f"{parser.prog} stopped: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
