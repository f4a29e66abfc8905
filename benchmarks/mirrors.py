"""How much of a lead stays in the sources when a page mirrors it, by layout of the mirror, and honest pages refused.

    python -m benchmarks.mirrors ../shared/data/wikigraph --leads 83

Each of the first leads of at least 100 words is written as a web page in each layout. The pages are extracted and cut
into paragraphs as in the stages, without the rule on mirrors and with it. Reported is the share of the lead's bigrams
in what is kept of the page. Then every real cited page is compared with the section that cites it: pairs above the
threshold would be refused wrongly."""

import json
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.frame import command
from benchmarks.rights import read_pages
from storage.schemas import ARTICLES, DOCUMENTS
from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings
from tasks.paragraphs.mirrors import LeadNgrams
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.paragraphs.settings import CloneSettings, ParagraphSettings
from tasks.text.ngrams import ngrams, split_words

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# Few enough that the page still counts as English
_CYRILLIC = str.maketrans("oEOPT", "оЕОРТ")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(ord("0"), ord("Z") + 1)}
_OWN_SENTENCE = "Our readers asked for this page and we are glad to share it with them."


def _sentences(lead: str) -> list[str]:
    return _SENTENCE_END.split(lead.strip())


def _grouped(pieces: Sequence[str], size: int) -> list[str]:
    return [" ".join(pieces[start : start + size]) for start in range(0, len(pieces), size)]


def _blocks(pieces: Sequence[str], tag: str = "p", around: str = "{}") -> str:
    return around.format("\n".join(f"<{tag}>{escape(piece)}</{tag}>" for piece in pieces))


