"""Passages of real text by corpus and article, from the shared data: pages, abstracts, leads; and of a mini web."""

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import html
from warcio.archiveiterator import ArchiveIterator

from models.sentences import split_sentences
from tasks.engine.hashing import unit_interval
from tasks.sources.miniweb.pages import write_lead
from tasks.sources.miniweb.world import World
from tasks.text.language import LEAST_SHARE, function_word_share
from tasks.text.ngrams import split_words

_LEAST_SENTENCES, _MOST_SENTENCES = 3, 12
_MOST_OF_A_PAGE = 6
_LATER_GROUPS = frozenset(["Steam(service)", "World War II", "Prime number", "2012 Pacific typhoon season"])


@dataclass(frozen=True)
class BenchmarkPassage:
    """A passage."""

    corpus: str  # wikigraph | scisummnet | freshwiki
    article: str  # what may not be on both sides: the group of topics, the paper, the article
    text: str  # some sentences
    teaches: bool  # whether its article teaches; the others are judged


def passages(data: Path) -> list[BenchmarkPassage]:
    """Return the passages of the three corpora."""
    return [
        *_wikigraph(data / "wikigraph"),
        *_of_lines(
            "scisummnet", data / "scisummnet_mds.jsonl.gz", "id", lambda paper: [" ".join(paper["abstract"].split())]
        ),
        *_of_lines("freshwiki", data / "freshwiki_lead.jsonl.gz", "title", lambda one: one["lead"].split("\n")),
    ]


def _usable(text: str) -> bool:
    sentences = split_sentences(text)
    words = split_words(text)
    ended = sum(sentence.endswith((".", "!", "?", '"', "”")) for sentence in sentences)
    return (
        _LEAST_SENTENCES <= len(sentences) <= _MOST_SENTENCES
        and function_word_share(words) >= LEAST_SHARE
        and ended == len(sentences)
    )


def _wikigraph(folder: Path) -> Iterator[BenchmarkPassage]:
    groups: defaultdict[str, set[str]] = defaultdict(set)
    with (folder / "articles.jsonl").open(encoding="utf-8") as file:
        for line in file:
            topic = json.loads(line)
            for url in topic["references"]:
                groups[url].add(topic["group"])
    seen: set[str] = set()
    with (folder / "pages.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type != "response":
                continue
            names = groups.get(record.rec_headers.get_header("WARC-Target-URI"), set())
            body = record.content_stream().read()
            if len(names) != 1 or not body.strip():
                continue
            (group,) = names
            texts = [" ".join(p.text_content().split()) for p in html.fromstring(body).iter("p")]
            usable = [text for text in texts if text not in seen and _usable(text)][:_MOST_OF_A_PAGE]
            seen.update(usable)
            yield from (BenchmarkPassage("wikigraph", group, text, group not in _LATER_GROUPS) for text in usable)


def _of_lines(
    corpus: str, file: Path, name: str, texts: Callable[[dict[str, Any]], list[str]]
) -> Iterator[BenchmarkPassage]:
    """Yield the usable texts of each line of a compressed file; the field `name` says which article they are of."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            usable = filter(_usable, texts(item))
            yield from (BenchmarkPassage(corpus, item[name], text, _teaches(item[name])) for text in usable)


def _teaches(article: str) -> bool:
    return unit_interval("verifiers", article) < 0.6


def miniweb(topics: int = 300, seed: int = 77) -> list[BenchmarkPassage]:
    """Return leads of a mini web as passages; it teaches nothing."""
    world = World(seed)
    leads = ((index, write_lead(world.topic(index), world)) for index in range(topics))
    return [
        BenchmarkPassage("miniweb", world.title(n), " ".join(said.text for said in lead), False) for n, lead in leads
    ]
