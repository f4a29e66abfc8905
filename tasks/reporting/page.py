"""The report as one self-contained HTML file, with styles and pictures and without scripts, and its tables and
sentences as plain text for the terminal. The template is a file of its own, as those of other pages: whatever they are
given is escaped."""

import base64
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.reporting.blocks import Block, ReportSection, Table, Text, clean, percent, shown_url, web_url

_TEMPLATE, _WIDTH = "page.html.j2", 100  # columns of a sentence; tables are not wrapped


def templates(folder: Path, *, escaped: bool = True) -> Environment:
    """Return the templates of a folder, which is next to the code in a checkout and in an installed package alike."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update({"clean": clean, "shown_url": shown_url, "web_url": web_url, "number": "{:,}".format})
    return environment


def page(title: str, sections: Sequence[ReportSection]) -> str:
    """Return the page; text from outside is escaped, and only web addresses become links."""
    environment = templates(Path(__file__).parent)
    environment.filters.update({"percent": percent, "base64": lambda png: base64.b64encode(png).decode()})
    return environment.get_template(_TEMPLATE).render(title=title, sections=sections)


def write_texts(directory: Path, texts: Mapping[str, str]) -> None:
    """Write the files of a report: path below its directory -> text."""
    for name, text in texts.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def summary(blocks: Iterable[Block]) -> str:
    """Return the tables and sentences among the blocks as text."""
    texts = []
    for block in blocks:
        if isinstance(block, Table):
            texts.append(_table(block))
        elif isinstance(block, Text):
            texts.append(textwrap.fill(clean(block.text), _WIDTH))
    return "\n\n".join(texts) + "\n"


def _table(table: Table) -> str:
    rows = [[clean(column) for column in table.columns], *[[clean(cell.text) for cell in row] for row in table.rows]]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    lines = [
        "  ".join(
            text.rjust(width) if index in table.numeric else text.ljust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([clean(table.caption), *lines])