def _rewritten(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda lead: _blocks([change(piece) for piece in _grouped(_sentences(lead), 2)])


def _in_words(sign: str) -> Callable[[str], str]:
    return lambda text: re.sub(r"(\w{3})(?=\w)", rf"\1{sign}", text)


def _behind_sentences(mark: str) -> Callable[[str], str]:
    """Return a layout of two sentences a paragraph, with a mark in HTML behind each."""
    return lambda lead: "\n".join(
        f"<p>{' '.join(f'{escape(piece)}{mark}' for piece in _sentences(lead)[start : start + 2])}</p>"
        for start in range(0, len(_sentences(lead)), 2)
    )


LAYOUTS: dict[str, Callable[[str], str]] = {
    "one paragraph": lambda lead: _blocks([" ".join(lead.split())]),
    "paragraphs of the lead": lambda lead: _blocks(lead.splitlines()),
    "a sentence a paragraph": lambda lead: _blocks(_sentences(lead)),
    "two sentences a paragraph": lambda lead: _blocks(_grouped(_sentences(lead), 2)),
    "three sentences a paragraph": lambda lead: _blocks(_grouped(_sentences(lead), 3)),
    "bullets": lambda lead: _blocks(_sentences(lead), "li", "<ul>{}</ul>"),
    "numbered list": lambda lead: _blocks(_grouped(_sentences(lead), 2), "li", "<ol>{}</ol>"),
    "list of terms": lambda lead: _blocks(_sentences(lead), "dd", "<dl>{}</dl>"),
    "table": lambda lead: _blocks(_sentences(lead), "td", "<table><tr>{}</tr></table>").replace(
        "</td>\n", "</td></tr><tr>"
    ),
    "divs": lambda lead: _blocks(_grouped(_sentences(lead), 2), "div"),
    "quotations": lambda lead: _blocks(_grouped(_sentences(lead), 2), "blockquote"),
    "line breaks": lambda lead: f"<p>{'<br>'.join(map(escape, _sentences(lead)))}</p>",
    "cut every 60 words": lambda lead: _blocks(_grouped(lead.split(), 60)),
    "cut every 25 words": lambda lead: _blocks(_grouped(lead.split(), 25)),
    "reference marks": _behind_sentences("[12]"),
    "raised numbers": _behind_sentences("<sup>7</sup>"),
    "notes": _behind_sentences(" [citation needed]"),
    "zero-width characters": _rewritten(_in_words("\u200b")),
    "soft hyphens": _rewritten(_in_words("\u00ad")),
    "homoglyphs": _rewritten(lambda text: text.translate(_CYRILLIC)),
    "full-width capitals": _rewritten(lambda text: text.translate(_FULL_WIDTH)),
    "own sentences between": lambda lead: _blocks(
        [text for piece in _sentences(lead) for text in (piece, _OWN_SENTENCE)]
    ),
}


def web_page(lead: str, layout: str) -> bytes:
    """Return a page that mirrors a lead, with a paragraph of the site's own before it and after it."""
    page = f"<p>{_OWN_SENTENCE}</p>{LAYOUTS[layout](lead)}<p>Write to the editors if you know more on the subject.</p>"
    return f"<!doctype html><html><head><meta charset=utf-8></head><body><main>{page}</main></body></html>".encode()


def candidates(lead: str, page: bytes, mirror: float | None) -> tuple[list[str], list[str | None]]:
    """Return the paragraphs of a page as sources of a lead, with the reason against each or None."""
    result = extract(page, "text/html", "utf-8", ExtractSettings())
    document = {
        **{"article_id": "a", "url": "http://mirror.test/", "provenance": "citation", "rank": 0},
        **{"paragraphs": list(result.paragraphs), "engine": result.engine},
    }
    article = {"article_id": "a", "lead": lead, "split": "test"}
    settings = ParagraphSettings(clones=CloneSettings(mirror=mirror))
    tables = (
        pa.Table.from_pylist([row], schema=dataset.schema)
        for row, dataset in ((article, ARTICLES), (document, DOCUMENTS))
    )
    rows = pa.Table.from_batches(build_paragraphs(*tables, settings))
    return rows["text"].to_pylist(), rows["drop_reason"].to_pylist()


def share_left(lead: str, page: bytes, mirror: float | None) -> float:
    """Return the share (0-1) of the lead's bigrams, as they are shown, in the paragraphs that are kept of a page."""
    texts, reasons = candidates(lead, page, mirror)
    wanted = set(ngrams(_shown_words(lead), 2))
    kept = {pair for text, no in zip(texts, reasons, strict=True) if not no for pair in ngrams(_shown_words(text), 2)}
    return len(wanted & kept) / len(wanted)


def _shown_words(text: str) -> list[str]:
    """Return the words that a reader sees: what the layouts change in letters is undone by their own tables."""
    back = {after: before for table in (_CYRILLIC, _FULL_WIDTH) for before, after in table.items()}
    return split_words(text.translate({**back, 0x200B: None, 0x00AD: None}))


def honest_shares(folder: Path, most: int | None = None) -> list[float]:
    """Return for each pair of a section and a page that it cites the share of the section's 8-grams on the page."""
    pages = dict(read_pages(folder / "pages.warc.gz"))
    shares: list[float] = []
    for row in _articles(folder):
        ngrams_of = LeadNgrams(row["lead"])
        for url in row["references"]:
            if (page := pages.get(url)) is not None and (most is None or len(shares) < most):
                shares.append(ngrams_of.share_in(extract(page, "text/html", "utf-8", ExtractSettings()).paragraphs))
    return shares


def _articles(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines()]


def main(folder: Path, leads: int = 83, pages: int | None = None) -> None:
    """Print the table and the pairs. `pages`: pairs of section and page to compare; None = all."""
    texts = [row["lead"] for row in _articles(folder) if len(row["lead"].split()) >= 100][:leads]
    threshold = CloneSettings().mirror
    print(f"{len(texts)} leads; % of their bigrams left in the sources\n{'layout':<30} {'before':>8} {'after':>8}")
    for layout in LAYOUTS:
        mirrors = [(lead, web_page(lead, layout)) for lead in texts]
        before, after = (np.mean([share_left(*page, rule) for page in mirrors]) for rule in (None, threshold))
        print(f"{layout:<30} {100 * before:>8.1f} {100 * after:>8.1f}", flush=True)
    shares = np.array(honest_shares(folder, pages))
    refused = int((shares > (threshold or 1)).sum())
    print(f"{len(shares)} real pairs: highest share {shares.max():.2f}, {refused} above the threshold")


if __name__ == "__main__":
    command(main, __doc__)
