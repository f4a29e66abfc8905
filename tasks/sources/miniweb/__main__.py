"""Serve the mini web for people to look at: python -m tasks.sources.miniweb --topics 400 --port 8080."""

import argparse
import contextlib
import sys
import threading

from tasks.sources.miniweb.server import MiniwebServer
from tasks.sources.settings import MiniwebSettings

if __name__ == "__main__":  # until interrupted; the front page lists hosts and topics
    parser = argparse.ArgumentParser(prog="python -m tasks.sources.miniweb", description=__doc__)
    for name in ("topics", "seed", "week", "hosts", "port"):
        field = MiniwebSettings.model_fields[name]
        parser.add_argument(f"--{name}", type=int, default=field.default, help=f"{field.description} (%(default)s)")
    settings = MiniwebSettings(**vars(parser.parse_args()))
    with MiniwebServer(settings, count_requests=False) as server, contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(f"{settings.topics_now} topics at http://{server.address}/ (end with Ctrl-C)\n")
        sys.stdout.flush()
        threading.Event().wait()
