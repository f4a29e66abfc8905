"""Options of `python -m flows.summarize`; the password of the page comes from the environment."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from flows.running import root_command
from tasks.summary.settings import Choice, SummarySettings

PROGRAM = "python -m flows.summarize"
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "sources": {"nargs": "*", "help": "URLs, files (HTML, PDF, text, Markdown), folders; - = stdin"},
    "--title": {"default": "", "help": "topic of the summary in a few words; sources are ranked by it"},
    "--model": {"help": "root of a build, its registry, or a model's folder; default: extractive"},
    "--system": {
        "choices": get_args(Choice),
        "default": "suitable",
        "help": "who writes: the model if it suits the sources, the model whatever it writes, or no model",
    },
    "--format": {"choices": ("txt", "md", "json", "html"), "default": "txt", "help": "of the result (default: txt)"},
    "--output": {"help": "file to write the result to; default: the terminal"},
    "--serve": {"action": "store_true", "help": "serve the page instead: paste, drop, read, explore"},
    "--explore": {"metavar": "ROOT", "help": "root whose corpus the page shows; default: that of --model"},
    "--host": {"default": "127.0.0.1", "help": "address of the page (default: this machine only)"},
    "--port": {"type": int, "default": 4300, "help": "its port; if it is taken, a free one is used"},
    "--jobs": {"type": int, "default": 2, "help": "summaries made at the same time; others wait"},
    **root_command.options_of(SummarySettings),
}


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; `settings` of the result are its `SummarySettings`.

    Raises:
        SystemExit: help was printed (0), or there is no such option (2).
        ValueError: a value is wrong, or options contradict each other.
    """
    options = root_command.read_options(PROGRAM, "A cited summary of web pages and files.", _OPTIONS, arguments)
    if options.jobs < 1:
        raise ValueError(f"--jobs is {options.jobs}: expected at least 1")
    if options.serve and (options.sources or options.title):
        raise ValueError("--serve takes sources and title on the page: expected none on the command line")
    options.settings = root_command.settings_from(SummarySettings, options)
    return options
