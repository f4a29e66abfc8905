"""The report as one self-contained HTML file, with styles and pictures and without scripts."""

import base64
from collections.abc import Sequence
from pathlib import Path

from tasks.reporting.blocks import Section, percent
from tasks.reporting.templates import templates

TEMPLATE = "page.html.j2"


def page(title: str, sections: Sequence[Section]) -> str:
    """Return the page; text from outside is escaped, and only web addresses become links.

    Args:
        title: of the page.
        sections: in order.
    """
    environment = templates(Path(__file__).parent)
    environment.filters.update({"percent": percent, "base64": _base64})
    return environment.get_template(TEMPLATE).render(title=title, sections=sections)


def _base64(png: bytes) -> str:
    return base64.b64encode(png).decode()
