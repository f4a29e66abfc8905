"""Find the paragraphs below a heading that announces no prose: references, comments, other stories."""

import re
from collections.abc import Sequence

_HEADING_WORDS = 9  # no heading that announces such a section is longer
_REFERENCES = re.compile(
    r"(?:references?|bibliography|works cited|(?:selected )?literature(?: cited)?|(?:end|foot)?notes?|sources"
    r"|citations?|(?:further|suggested) reading|external links|see also|notes and references"
    r"|references and (?:notes|links)|cited by|acknowledge?ments?|publications|article (?:google scholar|cas).*)",
    re.IGNORECASE,
)
_COMMENTS = re.compile(
    r"(?:(?<![\d,])\d[\d,]* )?(?:comments?|repl(?:y|ies)|responses?|thoughts on .*"
    r"|(?:user|reader|recommended) comments)(?: \d+)?"
    r"|leave a (?:reply|comment).*|join the (?:discussion|conversation).*|(?:add|post) (?:a|your) comment.*"
    r"|log in to (?:reply|comment).*|sign in to comment.*|view \d* ?comments?.*",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"related(?: \w+){0,2}|more (?:from|on|in|stories|news|articles|like this|coverage|top)\b.*"
    r"|most (?:read|popular|viewed|recent|shared)\b.*|recommended\b.*|read (?:more|next)\b.*"
    r"|you (?:may|might) (?:also )?(?:like|be interested).*|(?:the )?latest(?: \w+){0,2}|trending\b.*"
    r"|popular(?: \w+){0,3}|also (?:on|read|see)\b.*|featured(?: \w+){0,2}|best of.*|explore\b.*"
    r"|(?:top|other|similar|recent|previous|next) (?:stories|news|articles?|posts?|headlines|videos?).*"
    r"|editor'?s'? picks?|don['’]t miss.*|up next|what to read.*|sponsored.*|advertisements?|promoted.*"
    r"|about the authors?|about us|follow (?:us|\w+ on)\b.*|share this.*|newsletters?.*|topics|tags|categories"
    r"|in other news",
    re.IGNORECASE,
)
KINDS = {"references": _REFERENCES, "comments": _COMMENTS, "others": _OTHERS}
_REACH = 12  # paragraphs that a list of other stories is long
_EDGES = re.compile(r"^\W+|(?<!\W)\W+$")


def sections(texts: Sequence[str], refused: Sequence[bool]) -> list[str | None]:
    """Return for each paragraph of a page the kind of section it stands in: references, comments, others or None.

    References and comments go on to the next heading of another kind, because their ends are seldom marked; a list of
    other stories has an end, after which the article may go on.
    """
    kind, since = None, 0
    result: list[str | None] = []
    for i, (text, is_refused) in enumerate(zip(texts, refused, strict=True)):
        if is_refused and len(text) < 80 and text.count(" ") < _HEADING_WORDS:
            name = _EDGES.sub("", text)
            found = next((kind for kind, heading in KINDS.items() if heading.fullmatch(name)), None)
            if found:
                kind, since = found, i
        if kind == "others" and i - since > _REACH:
            kind = None
        result.append(kind)
    return result
