"""The start of `wikisum` and `python -m flows`. It imports almost nothing, so that a Ctrl-C during the slow imports
after it ends with one line, like any later one."""

import sys
from typing import NoReturn

from flows.running.ending import end


def main() -> NoReturn:
    """Answer the command line and exit (`flows.running.commands.main`)."""
    try:
        from flows.running import commands
    except KeyboardInterrupt:
        print(f"{' '.join(['wikisum', *sys.argv[1:2]])} interrupted; nothing was begun", file=sys.stderr)
        sys.exit(130)
    try:
        commands.main()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            end(ended.code)
        raise


if __name__ == "__main__":
    main()
