"""Copy what nothing computes again to another place, and back (`storage.backup`)."""

from flows.running.notification import notifying_flow
from flows.running.session import held_root
from storage.backup import KEEP, Copied, back_up
from storage.backup import restore as restore_files
from storage.errors import StorageError
from storage.generations import check as check_files
from storage.root import root_lock
from storage.store import Store


@notifying_flow("backup")
def backup(root: str, to: str, pages: bool = False, keep: int = KEEP, check: bool = False) -> str:
    """Copy it as a generation; return what was copied. StorageError if some of it is damaged: the rest is copied.

    Args:
        root: folder or URI of the builds.
        to: folder or URI of the backup; what is new or changed is copied, and earlier generations stay.
        pages: also the crawled pages, which the web may no longer have.
        keep: how many generations stay.
        check: copy nothing, but read every byte of the backup."""
    if check:
        return checked(to)
    with held_root(root) as store:
        return _said(back_up(store, Store(to), pages=pages, keep=keep), "to", to)


def checked(to: str) -> str:
    """Read a whole backup; return what it has. StorageError if a file of it is damaged or gone."""
    result = check_files(Store(to))
    lines = [f"{name}: {len(item.files):,} files of root {item.root}" for name, item in result.generations.items()]
    lines.append(f"{result.files:,} files, {result.bytes:,} bytes read; {len(result.damaged)} damaged")
    lines += [f"{file}: {problem}" for file, problem in sorted(result.damaged.items())]
    if result.damaged:
        raise StorageError("\n".join([*lines, "the next backup of the root copies again what the root still has"]))
    return "\n".join(lines)


def restore(root: str, copy: str, *, generation: str | None = None, replace_damaged: bool = False) -> str:
    """Copy back what the root lacks; return what was copied. StorageError as `backup`, or if another run holds it."""
    store, source = Store(root), Store(copy)
    source.check_exists()
    with root_lock(store):
        done = restore_files(source, store, generation=generation, replace_damaged=replace_damaged)
    return _said(done, "from", copy)


def _said(done: Copied, way: str, backup: str) -> str:
    where = f"{way} generation {done.generation} of {backup}"
    lines = [f"{done.files:,} files, {done.bytes:,} bytes copied {where}; {done.present:,} were there"]
    lines += [f"{file} was not copied: {problem}" for file, problem in sorted(done.damaged.items())]
    if done.damaged:
        raise StorageError("\n".join(lines))
    return lines[0]
