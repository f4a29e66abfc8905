"""Files of settings in YAML 1.2: `yes` and `no` are words, `010` is ten, a date is text, and a name may occur only
once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

Place = tuple[str | int, ...]

_MOST_VALUES = 10_000  # of a file, those that aliases repeat included; all settings are fewer than 300


class _Constructor(SafeConstructor):
    """Leaves dates as they are written."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


@dataclass(frozen=True)
class SettingsFile:
    """What a file says."""

    name: str  # of the file, for messages
    values: dict[str, Any]  # the settings, nested as in the file
    lines: dict[Place, int]  # path of a value in `values` -> its line, counted from 1

    def line(self, place: Sequence[str | int]) -> str | None:
        """Return the line of a value, or of the innermost section around it in the file, for messages."""
        for end in range(len(place), 0, -1):
            if tuple(place[:end]) in self.lines:
                return f"{self.name}, line {self.lines[tuple(place[:end])]}"
        return None


def read_settings(file: str | Path) -> SettingsFile:
    """Read a file of settings; an empty one has none. Raises ValueError: it is not YAML of unique names and values."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    except FileNotFoundError as error:
        raise ValueError(f"{file}: no such file") from error
    except IsADirectoryError as error:
        raise ValueError(f"{file} is a folder: expected a file of settings") from error
    except OSError as error:
        raise ValueError(f"{file}: expected a file that can be read, but {error.strerror}") from error
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _Constructor
    try:
        root = reader.compose(text)
        if _size(root, {}) > _MOST_VALUES:
            raise ValueError(
                f"{file}: expected at most {_MOST_VALUES:,} values, got more with those that its aliases (*name) repeat"
            )
        settings = {} if root is None else reader.constructor.construct_document(root)
        lines = dict(_lines(root, ()))
    except YAMLError as error:
        raise ValueError(f"{file}: expected YAML, but {_one_line(error)}") from error
    except RecursionError as error:
        raise ValueError(f"{file}: expected YAML of some levels, but it is nested too deeply to be read") from error
    if settings is None:  # comments alone, or null
        settings = {}
    if not isinstance(settings, dict):
        raise ValueError(
            f"{file}: expected names of settings and their values, got a {type(settings).__name__}: "
            f"{repr(settings)[:80]}"
        )
    return SettingsFile(str(file), settings, lines)


def _size(node: Node | None, known: dict[int, int]) -> int:
    """Return how many values a node has with those of its aliases; `known` has the sizes of nodes, by identity. A node
    in itself has more than any file."""
    if node is None or id(node) in known:
        return 1 if node is None else known[id(node)]
    known[id(node)] = _MOST_VALUES + 1  # until it is counted
    inner = node.value if isinstance(node, SequenceNode) else ()
    if isinstance(node, MappingNode):
        inner = [value for pair in node.value for value in pair]
    known[id(node)] = 1 + sum(_size(value, known) for value in inner)
    return known[id(node)]


def _lines(node: Node | None, place: Place) -> Iterator[tuple[Place, int]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            yield inner, key.start_mark.line + 1
            yield from _lines(value, inner)
    elif isinstance(node, SequenceNode):
        for number, value in enumerate(node.value):
            yield (*place, number), value.start_mark.line + 1
            yield from _lines(value, (*place, number))


def _one_line(error: YAMLError) -> str:
    """Return what is wrong and where, without the library's advice to programmers."""
    problem, mark, context = (getattr(error, name, None) for name in ("problem", "problem_mark", "context"))
    if problem is None or mark is None:
        return " ".join(str(error).split())
    return f"{f'{context} ' if context else ''}{problem} (line {mark.line + 1})"
