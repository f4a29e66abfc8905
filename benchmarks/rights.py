"""The cost of the columns on rights, language, quality and personal data for a page, compared with its extraction in
the same run.

Pages are read from a folder of HTML files (gzip or not) or a WARC file; each goes through both in turn, so that a busy
machine slows both alike, and figures are processor time. Hits can be printed to be read by eye: `--half 0` to tune
rules on the sites of one half, `--half 1` to report on those of the other.

    python -m benchmarks.rights ../shared/data/wikigraph/pages.warc.gz --pages 200
    python -m benchmarks.rights ../shared/data/wikigraph/pages.warc.gz --half 1 --show 30"""

import gzip
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from warcio.archiveiterator import ArchiveIterator

from benchmarks.frame import command
from tasks.engine.hashing import unit_interval
from tasks.extraction.documents import page_columns
from tasks.extraction.engines import Extracted, extract
from tasks.extraction.markup import decode, parse
from tasks.extraction.settings import ExtractSettings
from tasks.rights.claims import page_claim
from tasks.rights.reservations import page_reservations
from tasks.rights.text_columns import count_personal, find_personal, language_of, quality_signals

_GOAL = 0.10  # of extraction's processor time
_SETTINGS = ExtractSettings()
_AROUND = 40  # characters shown around a hit


def read_pages(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield address and body of every page of a WARC file, or of a folder of HTML files."""
    if source.is_dir():
        for file in sorted(source.iterdir()):
            yield file.name, gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        return
    with source.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response":
                yield record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read()


def in_half(url: str, half: int | None) -> bool:
    """Tell whether a page's site is in a half of the sites, drawn by its name."""
    return half is None or (unit_interval("rights", urlsplit(url).netloc or url) < 0.5) == (half == 0)


def measure(source: Path, most: int, half: int | None) -> tuple[int, Counter[str]]:
    """Return the number of pages and the processor seconds of each part."""
    number, seconds = 0, Counter[str]()

    def timed(part: str, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        result = function(*arguments)
        seconds[part] += time.process_time() - start
        return result

    language_of(["The first call loads the model of languages, which takes a second."])
    for url, body in islice((page for page in read_pages(source) if in_half(page[0], half)), most):
        text = decode(body, "utf-8")
        tree = parse(text)
        if tree is None:
            continue
        timed("licence", page_claim, text, tree)
        timed("reservations", page_reservations, tree)
        results: Extracted = timed("extraction", extract, body, "text/html", "utf-8", _SETTINGS)
        timed("columns", page_columns, results, url, ())
        if results.paragraphs:
            timed("language", language_of, results.paragraphs)
            timed("quality", quality_signals, results.paragraphs)
            timed("personal data", count_personal, results.paragraphs)
        number += 1
    return number, seconds


def show_hits(source: Path, most: int, half: int | None) -> None:
    """Print hits of every kind, at most one of a kind a site and `most` of a kind, to be read by eye."""
    shown: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for url, body in read_pages(source):
        if not in_half(url, half):
            continue
        result = extract(body, "text/html", "utf-8", _SETTINGS)
        columns = page_columns(result, url, ())
        hits = [("licence", f"{columns['licence']} ({columns['licence_source']})")] if columns["licence_source"] else []
        hits += [("reservation", sign) for sign in columns["reservations"]]
        if result.paragraphs and columns["language"] != "en":
            hits.append(("language", f"{columns['language']}: {max(result.paragraphs, key=len)[:80]}"))
        for text in result.paragraphs:
            for piece in find_personal(text):
                before, after = text[max(0, piece.start - _AROUND) : piece.start], text[piece.end :][:_AROUND]
                hits.append((piece.kind, f"{before} [[{text[piece.start : piece.end]}]] {after}"))
        for kind, hit in hits:
            site = (kind, urlsplit(url).netloc)
            if shown[kind] < most and site not in seen:
                seen.add(site)
                shown[kind] += 1
                print(f"{kind:12} {url[:70]}\n             {hit}")


def main(source: Path, pages: int = 200, half: Literal[0, 1] | None = None, show: int = 0) -> int:
    """Print the cost, or hits; 1 if the cost passes the goal."""
    if show:
        show_hits(source, show, half)
        return 0
    number, seconds = measure(source, pages, half)
    ours = seconds["licence"] + seconds["reservations"] + seconds["columns"]
    # `extract` looks for licence and reservations itself: its own share is what is left.
    extraction = seconds["extraction"] - seconds["licence"] - seconds["reservations"]
    print(f"{number} pages, core-milliseconds a page:")
    for part in ("licence", "reservations", "language", "quality", "personal data"):
        print(f"  {part:14} {1e3 * seconds[part] / number:8.2f}")
    print(f"  {'together':14} {1e3 * ours / number:8.2f}\n  {'extraction':14} {1e3 * extraction / number:8.2f}")
    print(f"share of extraction: {ours / extraction:.1%} (goal: at most {_GOAL:.0%})")
    return int(ours > _GOAL * extraction)


if __name__ == "__main__":
    command(main, __doc__)
