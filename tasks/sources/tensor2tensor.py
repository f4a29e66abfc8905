"""The published WikiSum shards of Liu et al. 2018 as a source: shards of URLs and shards of articles, joined by the URL
of the article.

An article is a tf.train.Example in a TFRecord file, read here without TensorFlow or protobuf. A record: its length (8
bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, the masked CRC-32C of the data.

Example  { Features features = 1 }                Features { map<string, Feature> feature = 1 }
Feature  { oneof: BytesList bytes_list = 1, FloatList float_list = 2, Int64List int64_list = 3 }
...List  { repeated value = 1 }                   a map entry has its key in field 1 and its value in field 2"""

import glob
import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, Literal

import google_crc32c

from tasks.sources.files import Malformed, blocks, file_state, matching_files
from tasks.sources.settings import Tensor2TensorSettings
from tasks.sources.source import Article, ArticleReason, Partition

_LICENCE = "CC BY-SA 3.0"  # of the encyclopedia when the shards were made
FORMAT_VERSION = 1  # rises when the same files would give other articles
_NAME = re.compile(r"(.+)-(\d{5})-of-(\d{5})")


_HEAD = struct.Struct("<QI")
_FOOT = struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
MAX_RECORD_BYTES = 1 << 30


def read_records(stream: BinaryIO, *, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the byte offset and the data of each record; one record is in memory at a time. `name` is the file's, for
    messages. Raises ValueError: a record is cut short, its checksum is wrong, or it is longer than
    `MAX_RECORD_BYTES`."""
    offset = 0
    while head := stream.read(_HEAD.size):
        location = f"{name}, record at byte {offset}"
        if len(head) < _HEAD.size:
            raise ValueError(f"{location}: expected a head of {_HEAD.size} bytes, the file ends after {len(head)}")
        length, checksum = _HEAD.unpack(head)
        _check(head[:8], checksum, f"{location}: its length")
        if length > MAX_RECORD_BYTES:
            raise ValueError(f"{location}: expected at most {MAX_RECORD_BYTES} bytes, it says it has {length}")
        data, foot = stream.read(length), stream.read(_FOOT.size)
        if len(data) < length or len(foot) < _FOOT.size:
            raise ValueError(
                f"{location}: expected {length} bytes and a checksum, the file ends after {len(data) + len(foot)}"
            )
        _check(data, _FOOT.unpack(foot)[0], f"{location}: its data")
        yield offset, data
        offset += _HEAD.size + length + _FOOT.size


def masked_crc32c(data: bytes) -> int:
    """Return the CRC-32C in the form in which the files store it: rotated by 15 bits, plus a constant."""
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _check(data: bytes, stored: int, subject: str) -> None:
    computed = masked_crc32c(data)
    if computed != stored:
        raise ValueError(
            f"{subject} has the masked CRC-32C {computed:#010x}, expected {stored:#010x}: damaged, or no TFRecord file"
        )


Values = list[bytes] | Literal["float", "int"]  # of a feature: its texts, or the kind of its numbers

_BYTES = 2  # wire type of a message and of a text


def read_example(message: bytes) -> dict[str, Values]:
    """Return the features of an Example by name. Raises ValueError: it is not an Example."""
    features: dict[str, Values] = {}
    for part in _repeated(message):
        for entry in _repeated(part):
            pair = dict(_fields(entry))
            try:
                features[pair.get(1, b"").decode()] = _values(pair.get(2, b""))
            except UnicodeDecodeError as error:
                raise ValueError(f"expected a feature's name in UTF-8, got {pair[1][:40]!r}") from error
    return features


def _values(feature: bytes) -> Values:
    values: Values = []
    for kind, content in _fields(feature):
        if kind == 1:
            values = _repeated(content)
        elif content and kind in (2, 3):
            values = "float" if kind == 2 else "int"
    return values


def _repeated(message: bytes) -> list[bytes]:
    return [content for number, content in _fields(message) if number == 1]


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each field; numbers, which have other wire types, are only in lists of numbers."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        number, wire = tag >> 3, tag & 7
        if wire != _BYTES:
            raise ValueError(f"expected an Example, but field {number} has the wire type {wire}")
        size, start = _varint(message, position)
        position = start + size
        if position > len(message):
            raise ValueError(
                f"expected an Example, but field {number} reaches {position - len(message)} bytes past the end"
            )
        yield number, message[start:position]


def _varint(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        number |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return number, position
        shift += 7
    raise ValueError(f"expected an Example, but the number at byte {position} does not end")


@dataclass(frozen=True)
class _Shard:
    number: int
    of: int
    urls: Path
    content: Path


@dataclass(frozen=True)
class Tensor2TensorSource:
    """Articles of content shards with the URLs that the URL shard of the same number has for them."""

    settings: Tensor2TensorSettings
    gives_documents = False

    def partitions(self) -> list[Partition]:
        """Return a partition for each shard number; its digest covers the bytes of both files. Raises ValueError also
        if a file of a pair is missing."""
        recipe = json.dumps([FORMAT_VERSION, self.settings.split, _LICENCE]).encode()
        results = []
        for shard in self._shards():
            digest = _digest(shard, recipe, file_state(shard.urls), file_state(shard.content))
            results.append(Partition(f"shard {shard.number} of {shard.of}", digest, shard.number, shard.number + 1))
        return results

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a shard in the order of its content, then those that have only URLs (`no_content`).
        Memory holds one article of the content at a time, and the URLs of the whole shard."""
        shard = next((shard for shard in self._shards() if shard.number == partition.start), None)
        if shard is None:
            raise ValueError(f"{partition.name}: its files no longer exist (source.tensor2tensor)")
        urls = _read_urls(shard.urls)
        malformed = Malformed()
        with shard.content.open("rb") as stream:
            for offset, record in read_records(stream, name=str(shard.content)):
                try:
                    url, title, lead = _read_content(record, f"{shard.content}, record at byte {offset}")
                except ValueError as error:
                    malformed.add(str(error))
                if malformed.number:
                    continue
                _, references = urls.pop(url, ("", ()))
                yield Article(title, lead, references, split=_split(shard), licence=_LICENCE)
        malformed.check()
        for url, (title, _) in urls.items():
            title = title or url.rpartition("/")[2].replace("_", " ")
            yield Article(title, split=_split(shard), drop_reason=ArticleReason.NO_CONTENT)

    def _shards(self) -> list[_Shard]:
        urls = _files(self.settings.urls, "wiki_urls.json", "source.tensor2tensor.urls")
        contents = _files(self.settings.content, "wiki_content.tfrecords", "source.tensor2tensor.content")
        if alone := urls.keys() ^ contents.keys():
            number, total = min(alone)
            missing = "content" if (number, total) in urls else "URL"
            raise ValueError(f"shard {number} of {total} has no {missing} file: expected a pair for each number")
        return [_Shard(*key, urls[key], contents[key]) for key in sorted(urls)]


def _files(path: str, prefix: str, setting: str) -> dict[tuple[int, int], Path]:
    if not path:
        raise ValueError(f"{setting} is empty: expected a folder or a pattern")
    pattern = f"{glob.escape(path)}/{prefix}-*-of-*" if Path(path).is_dir() else path
    files: dict[tuple[int, int], Path] = {}
    for file in matching_files([pattern], setting, "shard"):
        match = _NAME.fullmatch(file.name)
        if match is None:
            raise ValueError(f"{file}: expected a name like {prefix}-00042-of-01000 ({setting})")
        files[int(match[2]), int(match[3])] = file
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
    """Return the split that the publishers give a file: of every ten one is dev, one test, and eight are train."""
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
    result, malformed = {}, Malformed()
    for url, entry in entries.items():
        refs = entry.get("refs") if isinstance(entry, dict) else None
        if isinstance(refs, list) and all(isinstance(ref, str) for ref in refs):
            title = entry.get("title")
            result[url] = title if isinstance(title, str) else "", tuple(refs)
        else:
            malformed.add(f"{path}, entry {url!r}: expected an object with `refs`, a list of URLs, got {entry!r:.80}")
    malformed.check()
    return result


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
    values = features.get(name, [])
    if isinstance(values, str):
        raise ValueError(f"{name} contains {values}")
    return [value.decode("utf-8") for value in values]
