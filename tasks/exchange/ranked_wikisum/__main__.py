"""Export a root's examples and vocabulary as ranked WikiSum or GraphSum shards.

Run the same command again to continue: finished shards are skipped.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import get_args

from storage.errors import StorageError
from storage.formats.ranked_wikisum import Layout
from storage.root import check_root
from storage.store import Store
from tasks.exchange.ranked_wikisum.exporting import export_corpus

_PROGRAM = "python -m tasks.exchange.ranked_wikisum"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options and export; return the exit code: 0, 1 for an error, 2 for a wrong option."""
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("folder", help="folder or URI that gets the shards and the vocabulary")
    parser.add_argument("--root", required=True, help="folder or URI of the corpus")
    parser.add_argument("--build", help="build to export (default: the latest)")
    layouts = "pt (Liu & Lapata) | json (GraphSum, with graphs)"
    parser.add_argument("--layout", choices=get_args(Layout), default="pt", help=layouts)
    parser.add_argument("--name", default="WIKI", help="first part of the shards' file names")
    options = parser.parse_args(arguments)
    if not re.fullmatch(r"[\w-]+", options.name):
        parser.error(f"--name is {options.name!r}: expected letters, digits, _ and - alone")
    try:
        store = Store(options.root)
        check_root(store)
        export_corpus(store, Store(options.folder), options.layout, options.name, options.build, _say)
    except (StorageError, ValueError, OSError) as error:
        sys.stderr.write(f"{_PROGRAM} stopped: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; finished shards are kept: run the same command again to continue\n")
        return 130
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
