"""Leads as plain prose: remove what remains between the sentences when encyclopedia pages are copied as text."""

import re

from tasks.sources.source import Article

# A whole line: an edit link of a heading, a row of a table (timelines and infoboxes), or its ruling.
_NOT_PROSE = re.compile(r"\s*(?:\[edit\]|\|.*|[^|\n]*\|[^|\n]*\|.*|[-=_*|:\s]{3,})\s*")
# A whole line that sends the reader to other pages (MediaWiki calls it a hatnote).
_HATNOTE = re.compile(
    r"(?:further\ information|main\ (?:article|page)s?|see\ also|part\ of\ a\ series(?:\ on)?)\s*:.*"
    r"|for\ (?:the\ |other\ |more\ |a\ |an\ )?[^.]{1,100},\ see\ [^.]{1,200}\.?"
    r"|(?:not\ to\ be\ confused\ with|[\"“][^\"”]{1,80}[\"”]\ redirects\ here)\b.*",
    re.IGNORECASE | re.VERBOSE,
)
# Inside a line: footnote marks and editors' notes.
_MARKS = re.compile(
    r"\[(?:\d{1,3}|[a-z]|note \d+|edit|citation needed|clarification needed|when\?|who\?|by whom\?|which\?)\]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]])*(?=\s|$)|[。！？।؟۔]""")
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|c|ca|vs|no|St|Dr|Mr|Mrs|Jr|Sr|km|al)|\.[A-Za-z])$")


def target_of(article: Article) -> str:
    """Return the target of an article: its lead, cleaned unless it was published as a target."""
    return article.lead.strip() if article.published_target else clean_lead(article.lead)


def clean_lead(text: str) -> str:
    """Return the sentences of a lead, its paragraphs separated by line breaks.

    Removed are edit links, table rows, footnote marks, lines that send the reader to other pages, lines in which no
    sentence ends (captions, list items, table headings), and a line ending in a colon that introduces such lines. If no
    sentence ends in the whole lead, as in texts that have lost their full stops, its lines are kept.
    """
    plain = (" ".join(_MARKS.sub("", line).split()) for line in text.splitlines() if not _NOT_PROSE.fullmatch(line))
    lines = [line for line in plain if line and not _HATNOTE.fullmatch(line)]
    if not any(map(_ends_a_sentence, lines)):
        return "\n".join(lines)
    kept: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if _ends_a_sentence(line) or (line.endswith(":") and _ends_a_sentence(following)):
            kept.append(line)
    return "\n".join(kept)


def _ends_a_sentence(line: str) -> bool:
    """Tell whether a sentence ends in a line; an abbreviation's full stop counts only at the end of the line."""
    return any(
        match.end() == len(line) or not _ABBREVIATION.search(line[: match.start()])
        for match in _SENTENCE_END.finditer(line)
    )
