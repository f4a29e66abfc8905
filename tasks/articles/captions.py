"""Captions that end like sentences: what a picture shows, copied with the text that it stood beside."""

import re

from models.sentences import first_sentence
from tasks.text.english import has_finite_verb

_LONGEST = 45  # words; no caption that was read is longer
_SHOWN = (
    r"(?:maps?|graphs?|charts?|diagrams?|photo(?:graph)?s?|pictures?|images?|portraits?|paintings?|drawings?|engravings?"
    r"|illustrations?|representations?|depictions?|reconstructions?|locations?|logos?|posters?|screenshots?"
    r"|statues?|busts?|ruins|skeletons?|flags?|monuments?|memorials?|front page)"
)
_BEGINS = re.compile(  # at most six words, then what a picture is, then of what
    rf"^(?:[\w'’-]+,? ){{0,6}}?(?:{_SHOWN} (?:of|for|from|in|at|by|with|showing|depicting)"
    r"|(?:features|views?|variety|cover|types|families) of)\b",
    re.IGNORECASE,
)
_JOINING = "of by for in on at the a an and or from with to after before while when".split()  # noqa: SIM905
_NOT_BEFORE = "".join(rf"(?<!\b{word} )" for word in _JOINING)
_ACTS = re.compile(  # names or a noun, then directly what they are seen doing
    rf"^(?!(?:it|he|she|they|we|this|these|there)\b)(?:[\w'’.-]+ ){{1,9}}?{_NOT_BEFORE}"
    r"(?!(?:during|including|regarding|concerning|according|following|king|being) )[a-z]{2,}ing "
    r"(?:over|at|on|in|to|with|from|the|a|an|his|her|their|its|through|during|out|up|off|for|towards?)\b",
    re.IGNORECASE,
)
_DATED = re.compile(  # at most nine words, then when it was taken: "The lock in June 1894."
    rf"^(?!(?:it|he|she|they)\b)(?:[\w'’-]+,? ){{1,9}}?{_NOT_BEFORE}(?:in|c\.|circa|around|about) (?:the )?"
    r"(?:[A-Z]\w+ )?\d{4}s?\.$"
)
_LAYOUT = re.compile(
    r"[(;:]\s*(?:from )?(?:top|bottom|left|right|clockwise|centre|center|above|below)\b"
    r"|^(?:from )?(?:top|bottom|left|right|clockwise|pictured)\b.{0,20}[:,]"
    r"|^(?:the )?number of [^.]{1,60}, by (?:year|month|country|region|age|type)\b",
    re.IGNORECASE,
)


def is_caption(line: str) -> bool:
    """Tell whether a line is the caption of a picture, although it ends in a full stop.

    It is if its first sentence has no finite verb, and begins with what pictures are ("Map of ..."), says what somebody
    is seen doing ("Workers closing a lock."), when it was taken, where in the picture something is or by what a chart
    counts. Only English
    lines are found.
    """
    if len(line.split()) > _LONGEST:
        return False
    first = first_sentence(line)
    return not has_finite_verb(first) and any(pattern.search(first) for pattern in (_BEGINS, _ACTS, _DATED, _LAYOUT))
