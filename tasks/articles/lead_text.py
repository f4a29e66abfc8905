"""Leads as plain prose: without captions and whatever else stands between the sentences of a copied page."""

import re
from itertools import accumulate

from models.sentences import first_sentence
from tasks.sources.dump.prose import mend
from tasks.sources.source import Article
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
    """Tell whether a line is the caption of a picture, although it ends in a full stop. It is if its first sentence has
    no finite verb, and begins with what pictures are ("Map of ..."), says what somebody is seen doing ("Workers closing
    a lock."), when it was taken, where in the picture something is or by what a chart counts. Only English lines are
    found."""
    if len(line.split()) > _LONGEST:
        return False
    first = first_sentence(line)
    return not has_finite_verb(first) and any(pattern.search(first) for pattern in (_BEGINS, _ACTS, _DATED, _LAYOUT))


# A whole line: an edit link of a heading, a row of a table (timelines and infoboxes), or its ruling.
_NOT_PROSE = re.compile(r"\s*+(?:\[edit\]\s*|\|.*|[^|\n]*\|[^|\n]*\|.*)|[-=_*|:\s]{3,}")
# A whole line that ends like a sentence: an item of two words at most, a title with an ellipsis, a list of numbers, and
# a formula, which has no word.
_FRAGMENT = re.compile(
    r"\*\s\S+(?:\s\S+)?|(?:\S+\s){0,3}\S+(?:\.\.\.|…)|(?:\d+,\s){5,}.{0,50}|(?=.*=)(?!.*[a-z]{3}).*", re.IGNORECASE
)
# A whole line that sends the reader to other pages (MediaWiki calls it a hatnote), or asks editors for help.
_HATNOTE = re.compile(
    r"(?:further\ information|main\ (?:article|page)s?|see\ also|part\ of\ a\ series(?:\ on)?)\s*:.*"
    r"|for\ (?:the\ |other\ |more\ |a\ |an\ )?[^.]{1,100},\ see\ [^.]{1,200}\.?"
    r"|(?:not\ to\ be\ confused\ with|[\"“][^\"”]{1,80}[\"”]\ redirects\ here)\b.*"
    r"|[^.]{1,100}\ redirects?\ here\.\ .*"
    r"|this\ (?:article|section|page|list)\b.*\bplease\ (?:help|improve|consider|add|see|remove)\b.*",
    re.IGNORECASE | re.VERBOSE,
)
# A whole line of shares: "Upper locks 54 %, lower locks 30 %, weirs 16 %."
_SHARES = re.compile(r"(?:[^%]{1,50}\d\s?%){3,}[^%\w]{0,3}")
# Inside a line: footnote marks and editors' notes. A letter that belongs to a quoted word is none: "[t]he", "hope[s]".
_MARKS = re.compile(
    r"""\[(?:\d{1,3}|(?:note|nb|fn)\ \d{1,3}|edit
    |(?:[\w’'-]+\ ){1,4}needed|(?:[\w’'-]+\ ){0,3}verification|[\w\ ’'-]{3,30}\ [–-]\ (?:see\ )?discuss
    |(?:(?:excessive|too\ many|additional|unbalanced|circular|unnecessary)\ )(?:citations?|quotes?|references?)
    |not\ in\ (?:the\ )?(?:citation|source)(?:\ given)?|(?:permanent\ )?dead\ link|needs\ update|clarify|vague|dubious
    |disputed|neutrality\ is\ disputed|weasel\ words|peacock\ (?:term|prose)|original\ research|jargon|specify|quantify
    |(?:unreliable|self-published|third-party|promotional|user-generated|obsolete)\ source|contradictory|editorializing
    |(?:improper\ )?synthesis|undue\ weight|citation\ not\ found|incomplete\ short\ citation|broken\ anchor
    |[^\W\d_][\w\ ’'-]{1,30}\?)\]
    |(?<=[^\s\[\](“‘])(?<![\s(]["'])(?<!^["'])\[(?!(?<=[^\W\d_]\[)[sd]\])[a-z]\](?![^\W\d_])""",
    re.IGNORECASE | re.VERBOSE,
)
# Page numbers after a footnote mark: ": 2, 5, 17-20" behind the end of a clause, or between hair spaces as in a wiki.
_PAGES = re.compile(
    r"(?<=[.,;!?]):\ ?\d{1,4}(?:(?:,\ ?|\ ?[–-]\ ?)\d{1,4})*(?=\s|$)|(?<=[.,;!?][”\"’)]):\ ?\d{1,4}"
    r"(?:(?:,\ ?|\ ?[–-]\ ?)\d{1,4})*(?=\s|$)|:\u200a[^\n:]{1,60}?\u200a"
)
_TEX = "{\\displaystyle"
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]])*(?=\s|$)|[。！？।؟۔]""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|c|ca|vs|no|St|Dr|Mr|Mrs|Jr|Sr|km|al|\d?[Ee]ps?|[Vv]ols?|[Pp]t|Ms)|\.[A-Za-z])$"
)


def target_of(article: Article) -> str:
    """Return the target of an article: its lead, cleaned unless it was published as a target."""
    return article.lead.strip() if article.published_target else clean_lead(article.lead)


def clean_lead(text: str) -> str:
    """Return the sentences of a lead, its paragraphs separated by line breaks.

    Removed are edit links, table rows, footnote marks with their pages, editors' notes, pronunciation, the source of
    formulas, lines that send the reader to other pages, captions, lines in
    which no sentence ends (list items, table headings), and a line ending in a colon that introduces such lines. If no
    sentence ends in the whole lead, as in texts that have lost their full stops, its lines are kept."""
    plain = map(_plain, (line for line in text.splitlines() if not _NOT_PROSE.fullmatch(line)))
    lines = [line for line in plain if line and not _HATNOTE.fullmatch(line)]
    if not any(map(_ends_a_sentence, lines)):
        return "\n".join(lines)
    prose = [_ends_a_sentence(line) and not _is_fragment(line) and not is_caption(line) for line in lines]
    kept: list[str] = []
    for line, is_prose, goes_on in zip(lines, prose, [*prose[1:], False], strict=True):
        if is_prose or (line.endswith(":") and goes_on):
            kept.append(line)
    return "\n".join(kept)


def _plain(line: str) -> str:
    """Return a line without marks, its words separated by single spaces."""
    return mend(" ".join(_without_tex(_MARKS.sub("", _PAGES.sub(" ", line))).split()))


def _without_tex(line: str) -> str:
    """Return a line without the TeX that copies of a formula leave behind it: A>1{\\displaystyle A>1}."""
    while (start := line.find(_TEX)) >= 0:
        depths = accumulate((sign == "{") - (sign == "}") for sign in line[start:])
        length = next((length for length, depth in enumerate(depths, 1) if depth == 0), len(line))
        line = line[:start] + line[start + length :]
    return line


def _is_fragment(line: str) -> bool:
    return _FRAGMENT.fullmatch(line) is not None or (_SHARES.fullmatch(line) is not None and not has_finite_verb(line))


def _ends_a_sentence(line: str) -> bool:
    """Tell whether a sentence ends in a line; an abbreviation's full stop counts only at the end of the line."""
    return any(
        match.end() == len(line) or not _ABBREVIATION.search(line[: match.start()])
        for match in _SENTENCE_END.finditer(line)
    )
