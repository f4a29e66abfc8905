"""`wikisum summarize` as people call it, and its options."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.flows.command_line import commands_in_this_process, understood
from tests.patience import PATIENCE, output_of, wait_until
from tests.tasks.cited_summary.topic import GERMAN, HISTORY, TITLE, page_of

Here = Callable[..., tuple[int, str, str]]
PROJECT = Path(__file__).parents[3]


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows", "summarize", *arguments],
        cwd=PROJECT,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Here]:
    """The command in this process, which has its libraries already: exit code, output, errors."""

    with commands_in_this_process(monkeypatch, capfd) as run:

        def call(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            done = run("summarize", *arguments)
            return done.returncode, done.stdout, done.stderr

        yield call


@pytest.mark.integration
def test_standard_input_becomes_a_markdown_file_and_progress_goes_to_the_terminal(tmp_path: Path) -> None:
    output = tmp_path / "summary.md"
    done = run("--title", TITLE, "--format", "md", "--output", str(output), "-", stdin=HISTORY)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.splitlines()[:2] == ["loading ...", "  2 %  reading 1 source"]
    assert "writing with concepts" in done.stderr
    assert output.read_text().startswith(f"# {TITLE}\n\nThe lighthouse at Skerry Point was built in 1847")


@pytest.mark.integration
def test_a_note_of_five_words_is_a_source(here: Here) -> None:
    code, written, _ = here("--title", "Ferry", "-", stdin="Ferry leaves at noon daily.")
    assert code == 0
    assert "Ferry leaves at noon daily. [1]" in written


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--title", "x", "nowhere.txt"),
            "'nowhere.txt' is neither a web address (http:// or https://) nor an existing",
        ),
        (("--title", "x"), "there is no source: expected at least one web address, file or text"),
        (("--title", "x", "--model", "/no/such/root", "-"), "root '/no/such/root' does not exist"),
    ],
)
def test_bad_input_is_one_line_that_names_it(here: Here, arguments: tuple[str, ...], said: str) -> None:
    code, output, errors = here(*arguments, stdin=HISTORY)
    assert (code, output) == (1, "")
    assert said in errors.splitlines()[-1]


@pytest.mark.integration
def test_nothing_usable_is_told_and_is_an_error(here: Here, tmp_path: Path) -> None:
    page = tmp_path / "german.html"
    page.write_text(page_of(GERMAN))
    code, output, _ = here("--title", TITLE, str(page), stdin="")
    assert code == 1
    assert "not used: its text is not in the language of the summary, 'en'" in output
    code, output, errors = here("--title", TITLE, "--format", "cited.txt", str(page), stdin="")
    assert (code, output) == (1, f"{TITLE}\n\n\n")
    assert errors.endswith("\nnot used: german.html: its text is not in the language of the summary, 'en'\n")


@pytest.mark.integration
def test_a_pasted_text_is_used_whatever_its_language(here: Here) -> None:
    code, output, _ = here("--title", TITLE, "-", stdin=GERMAN)
    assert code == 0
    assert "Der Leuchtturm von Skerry Point wurde im Jahr 1847 gebaut" in output


@pytest.mark.integration
def test_ctrl_c_ends_everything_and_writes_nothing(tmp_path: Path) -> None:
    large, output = tmp_path / "large.html", tmp_path / "summary.md"
    large.write_text("<p>" + "The tower was built in 1847 by <b>Thomas</b> Ridley. " * 300_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", "summarize", "--title", TITLE, "--output", str(output), str(large)],
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    said: list[str] = []
    wait_until(
        lambda: said.append(process.stderr.readline()) or "extracting" in said[-1], "extraction", lambda: "".join(said)
    )
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to every process of the command
    _, errors = output_of(process)
    assert errors.splitlines()[-1] == "wikisum summarize interrupted; nothing was written"
    assert "Traceback" not in errors
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == [large]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--words", "5", "x"], 2, "words: Input should be greater than or equal to 20 (given: '5')"),
        (["--language", "English", "x"], 2, "language: 'English' is not a language that its letters show"),
        (["--jobs", "0", "--serve"], 2, 'Invalid value "0" for --jobs. Must be >= 1'),
        (["--format", "odt", "x"], 2, 'Invalid value "odt" for --format. Choose from: "txt", "cited.txt"'),
        (["--format", "pdf", "x"], 1, "--format pdf is a file: expected --output, such as --output summary.pdf"),
        (["--titel", "x"], 2, "--titel: no such option; similar: --title"),
        (["--serve", "x"], 1, "--serve takes sources, title and questions on the page"),
    ],
)
def test_a_wrong_value_is_answered_before_anything_is_loaded(
    arguments: list[str], code: int, said: str, here: Here
) -> None:
    returned, _, errors = here(*arguments)
    assert returned == code
    assert said in errors
    assert len(errors.splitlines()) <= 2
    assert "loading" not in errors


def test_options_become_settings() -> None:
    given = ["--words", "80", "--language", "null", "--allowed-hosts", "a.lan,b.lan"]
    read = understood("summarize", "--title", "T", *given, "a", "b")
    settings = read.arguments["settings"]
    assert (read.args, read.arguments["title"]) == (("a", "b"), "T")
    assert (settings.words, settings.language, settings.allowed_hosts) == (80, None, ("a.lan", "b.lan"))
