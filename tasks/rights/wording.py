"""What a sentence with a licence in it says: that the page's own text is under it, or something else. The words of ten
languages are in `wording.toml`. A sentence counts if it points at the page ("this article", "our texts"), or has
no subject at all ("Distributed under ..."); a noun alone, such as "the book", may be any book."""

import re

from tasks.engine.data_files import read_data

_WORDS: dict[str, dict[str, list[str]]] = read_data("tasks.rights", "wording.toml")


def _any(kind: str) -> str:
    return "|".join(word for words in _WORDS[kind].values() for word in words)


def _pointed_at() -> str:
    pages = _WORDS["page"]
    return "|".join(
        rf"\b(?:{'|'.join(words)})\s*(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(pages[language])})"
        for language, words in _WORDS["pointing"].items()
    )


_OWN = re.compile(rf"(?:{_pointed_at()}|^\W*(?:{_any('opening')}))\b", re.IGNORECASE)
_GRANT = re.compile(rf"\b(?:{_any('grant')})\b", re.IGNORECASE)
_OTHER = re.compile(rf"\b(?:{_any('other')})\b", re.IGNORECASE)
_PROVISO = re.compile(rf"(?:\b|(?=,))(?:{_any('proviso')})", re.IGNORECASE)
_UNLIKE = re.compile(rf"\b(?:{_any('unlike')})\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:^|[.|•:]\s*)(?:(?:text|contents?)\s+)?(?:licen[cs]e|text|lizenz|licencia|licenza)\W{0,4}$", re.I
)
_NO_SUBJECT = re.compile(
    r"^\W*+(?:open access\W*+)?(?:this is an open[- ]access\b.*|(?:is |are )?(?:re)?(?:licen[cs]ed|available|published"
    r"|distributed|released|shared|provided)?\s*(?:under|with|by)\b.{0,60}|licen[cs]ed\W*)$",
    re.IGNORECASE,
)
_NOTICE = re.compile(r"(?:©|\(c\)|copyright\b)[^.;]*$", re.IGNORECASE)
_LICENCE = re.compile(r"\W{0,4}(?:creative\s+commons\s+)?licen[cs]e\b", re.IGNORECASE)
_CAPTION = re.compile(r"\W*(?:fig(?:ure)?|image|photo|picture|map|table|abb(?:ildung)?)\b[\s.]*\d*[.:]", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?]\s+(?=[^\W\d_a-zß-ÿ]|[“\"(]|$)|;\s+|\s\|\s")
_STRAIGHT = '"'


def speaks_of_page(before: str, after: str = "", *, in_foot: bool = False) -> bool:
    """Tell whether words around a licence's name say that it is the page's; `in_foot`: a notice needs no verb."""
    if _LABEL.search(before):
        return True
    sentence = _PROVISO.sub(" ", _last_sentence(before)).strip()
    if _CAPTION.match(before) or _UNLIKE.search(sentence) or _is_quoted(sentence):
        return False
    other = _OTHER.search(sentence)
    own = _OWN.search(sentence)
    if own is not None:
        return _GRANT.search(sentence) is not None and (other is None or own.start() < other.start())
    earlier = before[: len(before) - len(_last_sentence(before))]
    if other is not None or speaks_of_other(_first_sentence(after)):
        return False
    if _NO_SUBJECT.match(sentence) and (in_foot or not earlier.strip() or _NOTICE.search(earlier.rstrip(" .;|"))):
        return True
    if in_foot:
        return not sentence or _GRANT.search(sentence) is not None or _NOTICE.match(sentence) is not None
    return not sentence and _LICENCE.match(after) is not None


def speaks_of_other(text: str) -> bool:
    """Tell whether words speak of pictures and the like, and not of the page before them."""
    other = _OTHER.search(text)
    own = _OWN.search(text)
    return other is not None and (own is None or other.start() < own.start())


def sentence_around(before: str, after: str) -> str:
    """Return the sentence in which something stands, from the text before it and after it."""
    return _PROVISO.sub(" ", _last_sentence(before) + _first_sentence(after))


def _last_sentence(text: str) -> str:
    return _SENTENCE.split(text)[-1]


def _first_sentence(text: str) -> str:
    return _SENTENCE.split(text, maxsplit=1)[0]


def _is_quoted(sentence: str) -> bool:
    return sentence.count("“") > sentence.count("”") or sentence.count(_STRAIGHT) % 2 == 1
