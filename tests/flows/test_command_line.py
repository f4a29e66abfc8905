import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.build_wikisum import build, build_wikisum
from flows.command_line import explain, main, parse


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Done]]:
    """Run the command line in this process: starting Python and loading every library anew takes seconds."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["build_wikisum", *arguments])
        monkeypatch.setenv("COLUMNS", "200")
        try:
            code = main("build-wikisum", build_wikisum, build)
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capfd.readouterr())

    yield run
    signal.signal(signal.SIGTERM, handler)


def test_options_win_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("seed: 5\nvocabulary: {pieces: 700}\nranker: {hidden: 32}\n")
    options = parse("build", ["--config", str(file), "--ranker.hidden", "64", "--dry-run"])
    assert (options.seed, options.vocabulary.pieces, options.ranker.hidden, options.dry_run) == (5, 700, 64, True)
    assert options.search.provider == "searxng"


def test_help_explains_every_section(command: Callable[..., Done]) -> None:
    shown = command("--help").stdout
    for words in (
        "--source.miniweb.topics",
        "number of articles in week 0",
        "--dry-run",
        "--graphs.similarity-threshold",
    ):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--bogus", "1"], "unrecognized arguments: --bogus"),
        (["--ranker.hidden", "many"], "ranker.hidden: Input should be a valid integer"),
        (["--preset", "wikipedia"], "preset: Input should be 'miniweb', 'records' or 'paper' (given: 'wikipedia')"),
        (["--preset", "[/red]"], "(given: '[/red]')"),
        (["--config", "missing.yaml"], "--config missing.yaml: no such file"),
        (["--source.kind", "records", "--source.records.paths", "of[all].jsonl"], "of[all].jsonl"),
    ],
)
def test_a_mistake_is_named_without_a_traceback(
    command: Callable[..., Done], arguments: list[str], complaint: str, tmp_path: Path
) -> None:
    done = command("--root", str(tmp_path / "data"), "--dry-run", *arguments)
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_dry_run_writes_nothing_and_lists_every_stage(command: Callable[..., Done], tmp_path: Path) -> None:
    done = command("--root", str(tmp_path / "data"), "--dry-run", "--shards.articles", "3")
    assert done.returncode == 0, done.stderr
    for stage in (
        "intake",
        "articles",
        "pages",
        "paragraphs",
        "models/ranker",
        "graphs",
        "models/summarizer",
        "reports",
    ):
        assert stage in done.stdout
    assert "Search: one query an article to searxng for nothing" in done.stdout
    assert "Clones, labels and tf-idf of all 1,579,360 articles of 525 paragraphs: 8 core-hours" in done.stdout
    assert not (tmp_path / "data").exists()


def test_explain_names_setting_value_and_expectation() -> None:
    with pytest.raises(ValueError, match="shards") as error:
        parse("build", ["--shards.articles", "0"])
    assert explain(error.value) == "  shards.articles: Input should be greater than or equal to 1 (given: '0')"


def test_an_unwritable_root_is_named_before_anything_starts(command: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command("--root", str(tmp_path / "file" / "data"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_missing_archive_is_named_before_anything_starts(command: Callable[..., Done], tmp_path: Path) -> None:
    articles = tmp_path / "articles.jsonl"
    articles.write_text('{"title": "T", "lead": "L.", "references": ["http://a.example/"]}\n')
    done = command(
        "--root", str(tmp_path / "data"), "--preset", "records", "--source.records.paths", str(articles),
        "--crawl.archive", str(tmp_path / "none.warc.gz"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "no file matches" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_wiki_that_cannot_be_reached_is_named_before_anything_starts(
    command: Callable[..., Done], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        api = f"http://127.0.0.1:{taken.getsockname()[1]}/w/api.php"
    (tmp_path / "titles.txt").write_text("Ada\n")
    done = command(
        "--root", str(tmp_path / "data"), "--preset", "records", "--source.kind", "mediawiki",
        "--source.mediawiki.titles", str(tmp_path / "titles.txt"), "--source.mediawiki.contact", "team@example.org",
        "--source.mediawiki.api", api, "--source.mediawiki.retries", "0",
    )  # fmt: skip
    assert done.returncode == 1
    assert f"build-wikisum stopped: {api}: connect_error: " in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
