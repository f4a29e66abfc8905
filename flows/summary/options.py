"""Options of `python -m flows.summarize`; the password of the page comes from the environment."""

import argparse
from dataclasses import dataclass

from pydantic import ValidationError

from tasks.summary.settings import SummarySettings

PROGRAM = "python -m flows.summarize"
_FORMATS = ("txt", "md", "json", "html")


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes:
        sources: URLs, files, folders, `-`.
        title: of the summary.
        model: root, registry or model folder; None for none.
        extractive: whether to summarize without the trained model, if there is one.
        settings: limits and lengths.
        format: txt | md | json | html.
        output: file to write; None = the terminal.
        serve: whether to serve the page instead.
        explore: root whose corpus the page shows; None = that of the model, if it is one.
        host, port: address of the page.
        jobs: summaries made at the same time.
    """

    sources: tuple[str, ...]
    title: str
    model: str | None
    extractive: bool
    settings: SummarySettings
    format: str
    output: str | None
    serve: bool
    explore: str | None
    host: str
    port: int
    jobs: int


def read_options(arguments: list[str]) -> Options:
    """Read the command line; `--help` and mistakes are answered here, and end the process.

    Raises:
        SystemExit: help was printed (0), or an option is wrong (2).
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description="A cited summary of web pages and files.")
    fields = SummarySettings.model_fields
    parser.add_argument("sources", nargs="*", help="URLs, files (HTML, PDF, text, Markdown), folders; - = stdin")
    parser.add_argument("--title", default="", help="topic of the summary in a few words; sources are ranked by it")
    parser.add_argument("--model", help="root of a build, its registry, or a model's folder; default: extractive")
    parser.add_argument("--extractive", action="store_true", help="choose sentences, although there is a model")
    parser.add_argument("--format", choices=_FORMATS, default="txt", help="of the result (default: txt)")
    parser.add_argument("--output", help="file to write the result to; default: the terminal")
    parser.add_argument("--words", default=fields["words"].default, help=fields["words"].description)
    parser.add_argument("--language", default=fields["language"].default, help="ISO 639 code; any = every language")
    parser.add_argument("--max-bytes", default=fields["max_bytes"].default, help=fields["max_bytes"].description)
    parser.add_argument("--contact", default="", help=fields["contact"].description)
    parser.add_argument("--allow-host", action="append", default=[], help="host that may have a private address")
    parser.add_argument("--serve", action="store_true", help="serve the page instead: paste, drop, read, explore")
    parser.add_argument("--explore", metavar="ROOT", help="root whose corpus the page shows; default: that of --model")
    parser.add_argument("--host", default="127.0.0.1", help="address of the page (default: this machine only)")
    parser.add_argument("--port", type=int, default=4300, help="its port; if it is taken, a free one is used")
    parser.add_argument("--jobs", type=int, default=2, help="summaries made at the same time; others wait")
    values = parser.parse_args(arguments)
    if values.jobs < 1:
        parser.error(f"--jobs is {values.jobs}: expected at least 1")
    if values.serve and (values.sources or values.title):
        parser.error("--serve takes sources and title on the page: expected none on the command line")
    try:
        settings = SummarySettings.model_validate(
            {
                "words": values.words, "max_bytes": values.max_bytes, "contact": values.contact,
                "language": None if values.language == "any" else values.language,
                "allowed_hosts": tuple(values.allow_host),
            }
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        parser.error(f"--{'-'.join(map(str, first['loc'])).replace('_', '-')} is {first['input']!r}: {first['msg']}")
    return Options(
        tuple(values.sources), values.title, values.model, values.extractive, settings, values.format, values.output,
        values.serve, values.explore, values.host, values.port, values.jobs,
    )  # fmt: skip
