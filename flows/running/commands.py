"""The command `wikisum`. Help and mistakes are answered before torch or Prefect are imported."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal, NoReturn

from cyclopts import App, Parameter
from cyclopts.validators import Number
from cyclopts.validators import Path as File
from rich.console import Console
from rich.markup import escape

from flows.running.command_line import NOTHING_GIVEN, CommandLine, Given, Section, Stopped, app, print_help
from flows.running.settings import WEBHOOK
from storage.errors import BudgetSpentError, StorageError
from storage.redaction import redacted
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.engine.data_files import read_data
from tasks.human_evaluation.settings import StudySettings

_NOT_UNDERSTOOD, _INTERRUPTED = 2, 130
_FINISHED = "what is finished is kept: run the same command again to continue"
_GROUPS = ("writer", "judge")  # of commands
_READING = ("writer", "doctor", "compare")  # commands that write nothing
# Their options are the settings of a build, too many for the library's help.
BUILDS = ("build", "corpus", "train", "evaluate", "tables", "retrain", "pretrain")
_BUILDS = read_data("flows.running", "help.toml")["builds"]

Root = Annotated[str, Parameter(help="folder or URI that everything is written below")]
Build = Annotated[str | None, Parameter(help="name of a finished build; default: the latest")]
DryRun = Annotated[bool, Parameter(negative="", help="only say what would be done")]
Host = Annotated[str, Parameter(help="address to listen on; the default is reached from this machine only")]
Port = Annotated[int, Parameter(help="port; if it is taken, a free one is used")]
Longest = Annotated[
    float, Parameter(validator=Number(gt=0), help="hours after which a run that goes on raises an alarm")
]
_FILE = Parameter(validator=File(dir_okay=False))
Names = Annotated[list[str] | None, Parameter(negative="")]

judge = App(name="judge", help="Human evaluation (Liu & Lapata 2019, sec. 5): a blinded study of a build's summaries.")
writer = App(name="writer", help="A language model that writes.")
app.register_install_completion_command()


def _run(given: CommandLine, module: str, flow: str, walk: str) -> int:
    """Run a flow of a module of `flows`, or plan its walk; return the exit code."""
    from flows.running.building import run_build  # here, because these take seconds
    from tasks.engine.shard import MACHINES

    result = import_module(f"flows.{module}")
    run = partial(run_build, given, getattr(result, flow), getattr(result, walk), only_stages=flow != "retrain")
    if MACHINES not in os.environ:
        return run()
    from tasks.engine.torchrun import run_on_machines

    return run_on_machines(run)


def _building(module: str, flow: str, walk: str) -> Callable[..., int]:
    def command(*, given: Given = NOTHING_GIVEN) -> int:
        return _run(given, module, flow, walk)

    return command


def train(
    model: Annotated[Literal["ranker", "summarizer"], Parameter(help="what is trained")] = "summarizer",
    /,
    *,
    given: Given = NOTHING_GIVEN,
) -> int:
    """Train the paragraph ranker, or the summarizer and before it the ranker that it needs."""
    return _run(given, "train", f"train_{model}", f"trained_{model}")


for name in BUILDS:
    if name == "train":
        app.command(train)
    else:
        app.command(_building(*_BUILDS[name][:3]), name=name, help=_BUILDS[name][3])


@app.command
def summarize(
    *sources: Annotated[
        str, Parameter(help="URLs, files (HTML, PDF, Word, EPUB, OpenDocument, slides, text), folders; - = stdin")
    ],
    title: Annotated[str, Parameter(help="topic in a few words; sources are ranked by it; default: suggested")] = "",
    question: Annotated[str, Parameter(help="about the topic: an answer is written instead of a summary")] = "",
    model: Annotated[
        str | None, Parameter(help="root of a build, its registry, or a model; default: extractive")
    ] = None,
    system: Annotated[
        Choice, Parameter(help="who writes: the model if it suits the sources, the model whatever it writes, no model")
    ] = "suitable",
    form: Annotated[
        Literal["txt", "cited.txt", "md", "html", "docx", "pdf", "json", "bib"],
        Parameter(name="--format", help="format of the result; bib: its sources"),
    ] = "txt",
    output: Annotated[Path | None, _FILE, Parameter(help="file to write the result to; default: the terminal")] = None,
    serve: Annotated[bool, Parameter(negative="", help="serve the page instead: paste, drop, read, explore")] = False,
    explore: Annotated[str | None, Parameter(help="root whose corpus the page shows; default: that of --model")] = None,
    host: Host = "127.0.0.1",
    port: Port = 4300,
    jobs: Annotated[int, Parameter(validator=Number(gte=1), help="summaries made at once; others wait")] = 2,
    settings: Section[SummarySettings] = SummarySettings(),  # noqa: B008 - it is frozen
) -> int:
    """Write a cited summary of web pages and files, in the terminal or on a local page."""
    if serve and (sources or title or question):
        raise ValueError("--serve takes sources, title and questions on the page: expected none on the command line")
    if form in {"docx", "pdf"} and output is None and not serve:
        raise ValueError(f"--format {form} is a file: expected --output, such as --output summary.{form}")
    if serve:
        from flows.summary_page.server import serve as serve_page

        return serve_page(model, explore, host, port, jobs, settings)
    print("loading ...", file=sys.stderr)  # the imports below take seconds
    from flows.summary_page.terminal import summarize

    return summarize(title, question, sources, model, system, settings, form, output)


@app.command
def serve(
    *,
    host: Host = "127.0.0.1",
    port: Port = 4200,
    root: Annotated[
        str | None, Parameter(help="folder or URI of every deployment; default: that of --config, or data")
    ] = None,
    config: Annotated[
        Path | None, Parameter(help="YAML file of the operator: root, config, schedules, parameters of deployments")
    ] = None,
    pool: Annotated[str, Parameter(help="work pool, as named in prefect.yaml")] = "wikisum",
    longest: Longest = 48,
    upkeep: Annotated[bool, Parameter(negative="", help="verify, prune and back up each Sunday")] = False,
    metrics: Annotated[
        str | None, Parameter(help="port of /metrics for Prometheus on loopback, or HOST:PORT; default: none")
    ] = None,
) -> int:
    """Serve Prefect with all deployments, a worker, and the page for summaries, until Ctrl-C.

    DATABASE_URL names a PostgreSQL database, PREFECT_SERVER_API_AUTH_STRING the user:password to ask for (default: one
    that is made once), WIKISUM_HOSTS further names of this machine, WIKISUM_WEBHOOK whom to alarm (see `wikisum
    alarms`), WIKISUM_BACKUP where upkeep copies to."""
    from flows.running.operator import read_operator
    from flows.serve import serve

    operator = read_operator(None if config is None else str(config), root)
    return serve(host, port, pool, longest, operator, upkeep=upkeep, metrics=metrics)


@app.command
def alarms(
    *,
    to: Annotated[
        str | None,
        Parameter(env_var=WEBHOOK, help="URL, or notification block of the server as TYPE/NAME; default: nobody"),
    ] = None,
    longest: Longest = 48,
) -> None:
    """Let the Prefect server at PREFECT_API_URL mark dead runs as crashed, and raise alarms; `serve` does it itself."""
    from flows.running.prefect_setup import LATE, create_automations
    from flows.running.temporary_server import check_prefect_api, has_prefect_api

    if not has_prefect_api():
        raise ValueError("PREFECT_API_URL is not set: expected the address of the server that raises the alarms")
    check_prefect_api()
    for name in create_automations(to, LATE, timedelta(hours=longest)):
        print(name)


@app.command
def export(
    *,
    to: Annotated[str, Parameter(help="new or empty folder or URI")],
    root: Root = "data",
    build: Build = None,
    columns: Annotated[
        str | None,
        Parameter(help="some of summary, urls, documents, labels, ranked, graphs; default: all that the build has"),
    ] = None,
    page_text: Annotated[
        Literal["licensed", "free", "all", "none"],
        Parameter(help="documents whose text is exported: of a licence without ND, of a free one, all, none"),
    ] = "licensed",
    model: Annotated[
        str | None, Parameter(help="export its summarizer instead: a version, champion, a build, latest")
    ] = None,
    push: Annotated[str | None, Parameter(help="then upload it to this repository (ORG/NAME) of Hugging Face")] = None,
    layout: Annotated[
        Literal["parquet", "pt", "json"],
        Parameter(help="pt, json: examples and vocabulary as shards of ranked WikiSum (Liu & Lapata) or GraphSum"),
    ] = "parquet",
    dry_run: DryRun = False,
) -> None:
    """Export a corpus, or with --model a summarizer, as a folder that other people's tools read; resumable."""
    from flows.export import run
    from tasks.exchange.sharing import Sharing

    run(Sharing(root, to, build, columns, page_text, model, push, layout), dry_run=dry_run)


