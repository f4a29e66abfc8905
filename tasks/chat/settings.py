"""Settings of a language model behind a URL; judge and writer add their own."""

from pydantic import Field

from tasks.engine.settings import Settings, secret_in, tuning
from tasks.fetching.settings import ServiceUrl


class ChatSettings(Settings):
    """A language model that is asked; the texts of articles are sent to it."""

    url: ServiceUrl
    """base address of an interface like OpenAI's, such as http://localhost:8000/v1; no key belongs in it"""
    model: str = Field(min_length=1)
    """name of the model there"""
    key_variable: str | None = tuning(None)
    """environment variable that holds the key; null = none is sent"""


def read_key(settings: ChatSettings, section: str) -> str | None:
    """Return the key that the environment holds; None if the settings, of that section, name no variable. Raises
    ValueError: the variable is not set, or holds something else than a key."""
    return secret_in(settings.key_variable, f"{section}.key_variable", f"the key of {settings.url}")
