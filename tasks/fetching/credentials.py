"""Users and passwords of services, which settings must not hold: an environment variable has them, by host."""

import os
from base64 import b64encode

VARIABLE = "WIKISUM_CREDENTIALS"


def authorization(host: str) -> str | None:
    """Return the header of HTTP that authorises requests to a host[:port], None if the variable does not name it.
    Raises ValueError, without what the variable holds: it is not `HOST=USER:PASSWORD`, several divided by spaces."""
    for entry in os.environ.get(VARIABLE, "").split():
        name, equals, credentials = entry.partition("=")
        if not (name and equals and ":" in credentials):
            raise ValueError(f"{VARIABLE}: expected HOST=USER:PASSWORD, several divided by spaces")
        if name.lower() == host:
            return f"Basic {b64encode(credentials.encode()).decode()}"
    return None
