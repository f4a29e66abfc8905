"""The languages that py3langid tells by their letters; apart from it, because loading its model takes a while."""

from typing import Annotated

from pydantic import AfterValidator

from tasks.engine.data_files import read_data

LANGUAGES = frozenset(read_data("tasks.text", "words.toml")["languages"])


def check_language(code: str) -> str:
    """Return the code of a language that can be told.

    Raises:
        ValueError: it cannot.
    """
    if code not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise ValueError(f"{code!r} is no language that can be told by its letters: expected one of {known}")
    return code


LanguageCode = Annotated[str, AfterValidator(check_language)]
"""The type of a setting that is such a code."""
