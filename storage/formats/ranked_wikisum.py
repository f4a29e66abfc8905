"""Ranked WikiSum (Liu & Lapata 2019) and GraphSum shards: from an item of a shard to its parts, and back.

A shard is a list of items. An item is a dict:

    src      lists of token ids, best paragraph first; the first is the title, `<T>`, the paragraph
    tgt      token ids of the lead: `<S>` sentence `<Q>` sentence ... `</S>`
    tgt_str  the lead as text, each sentence as `<t> sentence </t>`
    sim_graph, discourse_graph   (GraphSum) weights between the paragraphs, one row and one column for each

A shard's file is `{name}.{split}.{number}.pt` (what torch.save writes) or `.json` (GraphSum). Fields that are not
named here are ignored. Files are opened elsewhere: this module takes and returns plain Python values.

An item cannot hold the article's id, the title as text, a graph's edges of weight 0, and `<t>` and `</t>` as part of
the text. An article without any paragraph reads back as one empty paragraph."""

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

Split = Literal["train", "valid", "test"]
Layout = Literal["pt", "json"]
Edge = tuple[int, int, float]
SPLITS: tuple[Split, ...] = get_args(Split)

_FILE = re.compile(r"(?P<name>.+)\.(?P<split>train|valid|test)\.(?P<number>\d{1,9})\.(?P<layout>pt|json)")
_BETWEEN = re.compile(r" ?</t>\s*<t> ?")
_FIRST, _LAST = re.compile(r"\A\s*<t> ?"), re.compile(r" ?</t>\s*\Z")
_STRAY = re.compile(r"(?:(?<!\s)\s+)?</?t>\s*")
_TOLERANCE = 1e-4  # weights may have been written with few decimals


@dataclass(frozen=True, order=True)
class ShardFile:
    """What a shard's file name says."""

    name: str  # of the dataset, WIKI in the release
    split: Split  # train | valid | test
    number: int  # of the shard within its split
    layout: Layout  # pt | json

    @property
    def path(self) -> str:
        """The file's name."""
        return f"{self.name}.{self.split}.{self.number}.{self.layout}"


@dataclass(frozen=True)
class MarkIds:
    """Ids of a vocabulary that have a special meaning in an item."""

    size: int  # number of pieces; ids run from 0 to size - 1
    pad: int  # `<PAD>`, which never occurs in an item
    begin: int  # `<S>` of a lead
    end: int  # `</S>` of a lead
    title: int  # `<T>`, which ends a title
    sentence: int  # `<Q>`, between the sentences of a lead


@dataclass(frozen=True)
class RankedItem:
    """The parts of an item."""

    title: list[int]  # token ids, `<T>` not among them
    source: list[list[int]]  # token ids of each paragraph
    target: list[int]  # token ids of the lead, begin and, unless it was cut, end included
    sentences: list[str]  # the lead as text; several where each is a sentence
    similarity: list[Edge] | None = None  # edges (i, j, weight) with i < j, sorted; None without such a graph
    discourse: list[Edge] | None = None  # likewise

    @property
    def text(self) -> str:
        """The lead as text."""
        return " ".join(self.sentences)


class FieldError(ValueError):
    """A field of an item is not what the layout says; the message names file, item and field."""


def parse_shard_file(path: str) -> ShardFile | None:
    """Return what a file's name says, or None for the name of something else."""
    match = _FILE.fullmatch(path)
    if match is None:
        return None
    layout: Layout = "pt" if match["layout"] == "pt" else "json"
    split = next(split for split in SPLITS if split == match["split"])
    return ShardFile(match["name"], split, int(match["number"]), layout)


def read_item(item: object, marks: MarkIds, *, location: str, graphs: bool = False) -> RankedItem:
    """Check an item of a shard and take it apart. `location` is file and number of the item, for messages; with
    `graphs` it needs a `sim_graph`, while `discourse_graph` is optional. Raises FieldError: a field is missing, or its
    value is not what the layout says."""
    if not isinstance(item, dict):
        raise FieldError(f"{location}: expected a dict with src, tgt and tgt_str, got {_kind(item)}")
    for name in ("src", "tgt", "tgt_str", *(["sim_graph"] if graphs else [])):
        if name not in item:
            raise FieldError(f"{location}: expected a field {name}, found only {sorted(map(str, item))[:10]}")
    title, source = _source(item["src"], marks, location)
    target, sentences = _target(item["tgt"], marks, location), _sentences(item["tgt_str"], location)
    similarity = discourse = None
    if graphs:
        similarity = _edges(item["sim_graph"], len(source), f"{location}, sim_graph", most=1.0)
        if "discourse_graph" in item:
            discourse = _edges(item["discourse_graph"], len(source), f"{location}, discourse_graph")
    return RankedItem(title, source, target, sentences, similarity, discourse)


