"""The pages for people: reference pages are what the code says, and links lead somewhere."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from docs.pictures import PICTURES, printed_scores
from docs.stage_graph import draw_stages
from tests.flows.command_line import understood
from tests.test_stage_outputs import PROJECT

PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "benchmarks" / "README.md"])
ROOMS = ("flows", "tasks", "models", "storage", "benchmarks", "tests", "docs")
_PATHS = [path for room in ROOMS for path in (PROJECT / room, *(PROJECT / room).rglob("*"))]
# Paths below the project, and names of files alone.
FILES = {str(path.relative_to(PROJECT)) for path in _PATHS}, {path.name for path in _PATHS}
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SHELL = re.compile(r"^```sh$(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`(wikisum [a-z-][^`]*)`(?!`)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@pytest.mark.integration
def test_reference_pages_are_written_from_the_code() -> None:
    pytest.importorskip("transformers", reason="counts the summarizers whose layers are those of transformers")
    from docs.reference import FOLDER, pages

    expected = pages()
    written = {name: (FOLDER / name).read_text(encoding="utf-8") for name in expected}
    assert written == expected, "not up to date: python -m docs.reference"


@pytest.mark.parametrize("name", [name for name, picture in PICTURES.items() if picture.scores])
def test_a_picture_has_the_scores_of_the_readme(name: str) -> None:
    readme = printed_scores((PROJECT / "README.md").read_text(encoding="utf-8"))
    with Image.open(PROJECT / "docs" / f"{name}.png") as picture:
        shown = json.loads(picture.info.get("scores", "{}"))
    here = {system: {column: shown[system][column] for column in readme[system]} for system in shown}
    expected = {system: readme[system] for system in PICTURES[name].scores}
    assert here == expected, f"not up to date: make pictures ARGS='--only {name}'"


def test_the_table_that_a_build_prints_is_read_by_system_and_column() -> None:
    text = (
        "%\nsystem   values F1  95 % interval\nlead         36.65  32 to 40\na b           1.00  0 to 2\n\nlead is 1."
    )
    assert printed_scores(text) == {
        "lead": {"values F1": "36.65", "95 % interval": "32 to 40"},
        "a b": {"values F1": "1.00", "95 % interval": "0 to 2"},
    }
    with pytest.raises(ValueError, match="expected a line of columns"):
        printed_scores("no table")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_files_that_pages_name_exist(page: Path) -> None:
    """A path stands below the project or beside the page; a file without a folder anywhere in the project."""
    files, names = FILES
    named = [one for one in spans(page) if re.fullmatch(r"[\w./-]*(/|\.(py|toml|yaml|md|png))", one)]
    own = [one for one in named if one.split("/")[0] in ROOMS or ("/" not in one and one.endswith(".py"))]
    assert [one for one in own if one.rstrip("/") not in files and one not in names] == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_names_of_code_in_pages_stand_in_the_code(name: str) -> None:
    """Only what can be nothing but a name is looked for: one with an underscore, or a capital within."""
    words = [one for one in spans(PROJECT / name) if re.fullmatch(r"[\w.]+", one) and not one.endswith(".py")]
    named = {part for one in words for part in one.split(".")}
    names = {one for one in named if re.search(r"_|[a-z][A-Z]", one)}
    code = "\n".join(path.read_text(encoding="utf-8") for room in ROOMS for path in (PROJECT / room).rglob("*.py"))
    assert len(names) > 3
    assert names - set(re.findall(r"\w+", code)) == set()


@pytest.mark.integration
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    silent = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=silent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "architecture.html").read_text()
    assert 'src="stages.svg"' in page
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(?:https?:)?//[^>]*", page) == []
    assert "summarizer" in (tmp_path / "reference" / "settings" / "training.html").read_text()


def test_a_drawing_of_stages_leads_an_arrow_past_the_rows_between() -> None:
    drawn = draw_stages({"a": [], "b": ["a"], "models/c": ["a", "b"]}, frozenset({"b"}), "Stages <a to c>")
    assert re.findall(r"<title>(.*)</title>|<path d=\"(M[^\"]*C[^\"]*)\"", drawn) == [
        ("Stages &lt;a to c&gt;", ""),
        ("", "M118 42C118 57 98 57 98 72"),
        ("", "M118 42C118 57 211 57 211 72V102C211 117 118 117 118 132"),
        ("", "M98 102C98 117 118 117 118 132"),
    ]
    assert re.findall(r'<rect(.*) x="(\d+)" y="(\d+)" .* rx="(\d+)"/><text.*>(\w+)</text>', drawn) == [
        ("", "32", "12", "3", "a"),
        (' class="optional"', "12", "72", "3", "b"),
        ("", "32", "132", "15", "c"),
    ]


def spans(page: Path) -> list[str]:
    """Code within the sentences of a page."""
    return _SPAN.findall(re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE))


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
    """Page and words of every command `wikisum` that a page shows, in a block of shell or within a sentence."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line for block in _SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines()]
        for line in (*lines, *_INLINE.findall(text)):
            match = re.match(r"\s*(?:\.venv/bin/)?wikisum (.*)", line, re.DOTALL)
            if match is not None:
                found.append((page.name, shlex.split(match[1], comments=True)))
    assert len(found) > 40
    return found


@pytest.mark.parametrize(("page", "words"), commands())
def test_commands_that_pages_show_are_understood(page: str, words: list[str], tmp_path: Path) -> None:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    named_alone = [] if any(one.startswith("-") for one in words) else ["--help"]
    understood(*(str(empty) if one.endswith(".yaml") else one for one in words), *named_alone)


def test_messages_of_the_troubleshooting_page_are_in_the_code() -> None:
    page = (PROJECT / "docs" / "troubleshooting.md").read_text()
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    code = "".join(
        re.sub(r'"\s*\n\s*f?"', "", file.read_text())  # a message in several lines is one
        for room in ("flows", "tasks", "models", "storage")
        for file in (PROJECT / room).rglob("*.py")
    )
    ours = [message for message in messages if message != "database is locked"]  # SQLite's own
    assert len(ours) > 20
    assert [message for message in ours if not all(part.strip() in code for part in message.split("…"))] == []
