"""JSON with its own digest: a record in which one byte was flipped is rejected."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, TypeVar

_SEAL = "sha256"
Kind = TypeVar("Kind")


def seal(fields: Mapping[str, Any]) -> bytes:
    """Return fields as JSON, together with the SHA-256 of all of them."""
    plain = json.loads(json.dumps(fields))  # as a reader will see them: keys of other types become strings
    return json.dumps(plain | {_SEAL: _digest(plain)}, indent=1, sort_keys=True, ensure_ascii=False).encode()


def unseal(data: bytes) -> dict[str, Any]:
    """Return the fields. Raises ValueError: it is not a JSON object, or has no seal or not that of its fields."""
    fields = json.loads(data)
    if not isinstance(fields, dict):
        raise ValueError(f"expected a JSON object, found {type(fields).__name__}")
    expected = fields.pop(_SEAL, None)
    if expected is None:
        raise ValueError(f"it has no seal (the field {_SEAL})")
    if expected != _digest(fields):
        raise ValueError(f"its fields do not match its {_SEAL}")
    return fields


def of_kind(kind: type[Kind], fields: Mapping[str, Any]) -> Kind:
    """Return a dataclass made of those of the fields that it has. An unknown field was written by a newer version; the
    others are still read. Raises ValueError: a field is missing that has no default."""
    members = dataclasses.fields(kind)  # type: ignore[arg-type]
    needed = (member.name for member in members if member.default is MISSING and member.default_factory is MISSING)
    missing = [name for name in needed if name not in fields]
    if missing:
        raise ValueError(f"it has no field {missing[0]!r}: expected the fields of a {kind.__name__}")
    return kind(**{member.name: fields[member.name] for member in members if member.name in fields})


def _digest(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
