"""Run a training on several processes of this machine with `torchrun`; to its caller it is a single task. Each process
runs `main` below. All of them inherit this process's pipe as standard input: a byte in it asks them to save and stop,
and they end when it is closed, however this process ended.

Where `torchrun` started a whole command on several machines, rank 0 runs it and shares its trainings with the others,
which read the inputs from the root themselves and write nothing there."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import asdict, replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeVar

import cloudpickle

from models.training.checkpoints import write_bytes_atomically
from models.training.distributed import TRAININGS, shared_store
from models.training.state import TrainingError, TrainingProgress, TrainingStopped
from models.training.stopping import stop_on_sigterm, stop_trainings
from storage.store import Store
from tasks.engine.job import Job, call

T = TypeVar("T")
JOB, OUTCOME = "job.pickle", "outcome-{rank}.json"  # in a folder for one run
PROGRESS = "@progress "  # begins a line whose rest is a TrainingProgress as JSON
# Errors whose message is all that people need; of others the log shows the traceback.
EXPECTED: dict[str, type[Exception]] = {
    "stopped": TrainingStopped,
    "training": TrainingError,
    "value": ValueError,
    "os": OSError,
}
_LAST_LINES = 20  # of the log, in the message of an error
_POLL_SECONDS = 1.0  # between checks for a stop, whose request is repeated, since a process may start late
_END_SECONDS = 60.0  # for processes to notice that their standard input has ended
_log = logging.getLogger(__name__)


def run_processes(
    function: Callable[..., T],
    arguments: Mapping[str, Any],
    processes: int,
    progress: Callable[[TrainingProgress], None] | None = None,
) -> T:
    """Call a training function in several processes of a process group and return what rank 0 returned.

    The function takes `arguments` and `progress`, which gets here what rank 0 reports, and returns what JSON can hold;
    its errors are raised here. Raises TrainingStopped: SIGTERM or `stop_trainings` came, and a checkpoint was saved.
    ValueError, OSError: the function raised it, the latter for example on a full disk. TrainingError: the function
    raised it, or a process ended in another way, such as killed for its memory. Then the error has the log's last
    lines."""
    with TemporaryDirectory(prefix="torchrun-") as name, stop_on_sigterm() as stop:
        folder = Path(name)
        (folder / JOB).write_bytes(cloudpickle.dumps((function, dict(arguments))))
        path = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"),
                *(f"--log-dir={name}", "-m", "tasks.engine.torchrun", name),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # The trainings set their number of threads themselves; without the variable `torchrun` prints a banner.
            env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C in a terminal is for this process, which asks the others to save
        )
        assert process.stdin is not None
        assert process.stdout is not None
        last: deque[str] = deque(maxlen=_LAST_LINES)
        # In this thread's context, by which Prefect knows whose log lines and progress it gets.
        reading = partial(copy_context().run, _read, process.stdout, last, progress)
        reader = threading.Thread(target=reading, daemon=True)
        reader.start()
        try:
            while process.poll() is None:
                if stop.wait(_POLL_SECONDS):
                    with suppress(BrokenPipeError):  # where all have ended; one message stands for the others
                        process.stdin.write("s")
                        process.stdin.flush()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_POLL_SECONDS)
        finally:
            _end(process, process.stdin, reader)
        outcome: T = _outcome(folder, process.returncode, processes, last)
        return outcome


def _end(process: subprocess.Popen[str], pipe: IO[str], reader: threading.Thread) -> None:
    """End every process; once the log is at its end, none is left that writes to it."""
    with suppress(BrokenPipeError):
        pipe.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    reader.join(_END_SECONDS)
    if reader.is_alive():
        _log.warning("a process of a training has not ended within %.0f s", _END_SECONDS)


def _read(log: IO[str], last: "deque[str]", progress: Callable[[TrainingProgress], None] | None) -> None:
    """Pass progress on, and log the other lines."""
    for line in log:
        if line.startswith(PROGRESS):
            if progress is not None:
                progress(TrainingProgress.from_json(json.loads(line.removeprefix(PROGRESS))))
        elif line.strip():
            last.append(line.rstrip())
            _log.info("%s", line.rstrip())


def _outcome(folder: Path, status: int | None, processes: int, last: "deque[str]") -> Any:
    """Return rank 0's result, or raise the first rank's error."""
    paths = [folder / OUTCOME.format(rank=rank) for rank in range(processes)]
    outcomes = [json.loads(path.read_text()) for path in paths if path.exists()]
    for outcome in outcomes:
        if "error" in outcome:
            raise EXPECTED[outcome["error"]](*outcome["arguments"])
    if status or len(outcomes) < processes:
        lines = "\n".join(last)
        raise TrainingError(
            f"training on {processes} processes ended with exit status {status}; the last lines of its log:\n{lines}"
        )
    return outcomes[0]["result"]


def run_on_machines(command: Callable[[], int]) -> int:
    """Run a command on rank 0 and let the other processes join its trainings; return the exit code."""
    if not int(os.environ["RANK"]):
        try:
            return command()
        finally:
            _tell(b"")
    store = shared_store()
    for number in count(1):
        while not store.check([_key(number)]):
            time.sleep(_POLL_SECONDS)
        told = store.get(_key(number))
        if not told:
            break
        job: Job = cloudpickle.loads(told)
        with TemporaryDirectory(prefix="torchrun-") as folder:
            call(job, Store(job.root), directory=Path(folder))
    return 0


def hand_out(job: Job) -> None:
    """Let the other processes begin the training of a job."""
    _tell(cloudpickle.dumps(replace(job, context={**job.context, "progress": None})))


def _tell(what: bytes) -> None:
    store = shared_store()
    store.set(_key(store.add(TRAININGS, 1)), what)  # type: ignore[arg-type]  # the stub knows no bytes


def _key(number: int) -> str:
    return f"job-{number}"


def main() -> int:
    """Be one process of a training: call the function in the folder given, leave result or error; return the code."""
    folder, rank = Path(sys.argv[1]), int(os.environ["RANK"])
    threading.Thread(target=_listen, name="stop", daemon=True).start()
    function, arguments = cloudpickle.loads((folder / JOB).read_bytes())
    try:
        outcome = {"result": function(**arguments, progress=_report if rank == 0 else None)}
    except tuple(EXPECTED.values()) as error:
        name = next(name for name, kind in EXPECTED.items() if isinstance(error, kind))
        details: list[object] = [str(error)]
        if isinstance(error, OSError) and error.errno is not None:
            details = [error.errno, error.strerror, error.filename]
        outcome = {"error": name, "arguments": details}
    write_bytes_atomically(folder / OUTCOME.format(rank=rank), json.dumps(outcome).encode())
    # All processes stop together. After another error `torchrun` has to end those that wait for this one.
    return int(outcome.get("error", "stopped") != "stopped")


def _listen() -> None:
    """Stop the training at each byte of standard input, and end this process when standard input closes."""
    while os.read(sys.stdin.fileno(), 1):
        stop_trainings()
    os._exit(1)


def _report(progress: TrainingProgress) -> None:
    print(f"{PROGRESS}{json.dumps(asdict(progress))}", flush=True)  # noqa: T201 - `_read` takes it up


if __name__ == "__main__":
    sys.exit(main())
