"""Serve the mini web for people to look at: python -m tasks.sources.miniweb --topics 400 --port 8080."""

import argparse
import sys
import threading

from tasks.sources.miniweb import MiniwebServer, MiniwebSettings


def main() -> None:
    """Serve until interrupted; the front page lists hosts and topics."""
    defaults = MiniwebSettings()
    parser = argparse.ArgumentParser(prog="python -m tasks.sources.miniweb", description=__doc__)
    for name in ("topics", "seed", "week", "hosts", "port"):
        about = MiniwebSettings.model_fields[name].description
        parser.add_argument(f"--{name}", type=int, default=getattr(defaults, name), help=f"{about} (%(default)s)")
    settings = MiniwebSettings(**vars(parser.parse_args()))
    with MiniwebServer(settings, count_requests=False) as server:
        sys.stdout.write(f"{settings.topics_now} topics at http://{server.address}/ (end with Ctrl-C)\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stdout.write("\n")


if __name__ == "__main__":
    main()
