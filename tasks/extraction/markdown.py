"""The text of a Markdown file: a paragraph a block, without marks, links' addresses, code and tables' rules."""

from markdown_it import MarkdownIt

MIME = "text/markdown"

_TEXTS = {"text", "code_inline"}
_BREAKS = {"softbreak", "hardbreak"}


def read_markdown(text: str) -> tuple[str | None, list[str]]:
    """Return the first heading of level 1, or None, and the paragraphs: all other text but code and raw HTML."""
    title: str | None = None
    paragraphs: list[str] = []
    level = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "heading_open":
            level = token.tag
        if token.type == "inline":
            line = " ".join("".join(_text(child.type, child.content) for child in token.children or ()).split())
            if level == "h1" and title is None:
                title = line or None
            elif line:
                paragraphs.append(line)
            level = ""
    return title, paragraphs


def _text(kind: str, content: str) -> str:
    return content if kind in _TEXTS else " " if kind in _BREAKS else ""
