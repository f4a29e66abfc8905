"""User and password in URLs: refused wherever a person writes a URL, and hidden wherever a text may show one."""

import re
from typing import Any

_USER_INFO = re.compile(r"//([^\s/?#\"'<>]+)@")
_HIDDEN = "//***@"


def holds_secret(text: str) -> bool:
    """Whether a text has a URL with a password, or of HTTP with anything before an @, which is a token there."""
    return any(
        ":" in item[1] or _is_http(text[max(0, item.start() - 6) : item.start()]) for item in _USER_INFO.finditer(text)
    )


def redacted(text: str) -> str:
    """Return a text with what is before the @ of its URLs hidden."""
    return _USER_INFO.sub(_HIDDEN, text)


def redacted_values(value: Any) -> Any:
    """Return settings as JSON has them with every text redacted: those of an older build may hold a secret."""
    match value:
        case str():
            return redacted(value)
        case list():
            return [redacted_values(item) for item in value]
        case dict():
            return {name: redacted_values(one) for name, one in value.items()}
    return value


def _is_http(before: str) -> bool:
    """Whether what is before the two slashes of a URL is the scheme of HTTP, or none, which stands for https."""
    return not before.endswith(":") or before.lower().endswith(("http:", "https:"))
