"""Export a root's examples and vocabulary as ranked WikiSum or GraphSum shards.

Run the same command again to continue: finished shards are skipped.
"""

import argparse
import sys
from collections.abc import Sequence

from pydantic import ValidationError

from storage.errors import StorageError
from storage.root import check_root
from storage.store import Store
from tasks.exchange.ranked_wikisum.exporting import export_corpus
from tasks.exchange.ranked_wikisum.settings import ExportSettings

_PROGRAM = "python -m tasks.exchange.ranked_wikisum"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options and export; return the exit code: 0, 1 for an error, 2 for a wrong option."""
    options = _parser().parse_args(arguments)
    try:
        settings = ExportSettings(**{name: getattr(options, name) for name in ExportSettings.model_fields})
        store = Store(options.root)
        check_root(store)
        export_corpus(store, Store(options.folder), settings, options.build, _say)
    except ValidationError as error:
        for problem in error.errors():
            sys.stderr.write(f"{_PROGRAM}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}\n")
        return 2
    except (StorageError, ValueError, OSError) as error:
        sys.stderr.write(f"{_PROGRAM} stopped: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; finished shards are kept: run the same command again to continue\n")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("folder", help="folder or URI that gets the shards and the vocabulary")
    parser.add_argument("--root", required=True, help="folder or URI of the corpus")
    parser.add_argument("--build", help="build to export (default: the latest)")
    choices = {"layout": ["pt", "json"], "name": None, "sentence_marks": ["add", "keep"]}
    for name, field in ExportSettings.model_fields.items():
        about = str(field.description).replace("%", "%%")
        parser.add_argument(f"--{name.replace('_', '-')}", choices=choices[name], default=field.default, help=about)
    return parser


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
