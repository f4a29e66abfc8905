"""Make a version of the models the champion by hand: to roll back, or to use one that the test refused."""

import argparse
import sys

from prefect import flow

from flows.running.notification import notify
from flows.running.root_command import run_on_root
from flows.running.temporary_server import use_prefect_api
from storage.lock import root_lock
from storage.store import Store
from tasks.retraining.outcome import promote_by_hand


@flow(name="promote", flow_run_name="promote-version-{to}", on_failure=[notify], on_crashed=[notify])
def promote(root: str, to: int) -> str:
    """Make version `to` below `root` the champion; return what happened.

    Raises:
        StorageError: there is no such root or version, the version has been pruned, or another run holds the root.
    """
    store = Store(root)
    store.check_exists()
    with root_lock(store):
        return promote_by_hand(store, to)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", type=int, required=True, metavar="VERSION", help="number of the version")


def _act(options: argparse.Namespace) -> int:
    use_prefect_api()
    print(promote(options.root, options.to))
    return 0


if __name__ == "__main__":
    sys.exit(run_on_root("python -m flows.promote", __doc__, _options, _act))
