"""JSON that knows its own digest: a record in which one byte was flipped is no record."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SEAL = "sha256"


def seal(fields: Mapping[str, Any]) -> bytes:
    """Return fields as JSON with the SHA-256 of all of them beside them."""
    plain = json.loads(json.dumps(fields))  # what a reader will see: keys of other types become strings
    return json.dumps(plain | {_SEAL: _digest(plain)}, indent=1, sort_keys=True, ensure_ascii=False).encode()


def unseal(data: bytes) -> dict[str, Any]:
    """Return the fields; those of a record without a digest, as earlier versions wrote it, are taken as they are.

    Raises:
        ValueError: it is no JSON object, or not what was sealed.
    """
    fields = json.loads(data)
    if not isinstance(fields, dict):
        raise ValueError(f"expected a JSON object, found {type(fields).__name__}")
    expected = fields.pop(_SEAL, None)
    if expected is not None and expected != _digest(fields):
        raise ValueError(f"its fields do not match its {_SEAL}")
    return fields


def _digest(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