app.command(judge)
app.command(writer)


@writer.command(name="test")
def try_writer(*, settings: Section[SummarySettings] = SummarySettings()) -> int:  # noqa: B008 - it is frozen
    """Ask a language model once for a short summary, and say what was read of its answer."""
    if settings.writer is None:
        raise ValueError("writer.url is not given: expected the address of a server, and writer.model")
    from tasks.writing.trial import Trial

    trial = Trial.run(settings.writer, settings.words, settings.language)
    print("\n".join(trial.lines()))
    return 0 if trial.kept else 1


@judge.command
def prepare(
    *,
    to: Annotated[Path, Parameter(help="folder of the study")],
    root: Root = "data",
    build: Build = None,
    settings: Section[StudySettings] = StudySettings(),  # noqa: B008 - it is frozen
) -> None:
    """Draw test articles of a build and write a form for each rater, with the key in a separate file."""
    from flows.human_evaluation import prepare

    prepare(root, build, settings, to)


@judge.command
def score(
    answers: Annotated[list[Path], Parameter(help="answers of forms (.json), or filled-in tables (.csv)")],
    /,
    *,
    study: Annotated[Path, Parameter(help="folder of a prepared study")],
) -> None:
    """Score the answers of raters, and write a report and an artifact."""
    from flows.human_evaluation import score

    score(study, answers)


