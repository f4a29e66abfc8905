"""Delete shards, models and leftovers that no kept build and no kept model version needs."""

import argparse
import sys
from collections.abc import Sequence

from flows.running.root_command import read_root_options, run_on_root

if __name__ == "__main__":  # help and mistakes are answered before the imports below, which take seconds
    options = read_root_options(
        "python -m flows.prune",
        __doc__,
        {
            "--keep": {
                "type": int,
                "default": 3,
                "help": "newest distinct builds, and model versions, to keep (default: 3)",
            },
            "--dry-run": {"action": "store_true", "help": "only say what would be deleted"},
            "--pin": {"action": "append", "default": [], "metavar": "BUILD", "help": "keep this build from now on"},
            "--unpin": {"action": "append", "default": [], "metavar": "BUILD", "help": "no longer keep a pinned build"},
        },
    )

from prefect import flow

from flows.running.notification import notify
from flows.running.temporary_server import use_prefect_api
from storage.lock import root_lock
from storage.pins import pin_build, pinned_builds, unpin_build
from storage.pruning import carry_out, plan_pruning
from storage.root_format import check_root
from storage.store import Store
from tasks.engine.failure_logs import log_expected_failures_in_one_line
from tasks.retraining.settling import describe_pruning


@flow(name="prune", flow_run_name="prune-keep-{keep}", on_failure=[notify], on_crashed=[notify])
def prune(root: str, keep: int = 3, dry_run: bool = False, pin: Sequence[str] = (), unpin: Sequence[str] = ()) -> str:
    """Prune the root, or with `dry_run` only list what would be deleted; return what happened.

    Builds named in `pin` are protected from now on, those in `unpin` no longer.
    """
    log_expected_failures_in_one_line()
    return prune_root(root, keep, dry_run=dry_run, pin=pin, unpin=unpin)


def prune_root(root: str, keep: int, *, dry_run: bool, pin: Sequence[str] = (), unpin: Sequence[str] = ()) -> str:
    """Do the work of the flow; it can be called outside a flow run.

    Raises:
        StorageError: there is no such root, another run holds it, a manifest is damaged, or a build to pin is missing.
        ValueError: `keep` is less than 1, a build to unpin is not pinned, or pins would change in a dry run.
    """
    if dry_run and (pin or unpin):
        raise ValueError("a dry run changes no pins: expected pin and unpin without dry_run")
    store = Store(root)
    check_root(store)
    with root_lock(store):
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


def _act(options: argparse.Namespace) -> int:
    if options.dry_run:
        print(prune_root(options.root, options.keep, dry_run=True, pin=options.pin, unpin=options.unpin))
    else:
        use_prefect_api()
        print(prune(options.root, options.keep, pin=options.pin, unpin=options.unpin))
    return 0


if __name__ == "__main__":
    sys.exit(run_on_root(options, _act))
