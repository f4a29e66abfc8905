"""JSON with its own digest: a record in which one byte was flipped is rejected."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SEAL = "sha256"


def seal(fields: Mapping[str, Any]) -> bytes:
    """Return fields as JSON, together with the SHA-256 of all of them."""
    plain = json.loads(json.dumps(fields))  # as a reader will see them: keys of other types become strings
    return json.dumps(plain | {_SEAL: _digest(plain)}, indent=1, sort_keys=True, ensure_ascii=False).encode()


def unseal(data: bytes) -> dict[str, Any]:
    """Return the fields; a record without a digest, as earlier versions wrote it, is not checked.

    Raises:
        ValueError: it is not a JSON object, or its digest does not match.
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
