"""Keys of artifacts in the Prefect UI: they are global in a server, so each begins with the name of its corpus."""

import re


def artifact_key(corpus: str, name: str) -> str:
    """Return the key under which a server keeps the history of an artifact: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{corpus}-{name}".lower()).strip("-")