@app.command
def promote(*, to: Annotated[int, Parameter(help="number of the version")], root: Root = "data") -> None:
    """Make a version of the models the champion by hand: to roll back, or to use one that the test refused."""
    from flows.promote import run

    run(root, to)


@app.command
def prune(
    *,
    root: Root = "data",
    keep: Annotated[int, Parameter(help="newest distinct builds, and model versions, to keep")] = 3,
    pin: Annotated[Names, Parameter(help="keep this build from now on")] = None,
    unpin: Annotated[Names, Parameter(help="no longer keep a pinned build")] = None,
    dry_run: DryRun = False,
) -> None:
    """Delete shards, models and leftovers that no kept build and no kept model version needs."""
    from flows.prune import run

    run(root, keep, dry_run=dry_run, pin=pin or (), unpin=unpin or ())


@app.command
def verify(
    *,
    root: Root = "data",
    weeks: Annotated[
        int, Parameter(validator=Number(gte=1), help="read this week's part, so that all is read in so many weeks")
    ] = 1,
    dry_run: DryRun = False,
    accept_loss: Annotated[
        bool, Parameter(negative="", help="write off what the root's inventory lists and is gone, as lost for good")
    ] = False,
) -> int:
    """Read every file below the root and set damaged ones aside; a build that needs one computes it again."""
    from flows.verify import run

    return run(root, dry_run=dry_run, weeks=weeks, accept_loss=accept_loss)


@app.command
def backup(
    *,
    to: Annotated[str, Parameter(help="folder or URI of the backup; what is new or changed is copied")],
    root: Root = "data",
    pages: Annotated[
        bool, Parameter(negative="", help="also the crawled pages, which the web may no longer have")
    ] = False,
    keep: Annotated[int, Parameter(validator=Number(gte=1), help="newest generations to keep")] = 10,
    check: Annotated[bool, Parameter(negative="", help="copy nothing, but read every byte of the backup")] = False,
) -> None:
    """Copy what nothing computes again: manifests, registry, frozen test articles, the champion, unfinished crawls."""
    from flows.backup import backup

    print(backup.fn(root, to, pages, keep, check))


