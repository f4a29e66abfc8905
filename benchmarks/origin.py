"""Date and author that pages state, against those that people took from them, and what finding them costs.

A date is right if it is that of the label; many labels have the day of the last change. An author is right if one name
holds the other. Cost: processor time a page, beside that of extraction on the same pages.

    python -m benchmarks.origin ../shared/data/wcxb --every 5"""

import gzip
import json
import time
from collections import Counter
from pathlib import Path

from benchmarks.frame import command
from tasks.extraction.engines import extract
from tasks.extraction.markup import decode, parse
from tasks.extraction.origin import page_origin
from tasks.extraction.settings import ExtractSettings


def measure(folder: Path, every: int) -> tuple[Counter[str], float, float]:
    """Return counts of dates and authors, and milliseconds a page of extraction and of finding these."""
    counts, extraction, finding = Counter[str](), 0.0, 0.0
    settings = ExtractSettings()
    for path in sorted((folder / "ground-truth").glob("*.json"))[::every]:
        truth = json.loads(path.read_text(encoding="utf-8"))["ground_truth"]
        body = gzip.decompress((folder / "html" / f"{path.stem}.html.gz").read_bytes())
        tree = parse(decode(body, None))
        if tree is None:
            continue
        _held = list(tree.iter())  # as in extraction
        started = time.process_time()
        origin = page_origin(tree)
        finding += time.process_time() - started
        started = time.process_time()
        extract(body, "text/html", None, settings)
        extraction += time.process_time() - started
        date, author = (truth.get("publish_date") or "")[:10], (truth.get("author") or "").lower()
        stated = (origin.author or "").lower()
        counts["pages"] += 1
        counts += Counter({"dates": bool(date), "authors": bool(author)})
        counts += Counter({"dates found": bool(date and origin.date), "authors found": bool(author and stated)})
        counts["dates right"] += bool(date) and origin.date == date
        counts["authors right"] += bool(author and stated) and (stated in author or author in stated)
    return counts, 1000 * extraction / counts["pages"], 1000 * finding / counts["pages"]


def main(folder: Path, *, every: int = 1) -> None:
    """Measure each n-th page of a folder of WCXB."""
    measure(folder, 200)  # what is loaded at the first page is not a page's cost
    counts, extraction, finding = measure(folder, every)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    print(f"extraction {extraction:.1f} ms a page, of which date, author and site {finding:.1f}")


if __name__ == "__main__":
    command(main, __doc__)
