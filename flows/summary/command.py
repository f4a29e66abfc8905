"""`python -m flows.summarize`: a summary in the terminal or a file, or the page."""

import argparse
import sys
from pathlib import Path

from flows.summary.options import PROGRAM, read_options


def main(arguments: list[str]) -> int:
    """Do what the command line asks for; return the exit code."""
    try:
        options = read_options(arguments)
        if options.serve:
            from flows.summary.server import serve

            return serve(options)
        return _summarize(options)
    except (ValueError, OSError) as error:
        print(f"{PROGRAM} stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROGRAM} interrupted: nothing was written", file=sys.stderr)
        return 130


def _summarize(options: argparse.Namespace) -> int:
    print("loading ...", file=sys.stderr)  # the imports below take seconds
    import pyarrow.fs as pafs

    from storage.errors import StorageError
    from storage.writing import whole_file
    from tasks.summary.exports import FORMATS
    from tasks.summary.pipeline import check_request, summarize
    from tasks.summary.sources import read_sources
    from tasks.summary.systems import find_system

    try:
        given = read_sources(options.sources, options.settings.max_bytes, sys.stdin.buffer)
        check_request(options.title, given, options.settings)
        summary, _ = summarize(
            options.title,
            given,
            find_system(options.model),
            options.settings,
            choice=options.system,
            progress=lambda now: print(f"{100 * now.share:3.0f} %  {now.text}", file=sys.stderr),
        )
        written = FORMATS[options.format][1](summary)
        if options.output is None:
            print(written, end="")
        else:
            with whole_file(pafs.LocalFileSystem(), str(Path(options.output).resolve())) as file:
                file.write(written.encode())
            print(f"written to {options.output}", file=sys.stderr)
        return 0 if summary.sentences else 1
    except StorageError as error:
        raise ValueError(error) from error
