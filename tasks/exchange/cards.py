"""Cards as Markdown with a YAML header: the text of a card is a template, figures and tables are handed to it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tasks.reporting.page import templates


def render_card(template: str, header: Mapping[str, Any], **values: Any) -> str:
    """Return a card from a template of this folder; what comes from outside is escaped by its caller."""
    environment = templates(Path(__file__).parent, escaped=False)
    head = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n{environment.get_template(template).render(**values)}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
