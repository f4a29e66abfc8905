"""Main text extraction on pages with a true text, by kind of page, compared with other extractors in the same run.

Words: F1 of the words of a page, repetitions counted, as WCXB measures it (Foley 2026), and the shares of the required
and forbidden pieces of text. News pages also by the method of the article extraction benchmark: shingles of 4 tokens,
their precision and recall averaged over pages. Cost: processor time within one process, after a warm-up page. Our
shipped classifier has learned from these very pages; `benchmarks/main_text.py` measures it on sites that it has not.
readability-lxml takes part where it is installed; its requirements exclude those of Scrapy, another peer.

    python -m benchmarks.extraction ../shared/data/wcxb ../shared/data/extraction --every 5"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import trafilatura

from benchmarks.frame import command
from benchmarks.web_pages import LabelledPage, read_news, read_wcxb
from tasks.extraction.engines import extract
from tasks.extraction.markup import decode
from tasks.extraction.settings import ExtractSettings

_TOKEN = re.compile(r"\w+")
_SHINGLE = 4


@dataclass(frozen=True)
class Score:
    """Scores of a page's text, 0-1."""

    f1: float  # of words
    precision: float
    recall: float
    required: float  # share of the required pieces that it has
    forbidden: float  # share of the forbidden ones that it has not
    shingle_precision: float
    shingle_recall: float


def score(page: LabelledPage, text: str) -> Score:
    """Return the scores of a text extracted from a page."""
    precision, recall, f1 = word_scores(page.truth, text)
    low = text.lower()
    shares = [
        sum(piece.lower() in low for piece in pieces) / len(pieces) if pieces else float(empty)
        for pieces, empty in ((page.required, 1), (page.forbidden, 0))
    ]
    return Score(f1, precision, recall, shares[0], 1 - shares[1], *precision_recall(page.truth, text))


def word_scores(truth: str, extracted: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the words of a text, in small letters, repetitions counted."""
    true, seen = (Counter(_TOKEN.findall(text.lower())) for text in (truth, extracted))
    if not true or not seen:
        return (1.0, 1.0, 1.0) if not true and not seen else (0.0, 0.0, 0.0)
    common = sum((true & seen).values())
    precision, recall = common / sum(seen.values()), common / sum(true.values())
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def precision_recall(truth: str, extracted: str) -> tuple[float, float]:
    """Return shingle precision and recall of a text against the true one; both 1 where they are equal."""
    true, seen = _shingles(truth), _shingles(extracted)
    hits = sum((true & seen).values())
    extra, missed = sum(seen.values()) - hits, sum(true.values()) - hits
    if not extra and not missed:
        return 1.0, 1.0
    return (hits / (hits + extra) if hits else 0.0), (hits / (hits + missed) if hits else 0.0)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    tokens = _TOKEN.findall(text)
    if not tokens:
        return Counter()
    return Counter(tuple(tokens[i : i + _SHINGLE]) for i in range(max(1, len(tokens) - _SHINGLE + 1)))


def f1(scores: Sequence[tuple[float, float]]) -> float:
    """Return F1 of the averages of the pages' precision and recall."""
    precision, recall = (sum(score[i] for score in scores) / len(scores) for i in (0, 1))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scores_of(pages: Sequence[LabelledPage], texts: Sequence[str]) -> Mapping[str, list[Score]]:
    """Return the scores of the pages of each kind; `wcxb`: those of all kinds of WCXB."""
    by_kind = defaultdict[str, list[Score]](list)
    for page, text in zip(pages, texts, strict=True):
        result = score(page, text)
        by_kind[page.kind].append(result)
        if not page.kind.startswith(("news", "plain", "bare")):
            by_kind["wcxb"].append(result)
    return dict(sorted(by_kind.items(), key=lambda item: -len(item[1])))


def print_scores(name: str, by_kind: Mapping[str, Sequence[Score]]) -> None:
    """Print the means over the pages of each kind."""
    print(f"{name:<36}{'pages':>6}{'F1':>8}{'prec.':>8}{'recall':>8}{'req.':>8}{'forb.':>8}{'shingles':>10}")
    for kind, scores in by_kind.items():
        means = [
            sum(getattr(score, field) for score in scores) / len(scores)
            for field in ("f1", "precision", "recall", "required", "forbidden")
        ]
        shingles = f1([(score.shingle_precision, score.shingle_recall) for score in scores])
        print(f"  {kind:<34}{len(scores):>6}" + "".join(f"{mean:>8.4f}" for mean in means) + f"{shingles:>10.4f}")


def measure(pages: Sequence[LabelledPage], engine: Callable[[bytes], str]) -> tuple[list[str], float]:
    """Return an engine's text of each page, and its processor seconds a page."""
    engine(pages[0].html)
    start = time.process_time()
    texts = [engine(page.html) for page in pages]
    return texts, (time.process_time() - start) / len(pages)


def ours(**fields: object) -> Callable[[bytes], str]:
    """Return our extraction with settings."""
    settings = ExtractSettings.model_validate(fields)
    return lambda html: "\n".join(extract(html, "text/html", None, settings).paragraphs)


def _trafilatura(**options: bool) -> Callable[[bytes], str]:
    return lambda html: trafilatura.extract(html, **options) or ""


def _resiliparse(html: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return str(extract_plain_text(bytes_to_str(html, detect_encoding(html)), main_content=True))


def _readability(html: bytes) -> str:
    from lxml import html as lxml_html
    from readability import Document

    summary = Document(decode(html, None)).summary()
    return "\n".join(lxml_html.fromstring(summary).itertext()) if summary.strip() else ""


def _safe(engine: Callable[[bytes], str]) -> Callable[[bytes], str]:
    def text(html: bytes) -> str:
        try:
            return engine(html)
        except Exception:  # noqa: BLE001  a peer may fail on a page, and then has no text of it
            return ""

    return text


def main(wcxb: Path, news: Path, *, every: int = 1) -> None:
    """Print the tables; `every`: which WCXB pages, every first, second and so on."""
    sets = {"wcxb": read_wcxb(wcxb)[::every], "news": read_news(news)}
    engines = {
        "ours": ours(),
        "trafilatura, defaults": _trafilatura(),
        "trafilatura, no comments": _trafilatura(include_comments=False),
        "trafilatura, precision": _trafilatura(include_comments=False, favor_precision=True),
        "resiliparse": _safe(_resiliparse),
    }
    if find_spec("readability"):
        engines["readability-lxml"] = _safe(_readability)
    seconds: dict[tuple[str, str], float] = {}
    for name, engine in engines.items():
        for kind, pages in sets.items():
            texts, seconds[name, kind] = measure(pages, engine)
            print_scores(name, scores_of(pages, texts))
    print(f"{'processor time':<36}{'ms a page':>12}{'to trafilatura':>16}")
    for (name, kind), cost in seconds.items():
        print(f"  {name + ', ' + kind:<34}{1000 * cost:>12.1f}{cost / seconds['trafilatura, defaults', kind]:>16.2f}")


if __name__ == "__main__":
    command(main, __doc__)
