import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from docstring_parser import parse_from_object

from flows.config import BuildConfig
from flows.promote import promote
from flows.prune import prune
from flows.running.command_line import CommandLine, options
from flows.running.machine import check_machine
from storage.errors import RootBusyError, StorageError
from storage.root import root_lock
from storage.store import Store
from tasks.sources.mediawiki import PATIENCE, MediaWikiSource
from tests.flows.command_line import Done, commands_in_this_process, settings_of
from tests.patience import PATIENCE as WAIT

pytestmark = pytest.mark.integration


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Done]]:
    """`wikisum build` with these options."""
    with commands_in_this_process(monkeypatch, capfd) as run:
        yield lambda *options: run("build", *options)


def test_options_win_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("seed: 5\nvocabulary: {pieces: 700}\nranker: {hidden: 32}\n")
    options = settings_of("--config", str(file), "--ranker.hidden", "64", "--dry-run")
    assert (options.seed, options.vocabulary.pieces, options.ranker.hidden, options.dry_run) == (5, 700, 64, True)
    assert options.search.provider == "searxng"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["writer", "test"], "wikisum writer test interrupted; nothing was written\n"),
        (["doctor", "--root", "x"], "wikisum doctor interrupted; nothing was written\n"),
        (
            ["export", "--root", "x"],
            "wikisum export interrupted; what is finished is kept: run the same command again to continue\n",
        ),
    ],
)
def test_a_ctrl_c_says_whether_something_is_kept(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    def interrupted(program: str, tokens: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.running.commands._answer", interrupted)
    with commands_in_this_process(monkeypatch, capfd) as run:
        assert run(*words) == Done(130, "", said)


def test_a_ctrl_c_during_the_imports_is_answered_in_a_line() -> None:
    code = """
import signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "cyclopts":
            signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupted())
from flows.__main__ import main
main()
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, "build"], capture_output=True, text=True, timeout=WAIT, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "wikisum build interrupted; nothing was begun\n")


@pytest.mark.parametrize("started", [["-m", "flows.build_corpus", "--root", "data"], ["-mflows.train"]])
def test_the_module_of_a_flow_says_how_it_is_started(started: list[str]) -> None:
    ended = subprocess.run([sys.executable, *started], capture_output=True, text=True, timeout=WAIT, check=False)
    module = started[0].removeprefix("-m") or started[1]
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"python -m {module} runs nothing: expected wikisum COMMAND")


@pytest.mark.parametrize("source", ["command line", "file"])
def test_null_is_the_word_for_no_value_on_the_command_line_and_in_files(source: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("crawl: {budget_pages: null}\npreset: records\n")
    given = ["--config", str(file)] if source == "file" else ["--preset", "records", "--crawl.budget-pages", "null"]
    assert settings_of(*given).crawl.budget_pages is None
    assert "crawl" in settings_of(*given).model_fields_set


def test_help_is_one_screen_of_what_people_change(command: Callable[..., Done]) -> None:
    shown = command("--help").stdout
    assert len(shown.splitlines()) <= 40
    for words in ("--source.records.paths", "ht", "--dry-run", "retraining (12)", "--help SECTION"):
        assert words in shown
    assert "--graphs.similarity-threshold" not in shown
    assert re.search(r"--training.steps .*\[700\]\n", shown)  # of the default preset, not of the section
    assert "In brackets: the default, with the preset miniweb." in shown


def test_help_of_a_section_of_a_setting_and_of_all(command: Callable[..., Done]) -> None:
    section = command("--help", "source.miniweb").stdout
    assert "--source.miniweb.topics [1200; 400 with records, 400 with paper]" in section
    assert "number of articles in week 0" in section
    assert "--graphs" not in section
    assert "--crawl.budget-pages [null]" in command("--help", "crawl").stdout
    steps = command("--help", "training.steps").stdout
    assert steps.startswith("--training.steps [700; 1000 with records, 500000 with paper]\n")
    assert command("--help", "engine.kind").stdout.startswith("--engine.kind [processes]")
    everything = command("--help", "all").stdout
    assert {f"--{name.replace('_', '-')} [" in everything for name, _ in options(CommandLine)} == {True}
    unknown = command("--help", "trainin")
    assert unknown.returncode == 2
    assert "--help trainin: no such section or setting; similar: --training" in unknown.stderr


@pytest.mark.parametrize(
    ("argument", "near"),
    [
        ("--summarizer.presett", "similar: --summarizer.preset"),
        ("--steps=3", "similar: --training.steps"),
        ("--bogus", "no such option; --help lists them"),
    ],
)
def test_an_option_that_is_none_is_answered_with_those_near_it(
    command: Callable[..., Done], argument: str, near: str
) -> None:
    done = command(argument, "1")
    assert done.returncode == 2
    assert near in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--bogus", "1"], "--bogus: no such option"),
        (["--ranker.hidden", "many"], "ranker.hidden: Input should be a valid integer"),
        (["--preset", "wikipedia"], "preset: Input should be 'miniweb', 'records' or 'paper' (given: 'wikipedia')"),
        (["--preset", "[/red]"], "(given: '[/red]')"),
        (["--config", "missing.yaml"], "--config missing.yaml: no such file"),
        (["--config", "."], "--config . is a folder: expected a file of settings"),
        (["--root", "~no-such-user/x"], "root '~no-such-user/x' cannot be opened: Could not determine home directory"),
        (["-root", "x"], "-root: no such option; similar: --root"),
        (["seed", "4"], "seed 4: expected --OPTION VALUE; similar: --seed"),
        (["--seed"], "parameter --seed requires an argument"),
        (["--training.learning-rate", "inf"], "training.learning_rate: Input should be a finite number (given: 'inf')"),
        (["--source.kind", "records", "--source.records.paths", "of[all].jsonl"], "of[all].jsonl"),
    ],
)
def test_a_mistake_is_named_without_a_traceback(
    command: Callable[..., Done], arguments: list[str], complaint: str, tmp_path: Path
) -> None:
    done = command("--root", str(tmp_path / "data"), "--dry-run", *arguments)
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_dry_run_says_what_this_machine_lacks(command: Callable[..., Done], tmp_path: Path) -> None:
    done = command("--root", str(tmp_path / "data"), "--dry-run", "--crawl.ca-bundle", "/nope.pem")
    assert done.returncode == 1
    assert "crawl.ca_bundle is '/nope.pem': expected a file of certificate authorities" in done.stderr
    assert "models/summarizer" in done.stdout  # the plan is shown all the same
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
    assert "Search: one query per article to searxng for free" in done.stdout
    assert (
        "1,579,360 articles of 525 paragraphs, take 8 core-hours at the rate measured by benchmarks/labels.py"
        in done.stdout
    )
    assert not (tmp_path / "data").exists()


def test_explain_names_setting_value_and_expectation() -> None:
    with pytest.raises(ValueError, match="shards") as error:
        settings_of("--shards.articles", "0")
    assert str(error.value) == "shards.articles: Input should be greater than or equal to 1 (given: '0')"


def test_an_unwritable_root_is_named_before_anything_starts(command: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command("--root", str(tmp_path / "file" / "data"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


BAD: dict[str, tuple[list[str], str]] = {
    "summaries without room": (
        ["--decoding.min-length", "500"],
        "decoding: min_length is 500: expected at most max_length, which is 160",
    ),
    "no such summarizer": (["--summarizer.preset", "bart"], "summarizer: unknown preset 'bart', expected one of: "),
    "no such field of a summarizer": (
        ["--summarizer.overrides", '{"layers": 6}'],
        "summarizer: unknown field 'layers' for architecture",
    ),
    "copying where nothing can be copied": (
        ["--summarizer.preset", "transformer-xl", "--summarizer.copying"],
        "summarizer: copying: preset 'transformer-xl' is of architecture 'transformer-xl', which cannot copy, expected",
    ),
    "no such checkpoint": (["--decoding.checkpoint", "9"], "decoding.checkpoint is 9: expected at most "),
    "seed out of range": (
        ["--seed", "100000000000000000000000"],
        "seed: Input should be less than or equal to 4294967295 (given: ",
    ),
    "shards beyond measure": (
        ["--shards.articles", "100000000"],
        "shards.articles: Input should be less than or equal to 100000",
    ),
    "contact of two lines": (
        ["--crawl.contact", "me@x.test\nX: y"],
        r"crawl.contact: String should match pattern '^[\x20-\x7e]*$' (given: ",
    ),
    "contact beyond ASCII": (["--crawl.contact", "b\xfccher@x.test"], "crawl.contact: String should match pattern"),
    "empty root": (["--root", ""], "root: expected a folder or a URI such as s3://bucket/folder (given: '')"),
    "root with half a character": (
        ["--root", "d\udcff"],
        "root: expected text that UTF-8 can write, without NUL (given",
    ),
    "a second file of settings": (["--config", "a", "--config", "b"], "Parameter --config specified multiple times."),
    "steps beyond any number": (
        ["--training.steps", str(2**64)],
        "training.steps: Input should be less than or equal to 100000000 (given: '18446744073709551616')",
    ),
    "warm-up beyond the end": (
        ["--training.steps", "10", "--training.warmup", "20"],
        "training.warmup is 20: expected at most training.steps, which is 10, or the learning rate does not reach its ",
    ),
    "warm-up of a retraining beyond its end": (
        ["--retraining.summarizer-steps", "10", "--retraining.warmup", "20"],
        "retraining.warmup is 20: expected at most retraining.summarizer_steps, which is 10, or ",
    ),
    "folder for a file": (
        ["--source.kind", "records", "--source.records.paths", "/tmp"],
        "/tmp is a folder: expected a file (source.records.paths)",
    ),
    "folder for the file of results": (
        ["--search.provider", "recorded", "--search.recorded", "/tmp"],
        "/tmp is a folder: expected a file (search.recorded)",
    ),
    "folder for the file of settings": (["--config", "/tmp"], "--config /tmp is a folder: expected a file of settings"),
    "blank root": (["--root", " "], "root: expected a folder or a URI such as s3://bucket/folder (given: ' ')"),
    "headline that nobody scores": (
        ["--report.headline", "rougeLsum", "--scoring.metrics", "rouge1", "--scoring.metrics", "rouge2"],
        "report.headline is 'rougeLsum': expected one of scoring.metrics, rouge1, rouge2",
    ),
    "metric whose judge is not set": (
        ["--scoring.metrics", "values", "--scoring.metrics", "summac"],
        "scoring.metrics names summac: expected scoring.nli to be set",
    ),
    "judge that is not there": (
        ["--scoring.nli.folder", "/nope"],
        "scoring.nli.folder is '/nope': expected a local folder with a model",
    ),
    "key of a judge that is not there": (
        [
            "--scoring.judge.url",
            "http://localhost/v1",
            "--scoring.judge.model",
            "m",
            "--scoring.judge.key-variable",
            "WIKISUM_NO_SUCH_KEY",
        ],
        "scoring.judge.key_variable is 'WIKISUM_NO_SUCH_KEY': expected an environment variable that holds the key of ",
    ),
    "device that is not there": (["--engine.device", "cuda:7"], "engine.device: device 'cuda:7' is not available"),
    "device that is none": (["--engine.device", "quantum"], "engine.device: device 'quantum' is not available"),
    "media type that is none": (
        ["--crawl.accepted-types", "html"],
        "crawl.accepted_types.0: expected a media type such as text/html, got 'html' (given: 'html')",
    ),
    "domain that is a URL": (
        ["--crawl.mirror-hosts", "http://x.org/"],
        "crawl.mirror_hosts.0: expected a domain such as wikipedia.org, ",
    ),
    "month that is none": (
        ["--crawl.wayback.timestamp", "20261399"],
        "crawl.wayback.timestamp: expected YYYYMMDDhhmmss or its beginning, such as 2016 or 201611, got '20261399'",
    ),
    "endless patience": (
        ["--crawl.host-delay-seconds", "inf"],
        "crawl.host_delay_seconds: Input should be a finite number",
    ),
    "no such authorities": (
        ["--crawl.ca-bundle", "/nope/ca.pem"],
        "crawl.ca_bundle is '/nope/ca.pem': expected a file of certificate authorities, but No such file or directory",
    ),
    "model that no machine can train": (
        ["--ranker.hidden", "1000000"],
        "ranker.hidden is 1,000,000: its training wants at least 216,048 GB, and this machine has ",
    ),
    "summarizer that no machine can train": (
        ["--summarizer.overrides", '{"model_size": 10000000}'],
        "summarizer.preset is 'ht-small-2' with model_size 10,000,000 and feed_forward_size 256: its training ",
    ),
    "scheduler without a port": (
        ["--engine.kind", "dask", "--engine.dask-address", "tcp://localhost"],
        "engine.dask_address is 'tcp://localhost': expected one such as tcp://10.0.0.1:8786, but it has no host ",
    ),
    "scheduler that does not answer": (
        ["--engine.kind", "dask", "--engine.dask-address", "tcp://127.0.0.1:9"],
        "engine.dask_address is 'tcp://127.0.0.1:9': expected a Dask scheduler that answers, but ",
    ),
    "authorities that are none": (
        ["--crawl.ca-bundle", __file__],
        f"crawl.ca_bundle is {__file__!r}: expected certificates in PEM form, but ",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_setting_is_named_before_any_work(
    name: str, command: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, complaint = BAD[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("flows.running.building.use_prefect_api", lambda: pytest.fail("work has begun"))
    done = command("--root", "data", *arguments)
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2  # that settings are wrong, and which
    assert "Traceback" not in done.stderr + done.stdout
    assert not list(tmp_path.rglob("*.parquet"))
    if arguments[0] == "--root":
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"- seed\n- 5\n", "expected names of settings and their values, got a list: ['seed', 5]"),
        (b"seed 5", "expected names of settings and their values, got a str: 'seed 5'"),
        (b"[]", "expected names of settings and their values, got a list: []"),
        (b"0", "expected names of settings and their values, got a int: 0"),
        (b"root: b\xfccher\n", "expected UTF-8, got the byte 0xfc"),
        (b"seed: [1\n", "expected YAML, but while parsing a flow sequence"),
        (b"root: a\x00b\n", "expected YAML, but "),
        (b"decoding: {min_length: 9, max_length: 3}", "decoding: min_length is 9: expected at most max_length"),
        (b"name: a\nseed: yes\n", "unable to parse string as an integer (given: 'yes', settings.yaml, line 2)"),
        (b"seed: true\n", "seed: expected a number (given: True, settings.yaml, line 1)"),
        (b"seed: 1\nname: a\nseed: 2\n", 'found duplicate key "seed" with value "2" (original value: "1") (line 3)'),
        (b"ranker:\n  hidden: 1\n  hidden: 2\n", 'found duplicate key "hidden" with value "2" (original value: "1")'),
        (b"seed: 1\nconfig: other.yaml\n", "settings.yaml, line 2: config is an option of the command line alone"),
        (b"dry_run: true\n", "settings.yaml, line 1: dry_run is an option of the command line alone"),
        (b"seed: " + b"[" * 5000, "expected YAML of some levels, but it is nested too deeply to be read"),
        (b"shards:\n  articles: 0\n", "(given: 0, settings.yaml, line 2)"),
        (b"1: 2\n", "1: Keys should be strings (given: 1"),
        (b"training.steps: 5\ntraining:\n  steps: 6\n", "training.steps is given twice, with different values"),
        (
            b"a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            + b"".join(b"%c: &%c [%s]\n" % (n + 1, n + 1, b", ".join([b"*%c" % n] * 10)) for n in range(97, 107)),
            "expected at most 10,000 values, got more with those that its aliases (*name) repeat",
        ),
        (b"a: &a [*a]\n", "expected at most 10,000 values, got more"),
    ],
)
def test_a_file_that_holds_no_settings_is_named(
    content: bytes, complaint: str, command: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.yaml").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    done = command("--root", str(tmp_path / "data"), "--config", "settings.yaml")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2
    assert "Traceback" not in done.stderr + done.stdout


def test_a_file_means_what_it_says(tmp_path: Path) -> None:
    """No octal numbers, no `no` of Norwegian, no dates, as YAML 1.1 has them."""
    file = tmp_path / "settings.yaml"
    file.write_text(
        "seed: 010\nparagraphs: {filter: {language: no}}\ncrawl: {refresh: 2026-11-23}\n"
        "training: {learning_rate: 1e-4}\n"
    )
    read = settings_of("--config", str(file))
    said = (read.seed, read.paragraphs.filter.language, read.crawl.refresh, read.training.learning_rate)
    assert said == (10, "no", "2026-11-23", 1e-4)


def test_a_mistake_of_the_command_line_is_not_laid_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("seed: 5\nshards: {hosts: 0}\n")
    with pytest.raises(ValueError, match="seed") as error:
        settings_of("--config", str(file), "--seed", "x")
    seed, hosts = str(error.value).splitlines()
    assert seed.endswith("(given: 'x')")
    assert hosts.endswith(f"(given: 0, {file}, line 2)")


def test_no_option_at_all_is_a_build_as_well_and_of_equal_ones_the_last_counts() -> None:
    assert settings_of().build == BuildConfig()
    assert settings_of("--seed", "4", "--seed", "5", "--crawl.archive", "a,b", "--crawl.archive", "c").seed == 5
    assert settings_of("--crawl.archive", "a,b", "--crawl.archive", "c").crawl.archive == ("a", "b", "c")
    assert settings_of("--crawl.archive", '["a,b"]').crawl.archive == ("a,b",)  # a name with a comma


def test_an_empty_file_of_settings_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("# nothing\n")
    assert settings_of("--config", str(tmp_path / "settings.yaml")).seed == 1


def test_a_file_without_articles_is_named_before_anything_starts(command: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "articles.jsonl").write_text("")
    done = command(
        "--root",
        str(tmp_path / "data"),
        "--preset",
        "records",
        "--source.records.paths",
        str(tmp_path / "articles.jsonl"),
    )
    assert done.returncode == 1
    assert "the source (source.records) is empty: expected at least one article, found none" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_devices_of_a_cluster_are_not_looked_for_here() -> None:
    elsewhere = {"engine": {"kind": "dask", "device": "cuda:7"}, "crawl": {"ca_bundle": "/nope"}}
    pytest.importorskip("prefect_dask")
    check_machine(BuildConfig.model_validate(elsewhere))


def test_tensorboard_without_its_library_stops_a_run_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.running.machine.importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"^report.tensorboard needs the library tensorboard, found none: pip install"):
        check_machine(BuildConfig.model_validate({"report": {"tensorboard": "logs"}}))


def test_a_dry_run_tells_all_that_a_run_would_stop_for(command: Callable[..., Done], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    root = ("--dry-run", "--root", str(tmp_path / "data"))
    done = command(*root, "--crawl.ca-bundle", "/nope.pem", "--engine.device", "quantum", "--ranker.hidden", "1000000")
    assert done.returncode == 1
    assert "models/summarizer" in done.stdout  # the plan is shown all the same
    told = done.stderr.strip().splitlines()
    assert [line.removeprefix("this machine lacks ").partition(":")[0] for line in told] == [
        "engine.device",
        "crawl.ca_bundle is '/nope.pem'",
        "ranker.hidden is 1,000,000",
    ]
    done = command(*root, "--engine.kind", "dask", "--engine.dask-address", f"tcp://127.0.0.1:{port}")
    assert done.returncode == 1
    assert (
        f"engine.dask_address is 'tcp://127.0.0.1:{port}': expected a Dask scheduler that answers, but" in done.stderr
    )
    with socket.create_server(("127.0.0.1", port)):
        assert command(*root, "--engine.kind", "dask", "--engine.dask-address", f"tcp://127.0.0.1:{port}").stderr == ""


@pytest.mark.parametrize("flow", ["prune", "promote"])
def test_a_mistyped_root_is_named_and_not_created(flow: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="dta' does not exist: expected the folder or URI of a build"):
        prune.fn(str(tmp_path / "dta"), 3, dry_run=True) if flow == "prune" else promote.fn(str(tmp_path / "dta"), 1)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StorageError, match="root is '': expected a folder or a URI"):
        prune.fn("", 3, dry_run=True) if flow == "prune" else promote.fn("", 1)


def test_a_missing_archive_is_named_before_anything_starts(command: Callable[..., Done], tmp_path: Path) -> None:
    articles = tmp_path / "articles.jsonl"
    articles.write_text('{"title": "T", "lead": "L.", "references": ["http://a.example/"]}\n')
    done = command(
        "--root",
        str(tmp_path / "data"),
        "--preset",
        "records",
        "--source.records.paths",
        str(articles),
        "--crawl.archive",
        str(tmp_path / "none.warc.gz"),
    )
    assert done.returncode == 1
    assert "no file matches" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_wiki_that_cannot_be_reached_is_named_before_anything_starts(
    command: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = partial(MediaWikiSource, patience=replace(PATIENCE, retries=0))
    monkeypatch.setattr("tasks.sources.choice.MediaWikiSource", impatient)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        api = f"http://127.0.0.1:{taken.getsockname()[1]}/w/api.php"
    (tmp_path / "titles.txt").write_text("Ada\n")
    done = command(
        "--root",
        str(tmp_path / "data"),
        "--preset",
        "records",
        "--source.kind",
        "mediawiki",
        "--source.mediawiki.titles",
        str(tmp_path / "titles.txt"),
        "--crawl.contact",
        "team@example.org",
        "--source.mediawiki.api",
        api,
    )
    assert done.returncode == 1
    assert f"wikisum build stopped: {api}: connect_error: " in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_the_root_is_held_from_the_check_to_the_end(
    command: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the Prefect server starts, too: a second run would pass its own check then, and wait for hours."""
    monkeypatch.setattr("flows.running.building.use_prefect_api", lambda: _another_run(tmp_path))
    done = command("--root", str(tmp_path))
    assert done.returncode == 1
    assert "another run was refused" in done.stderr


def _another_run(root: Path) -> None:
    def start() -> None:
        with pytest.raises(RootBusyError), root_lock(Store(str(root))):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(start).result()
    raise ValueError("another run was refused")


@pytest.mark.parametrize("arguments", [("summarize", "notes.txt", "--output"), ("compare", "a", "b", "--to")])
def test_a_folder_is_refused_as_the_file_of_a_result(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with commands_in_this_process(monkeypatch, capfd) as run:
        ended = run(*arguments, str(tmp_path))
    assert ended.returncode == 2
    assert f'Only file is allowed, but "{tmp_path}" is a directory.' in ended.stderr


def test_the_script_of_a_shell_has_every_option_and_parses_no_class_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    parsed: list[object] = []

    def parse(thing: object) -> object:
        parsed.append(thing)
        return parse_from_object(thing)

    monkeypatch.setattr("docstring_parser.parse_from_object", parse)
    script = tmp_path / "wikisum.bash"
    with commands_in_this_process(monkeypatch, capfd) as run:
        assert run("--install-completion", "--shell", "bash", "--output", str(script)).returncode == 0
    assert {"--training.steps", "--crawl.contact", "--accept-loss"} <= set(re.findall(r"--[\w.-]+", script.read_text()))
    assert BuildConfig in parsed
    assert len(parsed) == len(set(parsed))
