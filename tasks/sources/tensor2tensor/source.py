"""Shards of URLs and shards of articles, joined by the URL of the article (SYSTEMS: Layouts of other people's data)."""

import glob
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tasks.sources.files import blocks, file_state
from tasks.sources.malformed import Malformed
from tasks.sources.source import Article, ArticleReason, Partition
from tasks.sources.tensor2tensor.example import Values, read_example, read_records
from tasks.sources.tensor2tensor.settings import Tensor2TensorSettings

_LICENCE = "CC BY-SA 3.0"  # of the encyclopedia when the shards were made
FORMAT_VERSION = 1  # rises when the same files would give other articles
_NAME = re.compile(r"(.+)-(\d{5})-of-(\d{5})")


@dataclass(frozen=True)
class _Shard:
    """Two files of one number."""

    number: int
    of: int
    urls: Path
    content: Path


class Tensor2TensorSource:
    """Articles of content shards with the URLs that the URL shard of the same number has for them."""

    name = "tensor2tensor"
    gives_documents = False

    def __init__(self, settings: Tensor2TensorSettings) -> None:
        self._settings = settings

    def partitions(self) -> list[Partition]:
        """Return a partition for each shard number; its digest covers the bytes of both files. Raises ValueError also
        if a file of a pair is missing."""
        recipe = json.dumps([FORMAT_VERSION, self._settings.split, _LICENCE]).encode()
        found = []
        for shard in self._shards():
            digest = _digest(shard, recipe, file_state(shard.urls), file_state(shard.content))
            found.append(Partition(f"shard {shard.number} of {shard.of}", digest, shard.number, shard.number + 1))
        return found

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a shard in the order of its content, then those that have only URLs (`no_content`).
        Memory holds one article of the content at a time, and the URLs of the whole shard."""
        shard = next((shard for shard in self._shards() if shard.number == partition.start), None)
        if shard is None:
            raise ValueError(f"{partition.name}: its files no longer exist (source.tensor2tensor)")
        urls = _read_urls(shard.urls)
        split = _split(shard) if self._settings.split == "files" else None
        malformed = Malformed()
        with shard.content.open("rb") as stream:
            for offset, record in read_records(stream, name=str(shard.content)):
                try:
                    url, title, lead = _read_content(record, f"{shard.content}, record at byte {offset}")
                except ValueError as error:
                    malformed.add(str(error))
                if malformed.number:
                    continue
                entry = urls.pop(url, None)
                yield Article(
                    title=title, lead=lead, references=() if entry is None else entry[1], split=split, licence=_LICENCE
                )
        malformed.check()
        for url, (title, _) in urls.items():
            yield Article(title or _title_of(url), "", (), split=split, drop_reason=ArticleReason.NO_CONTENT)

    def _shards(self) -> list[_Shard]:
        urls = _files(self._settings.urls, "wiki_urls.json", "source.tensor2tensor.urls")
        contents = _files(self._settings.content, "wiki_content.tfrecords", "source.tensor2tensor.content")
        if alone := urls.keys() ^ contents.keys():
            number, total = min(alone)
            missing = "content" if (number, total) in urls else "URL"
            raise ValueError(f"shard {number} of {total} has no {missing} file: expected a pair for each number")
        return [_Shard(*key, urls[key], contents[key]) for key in sorted(urls)]


def _files(path: str, prefix: str, setting: str) -> dict[tuple[int, int], Path]:
    """Return files by (number, total)."""
    if not path:
        raise ValueError(f"{setting} is empty: expected a folder or a pattern")
    pattern = f"{glob.escape(path)}/{prefix}-*-of-*" if Path(path).is_dir() else path
    files: dict[tuple[int, int], Path] = {}
    for name in glob.glob(pattern, recursive=True):  # noqa: PTH207 - may be absolute
        match = _NAME.fullmatch(Path(name).name)
        if match is None:
            raise ValueError(f"{name}: expected a name like {prefix}-00042-of-01000 ({setting})")
        files[int(match[2]), int(match[3])] = Path(name)
    if not files:
        raise FileNotFoundError(f"no file matches {pattern!r} ({setting})")
    return files


@cache
def _digest(shard: _Shard, recipe: bytes, *_states: tuple[int, ...]) -> str:
    """Read a shard's files, once per process until they change."""
    digest = hashlib.sha256(recipe)
    for path in (shard.urls, shard.content):
        size = path.stat().st_size
        digest.update(f"{shard.number}/{shard.of}:{size};".encode())
        with path.open("rb") as stream:
            for block in blocks(stream, size):
                digest.update(block)
    return digest.hexdigest()


def _split(shard: _Shard) -> str:
    if shard.number * 10 < shard.of:
        return "valid"
    return "test" if shard.number * 5 < shard.of else "train"


def _read_urls(path: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return title and references by the URL of the article, from one JSON object."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected a JSON object of articles, but {error}") from error
    if not isinstance(entries, dict):
        raise ValueError(f"{path}: expected a JSON object of articles, got {type(entries).__name__}")
    found, malformed = {}, Malformed()
    for url, entry in entries.items():
        try:
            found[url] = _entry(url, entry, path)
        except ValueError as error:
            malformed.add(str(error))
    malformed.check()
    return found


def _entry(url: str, entry: Any, path: Path) -> tuple[str, tuple[str, ...]]:
    refs = entry.get("refs") if isinstance(entry, dict) else None
    if not isinstance(refs, list) or not all(isinstance(ref, str) for ref in refs):
        raise ValueError(f"{path}, entry {url!r}: expected an object with `refs`, a list of URLs, got {entry!r:.80}")
    title = entry.get("title")
    return title if isinstance(title, str) else "", tuple(refs)


def _read_content(record: bytes, location: str) -> tuple[str, str, str]:
    """Return URL, title and lead of an Example; the first section is the lead."""
    try:
        features = read_example(record)
        url, title = (_texts(features, name)[0] for name in ("url", "title"))
        sections = _texts(features, "section_texts")
    except (ValueError, IndexError) as error:
        raise ValueError(f"{location}: expected url, title and section_texts, but {error}") from error
    return url, title, sections[0].strip() if sections else ""


def _texts(features: Mapping[str, Values], name: str) -> list[str]:
    texts = []
    for value in features.get(name, ()):
        if not isinstance(value, bytes):
            raise ValueError(f"{name} contains {type(value).__name__}")
        texts.append(value.decode("utf-8"))
    return texts


def _title_of(url: str) -> str:
    return url.rpartition("/")[2].replace("_", " ")
