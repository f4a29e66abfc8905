"""Processor time of what lets a build run for years, part by part: budgets, figures over time, traces and alarms.

    python -m benchmarks.operating [--topics N] [--more OPTION=VALUE ...]

A build of the mini web runs as people run it, with nothing of it switched on, and then with a limit of hours, a file of
metrics, and spans that a receiver on loopback takes (packages of `docs/operations.md`; without them no spans). Each of
its processes counts what its threads take in the functions of `PARTS` and in loading modules that have nothing else; of
spans also what loading and starting the SDK takes in the run's own. The whole is that of all processes, with Prefect's
server; its automations are not counted. The exit status is 1 above 1 % with all of it on."""

import atexit
import builtins
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import getattr_static
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.frame import command, processor_seconds

BAR = 0.01
PARTS = {  # module -> part, and what is counted of it
    "storage.spending": ("budgets", ("Ledger.__init__", "Ledger.add", "Ledger.close", "Account.spent", "spent")),
    "flows.running.estimates": ("budgets", ("month_line", "shown_spending")),
    "flows.running.metrics": ("metrics", ("registry", "metrics_file")),
    "prometheus_client": ("metrics", ("write_to_textfile",)),
    "flows.running.display": ("traces", ("span", "add_shard")),
    "opentelemetry.exporter.otlp.proto.http.trace_exporter": ("traces", ("OTLPSpanExporter.export",)),
    "flows.running.notification": ("alarms", ("notify", "report_full_disk", "report_refused")),
}
OWN = ("storage.spending", "flows.running.metrics", "flows.running.notification")  # others have more than that
SPANS, FOLDER = "OTEL_EXPORTER_OTLP_ENDPOINT", "OPERATING_COUNTS"
_seconds, _calls, _within = Counter[str](), Counter[str](), threading.local()


@contextmanager
def counting(part: str) -> Iterator[None]:
    """Count the thread's processor time in the block, unless it is within another one."""
    if getattr(_within, "part", None):
        yield
        return
    _within.part, started = part, time.thread_time()
    try:
        yield
    finally:
        _within.part = None
        _seconds[part] += time.thread_time() - started  # type: ignore[assignment]
        _calls[part] += 1


class Edges(AbstractContextManager[Any]):
    """A context manager whose beginning and end are counted, not its block."""

    def __init__(self, part: str, block: AbstractContextManager[Any]) -> None:
        self._part, self._block = part, block

    def __enter__(self) -> Any:
        with counting(self._part):
            return self._block.__enter__()

    def __exit__(self, *error: Any) -> Any:
        with counting(self._part):
            return self._block.__exit__(*error)


def counted(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, with its calls counted."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with counting(part):
            result = function(*arguments, **named)
        return Edges(part, result) if isinstance(result, AbstractContextManager) else result

    return call


def count_module(module: ModuleType) -> None:
    """Count the functions of a module that was just loaded, and loading it again: all that it imports is there now."""
    part, functions = PARTS[module.__name__]
    if module.__name__ in OWN:
        with counting(part):
            importlib.reload(module)
    for place, _, name in (one.rpartition(".") for one in functions):
        owner = getattr(module, place, module)
        setattr(owner, name, counted(part, getattr_static(owner, name)))


def install() -> None:
    """Count in this process, and leave the counts in a file when it ends."""
    load, left = builtins.__import__, set(PARTS)

    def loading(*given: Any, **named: Any) -> Any:
        loaded = load(*given, **named)
        for name in left & sys.modules.keys():
            if not getattr(sys.modules[name].__spec__, "_initializing", False):
                left.discard(name)
                count_module(sys.modules[name])
        return loaded

    def leave() -> None:
        found = json.dumps({"process": time.process_time(), "seconds": _seconds, "calls": _calls})
        Path(os.environ[FOLDER], f"{os.getpid()}.json").write_text(found)

    builtins.__import__ = loading
    atexit.register(leave)
    if os.environ.get(SPANS) and "flows" in sys.orig_argv:  # the run's own process
        with counting("traces"):
            importlib.import_module("opentelemetry.instrumentation.auto_instrumentation").initialize()


@contextmanager
def receiver() -> Iterator[str]:
    """Take spans on loopback; yield where."""

    class Taken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Taken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def build(name: str, options: list[str], environment: dict[str, str]) -> float:
    """Build in a process of its own; print what each part took, and return the share of all of them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text("import benchmarks.operating as it\n\nit.install()\n")
        (counts := Path(folder, "counts")).mkdir()
        own = {"PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parents[1]}", "PREFECT_HOME": f"{folder}/prefect"}
        own |= {"PREFECT_API_URL": "", FOLDER: str(counts)}
        call = [sys.executable, "-m", "flows", "build", "--root", f"{folder}/data", *options]
        before = processor_seconds()
        done = subprocess.run(call, env={**os.environ, **own, **environment}, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"the build failed:\n{(done.stdout + done.stderr).decode()[-3000:]}")
        whole, each = processor_seconds() - before, [json.loads(file.read_text()) for file in counts.iterdir()]
    seen, total = sum(one["process"] for one in each) / whole, 0.0
    print(f"{name}: {whole:.1f} s of processor time, {seen:.0%} of it in the {len(each)} processes that counted")
    for part in dict.fromkeys(part for part, _ in PARTS.values()):
        seconds, calls = (sum(one[what].get(part, 0) for one in each) for what in ("seconds", "calls"))
        total += seconds
        print(f"    {part:8}{1000 * seconds:9.1f} ms in {calls:6,} calls{seconds / whole:10.3%}")
    print(f"    all{1000 * total:14.1f} ms{total / whole:26.3%}", flush=True)
    return total / whole


def main(topics: int = 24, more: tuple[str, ...] = ()) -> int:
    """Print the figures; return the exit status. `more` are further options of the build, without dashes."""
    build("off", options := [f"--source.miniweb.topics={topics}", *(f"--{one}" for one in more)], {})
    with tempfile.TemporaryDirectory() as folder, receiver() as address:
        on = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_METRICS_EXPORTER": "none"}
        on |= {"OTEL_LOGS_EXPORTER": "none", "WIKISUM_METRICS": f"{folder}/wikisum.prom", SPANS: address}
        if importlib.util.find_spec("opentelemetry.instrumentation") is None:
            print("no spans are sent: pip install opentelemetry-distro opentelemetry-exporter-otlp")
            del on[SPANS]
        share = build("on", [*options, "--budget.month-dollars=1000"], on)
    print(f"goal {BAR:.0%} with all of it on: {'reached' if share <= BAR else 'missed'}")
    return 0 if share <= BAR else 1


if __name__ == "__main__":
    command(main, __doc__)
