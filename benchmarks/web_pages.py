"""Pages with their true text, of the sets that extraction is measured on and learned from: the article extraction
benchmark (news) and WCXB (seven kinds of pages; Foley 2026)."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tld import get_fld


@dataclass(frozen=True)
class LabelledPage:
    """A page and the text that people took from it."""

    html: bytes
    truth: str
    site: str  # its registered domain
    kind: str = "news"
    required: tuple[str, ...] = ()  # pieces of text that an extraction must have
    forbidden: tuple[str, ...] = ()  # and that it must not have


def read_news(folder: Path) -> list[LabelledPage]:
    """Return the pages of a folder with `ground-truth.json` and `html/{name}.html.gz`, in the order of their names."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        LabelledPage(_html(folder, name), truth[name]["articleBody"], _site(truth[name]["url"], name))
        for name in sorted(truth)
    ]


def read_wcxb(folder: Path) -> list[LabelledPage]:
    """Return the pages of a folder with `ground-truth/{name}.json` and `html/{name}.html.gz`, by name."""
    pages = []
    for path in sorted((folder / "ground-truth").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        truth = record["ground_truth"]
        pages.append(
            LabelledPage(
                _html(folder, path.stem),
                truth.get("main_content") or "",
                _site(record.get("url") or "", path.stem),
                record["_internal"]["page_type"]["primary"],
                tuple(truth["with"] or ()),
                tuple(truth["without"] or ()),
            )
        )
    return pages


def _html(folder: Path, name: str) -> bytes:
    return gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())


def _site(url: str, name: str) -> str:
    return get_fld(url, fail_silently=True) or urlsplit(url).netloc or name
