"""The language of a text, by the character statistics of py3langid: offline, 97 languages, one model in memory."""

from functools import lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

_CHARACTERS = 40  # from which the language can be told
_PROBABILITY = 0.9  # from which it is sure


def sure_language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language; None if it is too short to tell, or if two are likely."""
    if len(text) < _CHARACTERS:
        return None
    language, probability = _identifier().classify(text)
    return str(language) if probability >= _PROBABILITY else None


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """Return the language identifier, loaded once in a process (it takes about a second)."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
