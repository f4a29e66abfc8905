"""The metrics of a run as JSON lines: each is durable once written, and a resumed run continues the file."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.training.checkpoints import write_text_atomically


class MetricsLog:
    """The file `metrics.jsonl` of a run; every line has a `step`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a line and make it durable; numbers that JSON lacks (NaN, infinity) become null."""
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(finite) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def truncate(self, step: int) -> None:
        """Remove the lines of later steps and a line cut short by a kill: the run continues from `step`. Afterwards the
        file exists, even if empty: it is published with the model."""
        records = read_metrics(self.path) if self.path.exists() else []
        kept = [json.dumps(record) + "\n" for record in records if record["step"] <= step]
        write_text_atomically(self.path, "".join(kept))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of a metrics file; a last line cut short by a kill is left out. Raises ValueError: another
    line is not JSON; the message gives its number."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.endswith("\n"):
            break
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{path}:{number} is not a JSON line: {error}") from error
    return records
