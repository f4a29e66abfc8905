"""Paths and URIs as filesystems of pyarrow: one way to open them, for roots, archives and index tables."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow.fs as pafs

from storage.paths import is_path_text

# Google's client asks again for a quarter of an hour where nobody answers, and says nothing meanwhile. With this limit
# it gives up after half a minute.
_GOOGLE_SECONDS = 10  # each of its two retries


def open_filesystem(named: str) -> tuple[pafs.FileSystem, str]:
    """Return the filesystem of a path or URI, and the path on it; no server is asked. Raises ValueError: no filesystem
    takes this text, or pyarrow does not know the URI; OSError or RuntimeError: as `Path.resolve` and pyarrow."""
    if not is_path_text(named):
        raise ValueError("expected text that UTF-8 can write, without NUL")
    if "://" not in named:
        return pafs.LocalFileSystem(), str(Path(named).expanduser().resolve())
    parts = urlsplit(named)
    if parts.scheme.lower() in ("gs", "gcs") and "retry_limit_seconds" not in parse_qs(parts.query):
        named += f"{'&' if parts.query else '?'}retry_limit_seconds={_GOOGLE_SECONDS}"
    filesystem, path = pafs.FileSystem.from_uri(named)
    return filesystem, str(path)
