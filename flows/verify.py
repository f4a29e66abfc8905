"""Read every file below the root and compare it with its record; a build that needs a damaged one computes it again."""

import sys
import time

from flows.running.notification import notifying_flow
from flows.running.session import held_root
from flows.running.temporary_server import use_prefect_api
from storage.errors import CorruptShardError
from storage.root import accept_lost_inventory, check_root
from storage.store import Store
from storage.verification import verify as verify_store

_WEEK_SECONDS = 604_800


@notifying_flow("verify")
def verify(root: str, dry_run: bool = False, weeks: int = 1, accept_loss: bool = False) -> str:
    """Verify the root, set damaged files aside unless a `dry_run`; CorruptShardError names the first of them.

    Args:
        root: folder or URI of the builds.
        dry_run: only say what is damaged.
        weeks: read this week's part, so that all is read in so many weeks; 1 = all.
        accept_loss: write off in the root's inventory what it lists and is gone."""
    damaged, summary = verify_root(root, dry_run=dry_run, weeks=weeks, accept_loss=accept_loss)
    print(summary)
    for path, problem in damaged.items():
        raise CorruptShardError(path, f"{problem} ({len(damaged)} damaged in all)")
    return summary


def verify_root(root: str, *, dry_run: bool, weeks: int = 1, accept_loss: bool = False) -> tuple[dict[str, str], str]:
    """Hold a root, and do what `verify_held` does. Raises StorageError: no usable root; ValueError: a dry run is to
    accept a loss."""
    if dry_run and accept_loss:
        raise ValueError("a dry run writes nothing: expected accept_loss without dry_run")
    if accept_loss:
        accept_lost_inventory(Store(root))
    with held_root(root, dry_run=dry_run) as store:
        return verify_held(store, dry_run=dry_run, weeks=weeks, accept_loss=accept_loss)


def verify_held(
    store: Store, *, dry_run: bool, weeks: int = 1, accept_loss: bool = False
) -> tuple[dict[str, str], str]:
    """Return file -> damage, and a summary as text, of a root that the caller holds."""
    part = (int(time.time() // _WEEK_SECONDS) % weeks, weeks)
    result = verify_store(
        store, repair=not dry_run, accept_loss=accept_loss, part=part, progress=lambda now: print(now, file=sys.stderr)
    )
    lines = [
        f"{path}: {problem}" + (f"; {result.advice[path]}" if path in result.advice else "")
        for path, problem in sorted(result.damaged.items())
    ]
    earlier = f" ({result.earlier:,} of them before an interruption)" if result.earlier else ""
    read = f"{result.files:,} files{earlier}, {result.bytes / 1e6:,.1f} MB read in {result.seconds:,.1f} s; "
    computed = len(result.damaged.keys() - result.advice.keys())
    outcome = f"{len(result.damaged)} damaged" if result.damaged else "nothing is damaged"
    if computed and not dry_run:
        outcome += f", {computed} of them set aside: a build that needs one computes it again"
    lines.append((f"part {part[0] + 1} of {weeks}: " if weeks > 1 else "") + read + outcome)
    return result.damaged, "\n".join(lines)


def run(root: str, *, dry_run: bool, weeks: int, accept_loss: bool) -> int:
    """Verify, and print what was found; return the exit code. A dry run needs no Prefect server."""
    if dry_run:
        damaged, summary = verify_root(root, dry_run=True, weeks=weeks, accept_loss=accept_loss)
        print(summary)
        return 1 if damaged else 0
    if not accept_loss:
        check_root(Store(root))  # before a server is started
    use_prefect_api()
    verify(root, weeks=weeks, accept_loss=accept_loss)
    return 0
