"""The pages for people: reference pages are what the code says, and links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_stage_outputs import PROJECT

PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "benchmarks" / "README.md"])
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def test_reference_pages_are_written_from_the_code() -> None:
    pytest.importorskip("transformers", reason="counts the summarizers whose layers are those of transformers")
    from docs.reference import FOLDER, pages

    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages(), "not up to date: python -m docs.reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert broken == []


def links(page: Path) -> Iterator[str]:
    """Links of a page to this project's own files."""
    for link in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        if not link.startswith(("http://", "https://", "mailto:")):
            yield link


def leads_somewhere(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    return target.exists() and (not heading or heading in headings(target))


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
