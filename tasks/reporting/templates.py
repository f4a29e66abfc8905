"""The templates of pages that are files of their own: whatever they are given is escaped."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.reporting.blocks import clean, shown_url, web_url


def templates(folder: Path) -> Environment:
    """Return the templates of a folder, which is beside the code in a checkout and in an installed package alike."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update({"clean": clean, "shown_url": shown_url, "web_url": web_url})
    return environment
