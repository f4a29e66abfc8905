"""The report as one self-contained HTML file, with styles and pictures and without scripts. Its template is a file of
its own, as those of other pages: whatever they are given is escaped."""

import base64
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.reporting.blocks import ReportSection, clean, percent, shown_url, web_url

TEMPLATE = "page.html.j2"


def templates(folder: Path, *, escaped: bool = True) -> Environment:
    """Return the templates of a folder, which is beside the code in a checkout and in an installed package alike."""
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
    environment.filters.update({"percent": percent, "base64": _base64})
    return environment.get_template(TEMPLATE).render(title=title, sections=sections)


def _base64(png: bytes) -> str:
    return base64.b64encode(png).decode()
