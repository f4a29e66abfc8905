"""Leads as plain prose: remove what remains between the sentences when encyclopedia pages are copied as text."""

import re

from tasks.articles.captions import is_caption
from tasks.sources.source import Article

# A whole line: an edit link of a heading, a row of a table (timelines and infoboxes), or its ruling.
_NOT_PROSE = re.compile(r"\s*(?:\[edit\]|\|.*|[^|\n]*\|[^|\n]*\|.*|[-=_*|:\s]{3,})\s*")
# A whole line that ends like a sentence: an item of two words at most, a title with an ellipsis, a list of numbers.
_FRAGMENT = re.compile(r"\*\s\S+(?:\s\S+)?|(?:\S+\s){0,3}\S+(?:\.\.\.|…)|(?:\d+,\s){5,}.{0,50}")
# A whole line that sends the reader to other pages (MediaWiki calls it a hatnote), or asks editors for help.
_HATNOTE = re.compile(
    r"(?:further\ information|main\ (?:article|page)s?|see\ also|part\ of\ a\ series(?:\ on)?)\s*:.*"
    r"|for\ (?:the\ |other\ |more\ |a\ |an\ )?[^.]{1,100},\ see\ [^.]{1,200}\.?"
    r"|(?:not\ to\ be\ confused\ with|[\"“][^\"”]{1,80}[\"”]\ redirects\ here)\b.*"
    r"|[^.]{1,100}\ redirects?\ here\.\ .*"
    r"|this\ (?:article|section|page|list)\b.*\bplease\ (?:help|improve|consider|add|see|remove)\b.*",
    re.IGNORECASE | re.VERBOSE,
)
# Inside a line: footnote marks and editors' notes.
_MARKS = re.compile(
    r"\[(?:\d{1,3}|[a-z]|note \d+|edit|citation needed|clarification needed|when\?|who\?|by whom\?|which\?)\]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]])*(?=\s|$)|[。！？।؟۔]""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|c|ca|vs|no|St|Dr|Mr|Mrs|Jr|Sr|km|al|\d?[Ee]ps?|[Vv]ols?|[Pp]t|Ms)|\.[A-Za-z])$"
)


def target_of(article: Article) -> str:
    """Return the target of an article: its lead, cleaned unless it was published as a target."""
    return article.lead.strip() if article.published_target else clean_lead(article.lead)


def clean_lead(text: str) -> str:
    """Return the sentences of a lead, its paragraphs separated by line breaks.

    Removed are edit links, table rows, footnote marks, lines that send the reader to other pages, captions, lines in
    which no sentence ends (list items, table headings), and a line ending in a colon that introduces such lines. If no
    sentence ends in the whole lead, as in texts that have lost their full stops, its lines are kept.
    """
    plain = (" ".join(_MARKS.sub("", line).split()) for line in text.splitlines() if not _NOT_PROSE.fullmatch(line))
    lines = [line for line in plain if line and not _HATNOTE.fullmatch(line)]
    if not any(map(_ends_a_sentence, lines)):
        return "\n".join(lines)
    prose = [_ends_a_sentence(line) and not _FRAGMENT.fullmatch(line) and not is_caption(line) for line in lines]
    kept: list[str] = []
    for line, is_prose, goes_on in zip(lines, prose, [*prose[1:], False], strict=True):
        if is_prose or (line.endswith(":") and goes_on):
            kept.append(line)
    return "\n".join(kept)


def _ends_a_sentence(line: str) -> bool:
    """Tell whether a sentence ends in a line; an abbreviation's full stop counts only at the end of the line."""
    return any(
        match.end() == len(line) or not _ABBREVIATION.search(line[: match.start()])
        for match in _SENTENCE_END.finditer(line)
    )
