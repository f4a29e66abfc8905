"""The pages for people: reference pages are what the code says, and links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from flows.running.options import parse
from tests.test_stage_outputs import PROJECT

PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "benchmarks" / "README.md"])
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SHELL = re.compile(r"^```sh$(.*?)^```$", re.MULTILINE | re.DOTALL)
_WORDS = {"flows.train": ("ranker", "summarizer")}  # that stand before the options
# Whose options are the settings of a build; the others have options of their own.
_BUILDS = {
    "flows.build_wikisum",
    "flows.build_corpus",
    "flows.train",
    "flows.evaluate",
    "flows.reproduce_tables",
    "flows.pretrain",
    "flows.retrain",
}
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def test_reference_pages_are_written_from_the_code() -> None:
    pytest.importorskip("transformers", reason="counts the summarizers whose layers are those of transformers")
    from docs.reference import FOLDER, pages

    expected = pages()
    written = {name: (FOLDER / name).read_text(encoding="utf-8") for name in expected}
    assert written == expected, "not up to date: python -m docs.reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert broken == []


@pytest.mark.integration
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    silent = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=silent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "summarizer" in (tmp_path / "reference" / "settings.html").read_text()


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


def commands() -> list[tuple[str, list[str]]]:
    """Page and words of every command that starts a module of this project."""
    found = []
    for page in PAGES:
        for block in _SHELL.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                match = re.match(r"\s*(?:\.venv/bin/)?python -m ((?:flows|tasks|models)\b.*)", line)
                if match is not None:
                    found.append((page.name, shlex.split(match[1], comments=True)))
    assert len(found) > 30
    return found


@pytest.mark.parametrize(("page", "command"), commands(), ids=lambda part: part if isinstance(part, str) else part[0])
def test_commands_that_pages_show_are_understood(page: str, command: list[str], tmp_path: Path) -> None:
    module, *arguments = command
    if module in _BUILDS and "--help" not in arguments:
        empty = tmp_path / "settings.yaml"
        empty.write_text("")
        words = _WORDS.get(module, ())
        given = [str(empty) if one.endswith(".yaml") else one for one in arguments if one not in words]
        parse(f"python -m {module}", given, words)
        return
    known = help_of(module)
    unknown = [one for one in arguments if one.startswith("--") and one.partition("=")[0] not in known]
    assert unknown == []


@cache
def help_of(module: str) -> str:
    """What a command says of its options, those of its actions included."""
    said = _help(module)
    actions = re.search(r"\{([a-z,-]+)\}|ACTION", said)
    names = re.findall(r"^    ([a-z]+)\b", said, re.MULTILINE) if actions else []
    return said + "".join(_help(module, name) for name in names)


def _help(module: str, *action: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *action, "--help"],
        cwd=PROJECT,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
