"""Move the pointer to a version, by its verdict or by hand, prune, and report it; this module judges nothing."""

from datetime import UTC, datetime

from storage.inventory import check_whole
from storage.pruning import Pruning, carry_out, plan_pruning
from storage.registry import Champion, Version, newest_version, promote_version, read_champion, read_version
from storage.store import Store
from tasks.retraining.settings import RetrainingSettings


def settle(store: Store, version: Version, settings: RetrainingSettings, *, planning: bool = False) -> str:
    """Promote a version if its verdict says so and it was not done before, then prune; return what happened. `planning`
    only returns the version's outcome. Builds that are not of retraining are left alone."""
    if planning:
        return describe(version)
    champion = move_pointer(store, version)
    assert champion is not None, "the first version is always promoted"
    pruned = plan_pruning(store, settings.keep, retrained=True)
    carry_out(store, pruned)
    return f"{describe(version)}\nchampion: version {champion.version}\n{describe_pruning(pruned, done=True)}"


def move_pointer(store: Store, version: Version) -> Champion | None:
    """Promote a version if its verdict says so and it was not done before; return the champion afterwards. A version
    that has never been champion replaces only the one it was judged against."""
    champion = read_champion(store)
    seen = {entry["version"] for entry in champion.history} if champion else set()
    beaten = version.parent == (champion.version if champion else None)  # the first version has beaten none
    if version.verdict["promoted"] and version.number not in seen and beaten:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        champion = promote_version(store, version.number, at=now, why=str(version.verdict["reason"]))
    return champion


def move_late_pointer(store: Store) -> None:
    """Promote the newest version if the run that made it was killed before it could."""
    if (newest := newest_version(store)) is not None:
        move_pointer(store, newest)


def describe(version: Version) -> str:
    """Return the outcome of a version and the shards computed for it, as text."""
    outcome = "promoted" if version.verdict["promoted"] else "refused"
    computed = ", ".join(f"{stage} {done}/{total}" for stage, (done, total) in version.computed.items() if done)
    return f"{version.label}: version {version.number} {outcome}: {version.verdict['reason']}\ncomputed: {computed}"


def describe_pruning(pruning: Pruning, *, done: bool) -> str:
    """Return what pruning deletes, by folder, as text."""
    lines = [f"  {folder}: {files:,} files, {size:,} bytes" for folder, (files, size) in pruning.by_folder().items()]
    builds, versions = (", ".join(map(str, kept)) or "none" for kept in (pruning.builds, pruning.versions))
    head = f"{'pruned' if done else 'would prune'} {len(pruning.sizes):,} files, {pruning.bytes:,} bytes"
    tail = f"kept {pruning.kept_bytes:,} bytes: builds {builds}; versions {versions}"
    young = [f"{pruning.young:,} files of unfinished builds are left alone"] if pruning.young else []
    held = [f"{file} cannot be read: nothing older is deleted while it counts as kept" for file in pruning.damaged]
    return "\n".join([head, *lines, tail, *young, *held])


def promote_by_hand(store: Store, number: int) -> str:
    """Make a version the champion by hand; return what happened. Raises StorageError: it is not there, or pruned;
    MissingFilesError: the root lacks what its inventory lists."""
    check_whole(store)
    before = read_champion(store)
    if before is not None and before.version == number:
        return f"version {number} is already the champion"
    promote_version(store, number, at=datetime.now(UTC).isoformat(timespec="seconds"), why="promoted by hand")
    version = read_version(store, number)
    was = "" if before is None else f" instead of version {before.version}"
    return f"version {number} ({version.label}, build {version.build}) is now the champion{was}"
