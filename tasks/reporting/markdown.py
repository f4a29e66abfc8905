"""Blocks as Markdown for artifacts of the Prefect UI, within the server's size limit."""

import base64
import json
import re
import textwrap
from collections.abc import Sequence
from urllib.parse import quote

from tasks.reporting import blocks
from tasks.reporting.blocks import Block, Picture, ReportSection, SampleSentence, clean, percent, shown_url, web_url

_CELL_CHARACTERS = 42  # per line: two such columns fit side by side in the UI
LIMIT = 512 * 1024  # the server's limit for an artifact in JSON, in bytes
# Signs that mean something wherever they are, that begin a list or a line at the start of a text, or that make a link
# of an address in some dialects.
_MARKUP = re.compile(
    r"[#$*@\[\\\]^_`{|}~]|(?<=\])\(|^[-+](?!\w)|^="
    r"|(?<=[^\W\d])[.:](?=\w)|(?<=\d)[.:](?=[^\W\d])|:(?=//)"
)
_NUMBERED = re.compile(r"^(\d+)([.)])(?!\w)")
_URL_SAFE = "%/:?#@!$&'*+,=~-._"  # no brackets, quotes, back ticks, bars or semicolons: they could end link or entity
_LINK_ENDS = re.compile(r"[\[\]()<>{}|\\`*^\";]")
_LEFT_OUT_PICTURE = "*Picture left out to keep this artifact below 512 KiB; the report has it: {caption}*"
_LEFT_OUT_REST = "*The rest is left out to keep this artifact below 512 KiB; the report has it.*"


def artifact(sections: Sequence[ReportSection], limit: int = LIMIT) -> str:
    """Return sections as one Markdown text of at most `limit` bytes. If it would be larger, pictures are left out, the
    largest first, then the last blocks; the text says so. Its bytes are counted as those of a JSON string."""
    parts: list[str] = []
    captions: dict[int, str] = {}  # of the pictures, by the number of the part
    for section in sections:
        parts.append(f"## {escape(section.title)}")
        for block in section.blocks:
            if isinstance(block, Picture):
                captions[len(parts)] = escape(block.caption)
            parts.append(render(block))
    while captions and _size(parts) > limit:
        largest = max(captions, key=lambda part: len(parts[part]))
        parts[largest] = _LEFT_OUT_PICTURE.format(caption=captions.pop(largest))
    if _size(parts) > limit:
        parts.append(_LEFT_OUT_REST)
        while len(parts) > 1 and _size(parts) > limit:
            del parts[-2]
    return _joined(parts)


def render(block: Block) -> str:
    """Return one block as Markdown."""
    match block:
        case blocks.Text(text):
            return escape(text)
        case blocks.Heading(text, level):
            return f"{'#' * level} {escape(text)}"
        case blocks.Figures(figures):
            return "\n".join(
                f"- **{escape(one.value)}** {escape(f'{one.name} ({one.note})' if one.note else one.name)}"
                for one in figures
            )
        case blocks.Folded(title, folded):
            return "\n\n".join([f"#### {escape(title)}", *map(render, folded)])
        case blocks.Table():
            return _table(block)
        case Picture(caption, png):
            return f"![{escape(caption)}](data:image/png;base64,{base64.b64encode(png).decode()})\n\n{escape(caption)}"
        case blocks.Quote(text, left_out):
            return "> " + escape(text) + _left_out(left_out)
        case blocks.Cited():
            return _cited(block)
        case blocks.Lines(lines):
            return "\n".join(f"- {escape(line)}" for line in lines)


def escape(text: str) -> str:
    """Return a text escaped for Markdown, so that no markup, tag, entity or link in it takes effect."""
    plain = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(lambda sign: f"\\{sign[0]}", plain))


def link(url: str) -> str:
    """Return a link to a page of the web; only the text for any other URL."""
    target = web_url(url)
    if target is None:
        return escape(shown_url(url))
    # The UI does not undo escapes in the text of a link, so characters that could end it are percent-encoded instead.
    shown = _LINK_ENDS.sub(lambda sign: quote(sign[0]), shown_url(target))
    return f"[{shown}]({quote(target, safe=_URL_SAFE)})"


def _table(table: blocks.Table) -> str:
    marks = ["---:" if index in table.numeric else "---" for index in range(len(table.columns))]
    cells = [[_cell(cell) for cell in row] for row in table.rows]
    rows = [[_lines(column) or " " for column in table.columns], marks, *cells]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"**{escape(table.caption)}**", "", *lines])


def _cell(cell: blocks.Cell) -> str:
    text = _lines(cell.text)
    text = f"**{text}**" if cell.strong and text else text
    return f"{text}<br>{escape(f'({cell.note})')}" if cell.note else text


def _lines(text: str) -> str:
    """Return a cell's text broken into lines, because the UI breaks none and would show only the first line's part."""
    return "<br>".join(escape(line) for line in textwrap.wrap(clean(text), _CELL_CHARACTERS, break_on_hyphens=False))


def _cited(cited: blocks.Cited) -> str:
    lines = [f"- {escape(sentence.text)}{_support(sentence)}" for sentence in cited.sentences]
    text = "\n".join(lines) + _left_out(cited.left_out)
    if cited.sources:
        pages = "; ".join(f"{link(source.url)} {percent(source.share)}" for source in cited.sources)
        text += f"\n\nMost attention: {pages}"
    return text


def _support(sentence: SampleSentence) -> str:
    """Return the citations of a sentence, and what in it is not supported."""
    cited = []
    for one in sentence.citations:
        share = "" if one.share is None else f", {percent(one.share)}"
        cited.append(f"{f'{link(one.url)}, ' if one.url else ''}paragraph {one.rank + 1}{share}")
    doubt = f" **{escape(sentence.doubt)}**" if sentence.doubt else ""
    return (f" *{'; '.join(cited)}*" if cited else "") + doubt


def _left_out(characters: int) -> str:
    return f" *… {characters:,} more characters*" if characters else ""


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _size(parts: Sequence[str]) -> int:
    return len(json.dumps(_joined(parts), ensure_ascii=False).encode())
