"""Small files in the layouts of published corpora, in words of our own."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FIRE = "The mill at Arlen burned down on Monday night. Nobody was hurt."
CAUSE = "Firemen say that a lamp had been left alight in the store of the mill at Arlen."
OWNER = "Its owner, Ruth Ames, wants to build it up again before the winter."
SUMMARY = "A lamp set the mill at Arlen on fire; its owner will rebuild it."


def multi_news(folder: Path, split: str, sources: Sequence[str], targets: Sequence[str]) -> Path:
    """Write parallel lines and return the file of the sources."""
    (folder / f"{split}.tgt").write_text("".join(f"{line}\n" for line in targets), encoding="utf-8")
    (folder / f"{split}.src").write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
    return folder / f"{split}.src"


def json_lines(path: Path, *rows: Any) -> Path:
    """Write a line per row; a row that is a string as it stands. Gzip if the name says so."""
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def json_array(path: Path, *rows: Any) -> Path:
    """Write the rows as one array."""
    text = json.dumps(rows, indent=1)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def comma_separated(path: Path, columns: Sequence[str], *rows: Sequence[str]) -> Path:
    """Write a header and the rows."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([columns, *rows])
    return path


def news(number: int, **columns: Any) -> Mapping[str, Any]:
    """Return an article of a cluster of WCEP."""
    return {
        "id": f"a{number}",
        "url": f"http://news.test/{number}",
        "title": f"Report {number}",
        "text": f"{FIRE} {number}",
        "origin": "CommonCrawl",
        **columns,
    }
