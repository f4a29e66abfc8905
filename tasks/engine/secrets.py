"""Secrets from the environment: settings name the variable, so that no record, parameter or log holds the secret."""

import os
import re

from tasks.engine.settings import HEADER_TEXT


def secret_in(variable: str | None, setting: str, what: str) -> str | None:
    """Return the secret that the environment holds; None where the settings name no variable.

    Args:
        variable: name of the environment variable.
        setting: the setting that names it, for messages.
        what: what it should hold, for messages.

    Raises:
        ValueError: the variable is not set, or holds something else than one line of ASCII.
    """
    if variable is None:
        return None
    secret = os.environ.get(variable, "")
    if not secret or not re.fullmatch(HEADER_TEXT, secret):
        found = "something else" if secret else "none"
        raise ValueError(
            f"{setting} is {variable!r}: expected an environment variable that holds {what}, one line of ASCII; it "
            f"holds {found}"
        )
    return secret
