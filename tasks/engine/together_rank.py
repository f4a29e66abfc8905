"""One process of `tasks.engine.together`, started by `torchrun` with the folder of the run."""

import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import cloudpickle

from models.training.checkpoints import write_text_atomically
from models.training.state import TrainingProgress
from models.training.stopping import stop_trainings
from tasks.engine.together import EXPECTED, JOB, OUTCOME, PROGRESS


def main() -> int:
    """Call the function of the run and leave its result or its error in the folder."""
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
    write_text_atomically(folder / OUTCOME.format(rank=rank), json.dumps(outcome))
    # All processes stop together. After another error `torchrun` has to end those that wait for this one.
    return int(outcome.get("error", "stopped") != "stopped")


def _listen() -> None:
    """Stop the training at each byte of standard input, and end this process when standard input closes."""
    while os.read(sys.stdin.fileno(), 1):
        stop_trainings()
    os._exit(1)


def _report(progress: TrainingProgress) -> None:
    sys.stdout.write(f"{PROGRESS}{json.dumps(asdict(progress))}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
