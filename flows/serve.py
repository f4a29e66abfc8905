"""`wikisum serve`: Prefect server, work pool, deployments, a worker and the page for summaries, until Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings
from rich.console import Console

from flows.running.checks import BACKUP, large_database, missed_schedules, root_faults, watching
from flows.running.child_processes import how_it_ended, listening, start, stop, wait_for_api
from flows.running.command_line import Stopped
from flows.running.faults import Fault
from flows.running.metrics_server import metrics_address, serving_metrics
from flows.running.operator import Operator, deployments_of, on_the_server, overwritten
from flows.running.prefect_server import start_server
from flows.running.prefect_setup import (
    SILENCE,
    SILENCE_ON_SQLITE,
    create_automations,
    create_work_pool,
    deploy,
    resume_schedules,
)
from flows.running.profile import PROFILE, keep_profile, kept_credentials, leave_profile, profiles_file
from flows.running.serve_options import CREDENTIALS, Options, environment_of, options_of, web_address
from flows.running.settings import WEBHOOK
from storage.store import Store

_START_SECONDS = 180.0
_STOP_SECONDS = 15.0
_WORKER_STOP_SECONDS = 90.0  # a training saves a checkpoint before it stops
_POLL_SECONDS = 0.5
_SQLITE = "SQLite, for one run at a time (DATABASE_URL names a PostgreSQL database for more)"
_PREFECT = (sys.executable, "-m", "prefect")


def serve(
    host: str,
    port: int,
    pool: str,
    longest: float,
    operator: Operator,
    *,
    upkeep: bool = False,
    metrics: str | None = None,
) -> int:
    """Serve until a signal comes; return the exit code. Raises Stopped, or ValueError for a wrong option. A run that
    takes the `longest`, hours, raises an alarm; `operator`: what is changed of the deployments; `upkeep` is on a
    schedule; `metrics` is where /metrics listens."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes background processes ignore it
    try:
        kept = kept_credentials()
        options = options_of(host, port, pool, os.environ, kept, operator.place)
        with ExitStack() as stack:
            figures = None
            if metrics is not None:
                opened = stack.enter_context(serving_metrics(metrics, options.root, options.auth))
                figures = f"{web_address(metrics_address(metrics)[0], opened)}/metrics"
            running = serving(options, operator, timedelta(hours=longest), console, upkeep=upkeep, figures=figures)
            children = stack.enter_context(running)
            while not (ended := [name for name, child in children.items() if child.poll() is not None]):
                time.sleep(_POLL_SECONDS)
            how = how_it_ended(children[ended[0]].returncode)  # now: the others are stopped where the block ends
        raise Stopped(f"the {ended[0]} {how}; its output is above")
    except KeyboardInterrupt:
        console.print("stopped; finished shards are kept")
        return 0


@contextmanager
def serving(
    options: Options,
    operator: Operator,
    longest: timedelta,
    console: Console,
    *,
    upkeep: bool,
    figures: str | None = None,
) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
    """Run server, worker and page during the block; the server ends last. `figures`: the URL of /metrics, to be shown.
    Raises Stopped: one does not start."""
    environment = environment_of(options)
    with ExitStack() as stack:
        console.print(f"starting the Prefect server at {options.ui} ...", markup=False)
        with listening(options.host, options.port) as opened:  # from here on the port is the server's
            server = start_server(opened, "permanent", environment, quiet=True)
        stack.callback(stop, server, _STOP_SECONDS)
        if not wait_for_api(options.api, server, _START_SECONDS):
            raise Stopped(f"the Prefect server did not start within {_START_SECONDS:.0f} s; its log is above")
        with temporary_settings({PREFECT_API_URL: options.api, PREFECT_API_AUTH_STRING: options.auth}):
            create_work_pool(options.pool, "process")
            silence = SILENCE if options.database else SILENCE_ON_SQLITE
            create_automations(os.environ.get(WEBHOOK), longest=longest, silence=silence)
            before = on_the_server()
            deploy(environment, deployments_of(operator))
            kept_up = ["verify", "prune", *(["backup"] if os.environ.get(BACKUP) else [])] if upkeep else []
            off = {name for name, schedule in operator.schedules.items() if schedule is False}
            resume_schedules([name for name in kept_up if name not in off])
            for line in overwritten(before, on_the_server()):
                console.print(line, markup=False)
        scheduled = sorted({"retrain", *kept_up, *operator.schedules} - off)
        worker = start([*_PREFECT, "worker", "start", "--pool", options.pool, "--type", "process"], environment)
        stack.callback(stop, worker, _WORKER_STOP_SECONDS)
        page = start(options.page_command, environment)
        stack.callback(stop, page, _STOP_SECONDS)
        is_new = options.auth not in (kept_credentials(), os.environ.get(CREDENTIALS))
        is_active = keep_profile(options.api, options.auth)
        stack.callback(leave_profile, options.api)
        console.print(_directions(options, figures, is_new=is_new, is_active=is_active), markup=False)
        stack.enter_context(watching(partial(_faults, options, scheduled)))
        stack.callback(console.print, "stopping ...")
        yield {"server": server, "worker": worker, "page": page}


def _faults(options: Options, scheduled: Sequence[str]) -> Iterator[Fault]:
    """Yield the faults of root and server."""
    with temporary_settings({PREFECT_API_URL: options.api, PREFECT_API_AUTH_STRING: options.auth}):
        yield from root_faults(Store(options.root))
        yield from large_database(options.database)
        yield from missed_schedules(scheduled)


def _directions(options: Options, figures: str | None, *, is_new: bool, is_active: bool) -> str:
    """Return what a person needs; a password is shown when it is new, and never again."""
    kept = f"the profile {PROFILE} in {profiles_file()}"
    shown = f"{options.auth}    (shown once; kept in {kept})" if is_new else f"the password of {kept}"
    prefect = Path(sys.executable).with_name("prefect")
    program = str(prefect.relative_to(Path.cwd()) if prefect.is_relative_to(Path.cwd()) else prefect)
    profile = "" if is_active else f"--profile {PROFILE} "
    lines = [
        f"Prefect UI     {options.ui}",
        f"summaries      {options.page}",
        *([f"metrics        {figures}"] if figures else []),
        f"root           {options.root}",
        f"database       {'PostgreSQL' if options.database else _SQLITE}",
        f"sign in with   {shown}",
        "start a run    in another shell:",
        *([f"    export PREFECT_HOME={os.environ['PREFECT_HOME']}"] if "PREFECT_HOME" in os.environ else []),
        f"    {program} {profile}deployment run build-wikisum/build-wikisum --watch",
        "stop           Ctrl-C",
    ]
    return "\n".join(lines)
