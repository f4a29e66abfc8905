"""The languages that py3langid tells by their letters; apart from it, because loading its model takes a while."""

from typing import Annotated

from pydantic import AfterValidator

_CODES = """
    ace af am an ar ary arz as az ba bcl be bg bn br bs ca crh cs cy da de dz el en eo es et eu ext fa fi fo fr fuv fy
    ga gcf gcr gd gl gom grc gu gug guw ha hbo he hi hr ht hu hy id ig is it ja jv ka kab kik kk km kn ko ku ky la lb
    lg lij ln lo lt ltg lv mg mk ml mn mr ms mt my ne nl nn no nso oc om or pa pcm pl ps pt qu ro ru rw sa sdh se si sk
    sl sn so sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz uzs vec vi vo wa wuu xh yo yue zh zu zxx
"""
LANGUAGES = frozenset(_CODES.split())


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
