"""The files of a ranked corpus: find shards, and load and write them without running code in them."""

import hashlib
import io
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from models.vocabulary import Vocabulary
from storage.formats.ranked_wikisum import Layout, MarkIds, ShardFile, parse_shard_file
from storage.store import Store

# Training takes its validation articles from the first shards that have any; with these in front it need not read the
# training split for them.
_ORDER = {"valid": 0, "test": 1, "train": 2}
_READ_BYTES = 1 << 20
_GLOBAL = re.compile(r"GLOBAL (\S+)")


def find_shards(folder: Store, layout: Layout | None = None) -> list[ShardFile]:
    """Return the shards in a folder: those of valid, test and train in this order, each by number. Subfolders are not
    searched; without a layout, all are found. Raises ValueError: there are no shards, or the folder contains several
    datasets."""
    every_shard = [parsed for name in folder.sizes("") if (parsed := parse_shard_file(name)) is not None]
    shards = [shard for shard in every_shard if layout in (None, shard.layout)]
    if not shards:
        raise ValueError(
            f"no shards in {folder.root}: expected files such as WIKI.train.0.{layout or 'pt'}, found "
            f"{sorted(folder.sizes(''))[:5] or 'an empty folder or none'}"
        )
    kinds = sorted({f"{shard.name}.*.{shard.layout}" for shard in shards})
    if len(kinds) > 1:
        raise ValueError(f"expected the shards of one dataset in {folder.root}, found {', '.join(kinds)}")
    return sorted(shards, key=lambda shard: (_ORDER[shard.split], shard.number))


def file_digest(folder: Store, name: str) -> str:
    """Return the SHA-256 of a file, hex; raises OSError. It is cached for the process until the file changes."""
    info = folder.filesystem.get_file_info(folder.path(name))
    return _digest(folder.root, name, info.size, info.mtime_ns)


@cache
def _digest(root: str, name: str, _size: int | None, _mtime_ns: int | None) -> str:
    folder, digest = Store(root), hashlib.sha256()
    with folder.filesystem.open_input_stream(folder.path(name)) as stream:
        while chunk := stream.read(_READ_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def load_items(folder: Store, shard: ShardFile, sha256: str | None = None) -> list[Any]:
    """Return the items of a shard without checking them. Raises ValueError: the file has changed, is damaged, is not a
    list, or would run code; OSError: it cannot be read."""
    data = folder.read_bytes(shard.path)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{shard.path} has changed since this import began: run the same command again")
    items = _unpickled(data, shard.path) if shard.layout == "pt" else _parsed(data, shard.path)
    if not isinstance(items, list):
        raise ValueError(f"{shard.path}: expected a list of items, got {type(items).__name__}")
    return items


def items_bytes(items: Sequence[dict[str, Any]], layout: Layout) -> bytes:
    """Return the file of a shard."""
    if layout == "json":
        return json.dumps(list(items), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    torch.save(list(items), buffer)
    return buffer.getvalue()


def marks_of(vocabulary: Vocabulary) -> MarkIds:
    """Return the ids with a special meaning in the layout. Raises ValueError: the vocabulary has no piece that ends a
    sentence."""
    if vocabulary.sentence_mark is None:
        raise ValueError(
            f"the layout of the ranked WikiSum marks sentences: expected a SentencePiece vocabulary with its special "
            f"pieces, got a {vocabulary.kind} one"
        )
    return MarkIds(
        size=vocabulary.size,
        pad=vocabulary.pad,
        begin=vocabulary.begin,
        end=vocabulary.end,
        title=vocabulary.title_mark,
        sentence=vocabulary.sentence_mark,
    )


def _unpickled(data: bytes, path: str) -> Any:
    try:
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - a damaged pickle can raise any exception
        # Torch's own message advises loading without the safeguard, so it is replaced.
        named = _GLOBAL.search(str(error))
        if named is not None:
            raise ValueError(
                f"{path} was refused: it is not a plain list of ids and texts, loading it would call {named[1]}"
            ) from None
        raise ValueError(
            f"{path}: expected a list of dicts written by torch.save; the file is damaged or something else "
            f"({type(error).__name__})"
        ) from None


def _parsed(data: bytes, path: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected a JSON list of items: {error}") from error
