"""Copy what nothing computes again to another place, and back (`storage.backup`)."""

from flows.running.notification import notifying_flow
from flows.running.session import held_root
from storage.backup import Copied, back_up
from storage.backup import restore as restore_files
from storage.errors import StorageError
from storage.root import check_root, root_lock
from storage.store import Store


@notifying_flow("backup")
def backup(root: str, to: str, pages: bool = False) -> str:
    """Copy it; return what was copied. StorageError if some of it is damaged: the rest is copied, earlier copies stay.

    Args:
        root: folder or URI of the builds.
        to: folder or URI of the copy; what is new or changed is copied.
        pages: also the crawled pages, which the web may no longer have."""
    with held_root(root) as store:
        return _said(back_up(store, Store(to), pages=pages), to)


def restore(root: str, copy: str) -> str:
    """Copy back what the root lacks; return what was copied. StorageError as `backup`, or if another run holds it."""
    store, source = Store(root), Store(copy)
    check_root(source)
    with root_lock(store):
        return _said(restore_files(source, store), root)


def _said(done: Copied, to: str) -> str:
    lines = [f"{done.files:,} files, {done.bytes:,} bytes copied to {to}; {done.present:,} were there"]
    lines += [f"{file} is damaged and was not copied: {problem}" for file, problem in sorted(done.damaged.items())]
    if done.damaged:
        raise StorageError("\n".join(lines))
    return lines[0]
