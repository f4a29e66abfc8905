"""The curve of `benchmarks.pretraining_curve` as pictures like those of a report.

    python -m benchmarks.pretraining_picture FOLDER

Reads FOLDER/curve.json, which that benchmark writes, and draws FOLDER/curve-METRIC.png for each figure: a line for each
first weights, a point for each number of training articles.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.evaluation.registry import metric_name
from tasks.reporting.curves import Curve
from tasks.reporting.plots import curve_picture

CURVE = "curve.json"
NLL = "validation_nll"


def curves(found: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """Return a curve for each figure of the benchmark's rows, which have `articles`, `start` and `figures`, by name."""
    drawn = []
    for name in dict.fromkeys(name for row in found for name in row["figures"]):
        label = "validation nll (nats per token)" if name == NLL else f"{metric_name(name)} (%)"
        factor = 1 if name == NLL else 100
        series: dict[str, list[tuple[float, float]]] = {}
        for row in found:
            # Undefined where no summary has what it counts.
            if row["figures"].get(name) is not None:
                series.setdefault(row["start"], []).append((row["articles"], factor * row["figures"][name]))
        if series:
            drawn.append(Curve(f"curve-{name}", "Worth of pre-training", label, series, "training articles"))
    return drawn


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="pictures of the pre-training curve")
    parser.add_argument("folder", type=Path, help="that of benchmarks.pretraining_curve")
    folder = parser.parse_args().folder
    if not (folder / CURVE).is_file():
        parser.error(f"expected {CURVE} in {folder}, which benchmarks.pretraining_curve writes, found none")
    for curve in curves(json.loads((folder / CURVE).read_text())):
        (folder / f"{curve.name}.png").write_bytes(curve_picture(curve))
        print(folder / f"{curve.name}.png")


if __name__ == "__main__":
    main()
