"""The world of the rehearsal: articles and pages of the papers' sizes, each the same whenever it is asked for.

    python -m benchmarks.rehearsal.world

The command serves the pages on loopback. Its port is printed once connections are accepted; it ends when its standard
input is closed."""

import asyncio
import gzip
import json
import random
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.loopback_web import ROBOTS, response, serve
from benchmarks.synthetic import SyntheticCorpus
from flows.running.estimates import ARTICLE_PARAGRAPHS

ARTICLE_URLS = 57  # 1.58 million articles cite 90 million pages
# One in nine leads nowhere: of the references of Wikipedia 11 % were dead (Pew Research Center 2024).
GONE_EVERY = 9
PAGES = ARTICLE_URLS - -(-ARTICLE_URLS // GONE_EVERY)  # of an article, that are there
LEAD_WORDS, PARAGRAPH_WORDS = 139, 70  # Liu & Lapata 2019, sec. 4
# Common Crawl's crawls of 2024: some 3 billion pages, 425 TiB decoded.
PAGE_BYTES = 147_000
# A domain's share of all URLs is one over its rank, which gives the first one 11 % of them: as many as archive.org has
# of the references of a dump of Wikipedia from which 5,340 were counted.
DOMAINS = 5_000
# One in 43 articles each: 38,205 test and 38,144 validation articles of 1.66 million (Liu & Lapata 2019, sec. 4).
SPLIT_EVERY = 43

_SHARES = np.cumsum(1 / np.arange(1, DOMAINS + 1))
_PATH = re.compile(r"/articles/(\d+)/sources/(\d+)\.html")
_GONE = response("404 Not Found", "text/plain", b"gone")
_FILLER = 400  # pieces, of which each page has other ones
_PIECE_WORDS = 500


class RehearsalWorld:
    """Articles by number, and their pages by number and place. A piece of text is drawn from the numbers alone."""

    def __init__(self) -> None:
        self._corpus = SyntheticCorpus(seed=1)
        self._topic = lru_cache(64)(self._drawn_topic)
        self._corpus.draw_as(2)
        words = self._corpus.texts(_FILLER, _PIECE_WORDS, self._corpus.topic())
        self._scripts = [_script(number, text.split()) for number, text in enumerate(words)]
        self._menus = [_menu(number, text.split()) for number, text in enumerate(words)]

    def article(self, number: int) -> dict[str, Any]:
        """Return an article as the source `records` reads it."""
        topic = self._topic(number)
        self._corpus.draw_as(3, number)
        title, lead = (self._corpus.texts(1, words, topic)[0] for words in (3, LEAD_WORDS))
        draws = np.random.default_rng((4, number)).random(ARTICLE_URLS) * _SHARES[-1]
        domains = np.searchsorted(_SHARES, draws).tolist()
        return {
            "title": f"{title} {number}",
            "lead": lead,
            "references": [
                f"http://www.site{domain}.com/articles/{number}/sources/{place}.html"
                for place, domain in enumerate(domains)
            ],
            "split": {0: "test", 1: "valid"}.get(number % SPLIT_EVERY, "train"),
        }

    def page(self, number: int, place: int) -> bytes | None:
        """Return the HTML of an article's page, compressed as servers send it; None where the link is dead."""
        if place % GONE_EVERY == 0:
            return None
        topic = self._topic(number)
        self._corpus.draw_as(5, number, place)
        alive = place - place // GONE_EVERY - 1  # its place among those that are there
        first, after = (ARTICLE_PARAGRAPHS * end // PAGES for end in (alive, alive + 1))
        texts = self._corpus.texts(after - first, PARAGRAPH_WORDS, topic)
        prose = "\n".join(f"<p>{text}</p>" for text in texts)
        pieces = np.random.default_rng((6, number, place)).permutation(_FILLER).tolist()
        menu = "".join(self._menus[piece] for piece in pieces[:2])
        html = f"<html><head><title>{texts[0][:60]}</title></head><body>{menu}<article>{prose}</article>"
        size, scripts = len(html), []
        for piece in pieces:
            if size >= PAGE_BYTES:
                break
            scripts.append(self._scripts[piece])
            size += len(scripts[-1])
        return gzip.compress(f"{html}{''.join(scripts)}</body></html>".encode(), 6, mtime=0)

    def _drawn_topic(self, number: int) -> np.ndarray:
        self._corpus.draw_as(7, number)
        return self._corpus.topic()


def write_articles(path: Path, articles: int) -> None:
    """Write articles 0 to `articles` - 1 to a JSONL file."""
    world = RehearsalWorld()
    lines = [json.dumps(world.article(number)) for number in range(articles)]
    path.write_text("\n".join(lines) + "\n")


def _script(number: int, words: list[str]) -> str:
    """Return some 12 kB as pages embed them; by the random ids a page has 30 kB compressed, as Common Crawl's have."""
    draw = random.Random(number)
    fields = (
        f'{{"id":"{draw.randbytes(4).hex()}","type":"teaser","visible":true,"label":"{word}","href":"/section/{word}"}}'
        for word in words[:160]
    )
    return f"<script>window.state{number} = [{','.join(fields)}];</script>"


def _menu(number: int, words: list[str]) -> str:
    items = (f'<li class="item"><a href="/topics/{number}/{word}">{word}</a></li>' for word in words[:100])
    return f"<nav><ul>{''.join(items)}</ul></nav>"


def answer(world: RehearsalWorld, path: str) -> bytes:
    """Return the response for a path."""
    if path == "/robots.txt":
        return response("200 OK", "text/plain", ROBOTS)
    found = _PATH.fullmatch(path)
    page = None if found is None else world.page(int(found[1]), int(found[2]))
    if page is None:
        return _GONE
    return response("200 OK\r\nContent-Encoding: gzip", "text/html; charset=utf-8", page)


if __name__ == "__main__":
    world = RehearsalWorld()
    asyncio.run(serve(lambda path, _: answer(world, path), ["127.0.0.1"]))