def write_item(item: RankedItem, marks: MarkIds, *, location: str) -> dict[str, Any]:
    """Put an item together, so that `read_item` returns the same parts. Graphs that are not None are written as dense
    matrices; `location` is what messages call the item. Raises FieldError: a part could not be read back from the
    layout, such as a title that holds `<T>`."""
    if marks.title in item.title:
        raise FieldError(f"{location}: the title's ids have {marks.title}, <T>, which ends a title in this layout")
    first, *others = item.source or [[]]
    written: dict[str, Any] = {
        "src": [[*item.title, marks.title, *first], *others],
        "tgt": item.target,
        "tgt_str": " ".join(f"<t> {sentence} </t>" for sentence in item.sentences),
    }
    nodes = len(written["src"])
    for name, edges, diagonal in (("sim_graph", item.similarity, 1.0), ("discourse_graph", item.discourse, 0.0)):
        if edges is not None:
            weights = written[name] = [[diagonal if i == j else 0.0 for j in range(nodes)] for i in range(nodes)]
            for i, j, weight in edges:
                weights[i][j] = weights[j][i] = weight
    read_item(written, marks, location=location, graphs="sim_graph" in written)
    return written


def _source(value: object, marks: MarkIds, location: str) -> tuple[list[int], list[list[int]]]:
    """Return the title's ids and those of each paragraph."""
    if not isinstance(value, list | tuple) or not value:
        raise FieldError(f"{location}, src: expected a list of at least one list of token ids, got {_kind(value)}")
    first, *others = (_ids(ids, marks, f"{location}, src[{number}]") for number, ids in enumerate(value))
    if marks.title not in first:
        raise FieldError(
            f"{location}, src[0]: expected the title and {marks.title}, <T>, before the text; there is no <T>"
        )
    end = first.index(marks.title)
    return first[:end], [first[end + 1 :], *others]


def _target(value: object, marks: MarkIds, location: str) -> list[int]:
    location = f"{location}, tgt"
    ids = _ids(value, marks, location)
    if len(ids) < 2 or ids[0] != marks.begin:
        raise FieldError(f"{location}: expected {marks.begin}, <S>, and more ids after it, got {ids[:3]}")
    for name, mark, allowed in (("<S>", marks.begin, 0), ("</S>", marks.end, len(ids) - 1)):
        misplaced = next((at for at, id_ in enumerate(ids) if id_ == mark and at != allowed), None)
        if misplaced is not None:
            raise FieldError(f"{location}[{misplaced}]: expected {mark}, {name}, nowhere but at {allowed}")
    return ids


def _sentences(value: object, location: str) -> list[str]:
    """Return the lead's sentences; a lead without marks is one."""
    if not isinstance(value, str):
        raise FieldError(f"{location}, tgt_str: expected a string, got {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FieldError(f"{location}, tgt_str: expected Unicode text, found a lone surrogate: {error}") from error
    inner, opened = _FIRST.subn("", value, count=1)
    inner, closed = _LAST.subn("", inner, count=1)
    sentences = _BETWEEN.split(inner) if opened and closed else [inner]
    return [_STRAY.sub(" ", sentence).strip() if _STRAY.search(sentence) else sentence for sentence in sentences]


def _ids(value: object, marks: MarkIds, location: str) -> list[int]:
    if not isinstance(value, list | tuple):
        raise FieldError(f"{location}: expected a list of token ids, got {_kind(value)}")
    if not set(map(type, value)) <= {int}:
        wrong = next(number for number, id_ in enumerate(value) if type(id_) is not int)
        raise FieldError(f"{location}[{wrong}]: expected a token id, got {_kind(value[wrong])}")
    if value and (min(value) < 0 or max(value) >= marks.size):
        wrong = next(number for number, id_ in enumerate(value) if not 0 <= id_ < marks.size)
        raise FieldError(
            f"{location}[{wrong}]: expected an id of the vocabulary, 0 to {marks.size - 1}, got {value[wrong]}"
        )
    if marks.pad in value:
        raise FieldError(f"{location}[{value.index(marks.pad)}]: expected no padding, got {marks.pad}, <PAD>")
    return list(value)


def _edges(value: object, nodes: int, location: str, most: float = np.inf) -> list[Edge]:
    """Return the edges i < j of a symmetric matrix, whose diagonal has no meaning and is ignored."""
    if not isinstance(value, list | tuple):
        raise FieldError(f"{location}: expected a {nodes} x {nodes} matrix, got {_kind(value)}")
    try:
        matrix = np.array(value, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise FieldError(f"{location}: expected {nodes} lists of {nodes} numbers ({error})") from error
    if matrix.shape != (nodes, nodes):
        raise FieldError(
            f"{location}: expected {nodes} x {nodes} weights, one for each pair of src, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise FieldError(f"{location}[{i}, {j}]: expected a finite weight, got {matrix[i, j]}")
    np.fill_diagonal(matrix, 0.0)
    unequal = np.abs(matrix - matrix.T) > _TOLERANCE * np.maximum(1.0, matrix)
    for i, j in np.argwhere(unequal | (matrix < 0) | (matrix > most + _TOLERANCE)).tolist():
        weight, other = matrix[i, j].item(), matrix[j, i].item()
        if unequal[i, j]:
            raise FieldError(
                f"{location}: expected equal weights both ways, got {weight} at [{i}, {j}], {other} at [{j}, {i}]"
            )
        raise FieldError(f"{location}[{i}, {j}]: expected a weight from 0 to {most:g}, got {weight}")
    edges = np.argwhere(np.triu(matrix) > 0).tolist()
    return [(i, j, float(np.float32(min(matrix[i, j], most)))) for i, j in edges]


def _kind(value: object) -> str:
    """Return what a value is, and its beginning."""
    return f"{type(value).__name__} {repr(value)[:40]}"