@app.command
def restore(
    *,
    copy: Annotated[str, Parameter(name="--from", help="folder or URI of the backup")],
    root: Root = "data",
    generation: Annotated[str | None, Parameter(help="which, as `backup --check` lists them; else the newest")] = None,
    replace_damaged: Annotated[
        bool, Parameter(negative="", help="also replace what does not match its record or its seal")
    ] = False,
) -> None:
    """Copy back what a root lacks from a backup; all else that the root has stays as it is."""
    from flows.backup import restore

    print(restore(root, copy, generation=generation, replace_damaged=replace_damaged))


@app.command
def doctor(*, root: Root = "data") -> None:
    """Say what a root is, what wrote it, and what its next run would compute again, why, and at what cost."""
    from flows.doctor import examine

    examine(root, Console())


@app.command
def compare(
    builds: Annotated[list[str], Parameter(help="names of two to six finished builds")],
    /,
    *,
    root: Root = "data",
    to: Annotated[Path, _FILE, Parameter(help="HTML page that is written")] = Path("compared.html"),
) -> None:
    """Compare builds: settings that differ, scores with paired tests, curves, summaries that changed."""
    from storage.root import check_root
    from storage.store import Store
    from tasks.reporting.page import page, summary
    from tasks.reporting.side_by_side import compared_builds

    store = Store(root)
    check_root(store)
    sections = compared_builds(store, builds)
    to.write_text(page("Builds side by side", sections), encoding="utf-8")
    print(f"{summary(block for section in sections for block in section.blocks)}\npage: {to}")


@app.command
def republish(*, root: Root = "data", build: Build = None) -> None:
    """Publish a build's artifacts again, for a new server or after a server has deleted old runs."""
    from flows.republish import run

    run(root, build)


for place, name in enumerate(app.resolved_commands()):
    if not name.startswith("-"):
        app[name].sort_key = place  # in the help, which sorts the others after these


def main() -> NoReturn:
    """Answer the command line and exit: 0, 1 after an error, 2 if it is not understood, 130 after a Ctrl-C."""
    name = next(iter(sys.argv[1:]), "")
    program = " ".join(["wikisum", *sys.argv[1 : 3 if name in _GROUPS else 2]])
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        signal.signal(signal.SIGTERM, _stop)
        sys.exit(_answer(program, sys.argv[1:]))
    except (StorageError, BudgetSpentError, Stopped, ValueError, OSError) as error:
        errors.print(f"[red]{program} stopped[/red]: {escape(redacted(str(error)))}")
        sys.exit(1)
    except KeyboardInterrupt as end:
        kept = str(end) or ("nothing was written" if name in _READING else _FINISHED)
        errors.print(f"{program} interrupted; {kept}")
        sys.exit(_INTERRUPTED)


def _answer(program: str, tokens: list[str]) -> int:
    if tokens and tokens[0] in BUILDS and not {"-h", "--help"}.isdisjoint(tokens):
        topics = [token for token in tokens[1:] if token not in ("-h", "--help", "ranker", "summarizer")]
        try:
            usage = f"{program} [ranker|summarizer]" if program == "wikisum train" else program
            print_help(usage, CommandLine, topics, Console(highlight=False))
        except ValueError as error:
            print(f"{program}: {error}", file=sys.stderr)
            return _NOT_UNDERSTOOD
        return 0
    if tokens[:1] == ["--install-completion"]:
        _parse_docstrings_once()
    if "-" in tokens:  # standard input, which the library takes for an option unless it follows a `--`
        tokens = [*(token for token in tokens if token not in ("-", "--")), "--", "-"]
    return app([*_whole_names(tokens)]) or 0


def _whole_names(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the tokens, with `--writer NAME` replaced by the setting that it abbreviates."""
    for index, token in enumerate(tokens):
        name, equals, value = token.partition("=")
        alone = name == "--writer" and (equals or (index + 1 < len(tokens) and tokens[index + 1][:1] not in "-{"))
        yield f"--writer.folder{equals}{value}" if alone else token


def _parse_docstrings_once() -> None:
    """Let cyclopts parse the source of a class once. For a shell's script it asks for it at each option that a class
    describes, of each command, which takes 25 seconds."""
    import docstring_parser

    docstring_parser.parse_from_object = cache(docstring_parser.parse_from_object)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Turn SIGTERM into an orderly end: running jobs are stopped, locks and servers released."""
    raise KeyboardInterrupt
