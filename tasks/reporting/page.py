"""The report as one self-contained HTML file, with styles and pictures and without scripts."""

import base64
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.reporting.blocks import Section, clean, percent, shown_url, web_url

TEMPLATE = "page.html.j2"


def page(title: str, sections: Sequence[Section]) -> str:
    """Return the page; text from outside is escaped, and only web addresses become links.

    Args:
        title: of the page.
        sections: in order.
    """
    # The template is beside this file, both in a checkout and in an installed package (package data).
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        {"clean": clean, "percent": percent, "shown_url": shown_url, "web_url": web_url, "base64": _base64}
    )
    return environment.get_template(TEMPLATE).render(title=title, sections=sections)


def _base64(png: bytes) -> str:
    return base64.b64encode(png).decode()
