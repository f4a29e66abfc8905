"""The papers' systems on real text with human summaries: ScisummNet (Yasunaga et al. 2019) as a multi-document corpus.

    python -m benchmarks.scisummnet FOLDER/scisummnet_mds.jsonl.gz [--root data/scisummnet] [--steps 400]

A topic is a paper of computational linguistics. Its lead is the summary that people wrote; its documents are the
sentences of other papers that cite it, each a paragraph, and its own sections, cut into paragraphs of three sentences.
The abstract, of which most summaries take sentences, is left out of them.

The records go to ROOT/records.jsonl; then `flows.reproduce_tables` trains and evaluates FT, HT, PHT and PHT with
attention alignment, Lead and LexRank, on two cores in some 20 minutes. After an interruption the same
command continues."""

import gzip
import html
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.frame import command

SENTENCES = 3  # of a paragraph of the paper
_WORD = re.compile(r"\w+")
_MARK = re.compile(r"<S sid ?= ?\"\d+\" ssid ?= ?\"\d+\">")
SIZES = (
    "--preset=records",
    "--shards.articles=2",
    "--shards.hosts=1",
    "--vocabulary.pieces=6000",
    "--ranker.steps=500",
    "--ranker.validation-interval=250",
    "--summarizer.max-target-tokens=200",
    "--training.validation-interval=200",
    "--training.validation-articles=60",
    "--attention.steps=200",
    "--decoding.max-length=200",
    "--decoding.beam=4",
    "--tables.tables=000-2,002-1,002-2,002-4,002-5",
    "--tables.systems=ft-800,ht,ft-3,ht-3,pht,pht-attalign",
)


def records(papers: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a record (`tasks.sources.records`) for each paper that has a summary; of several of one title the first."""
    titles = set()
    for paper in papers:
        if paper["title"] in titles or not paper["summary"].strip():
            continue
        titles.add(paper["title"])
        own = [
            " ".join(section[start : start + SENTENCES])
            for section in sections(paper["paper_sentences"], [paper["title"], *paper["abstract"].split("\n")])
            for start in range(0, len(section), SENTENCES)
        ]
        yield {
            "title": paper["title"],
            "lead": paper["summary"],
            "licence": "CC BY 4.0",
            "documents": [
                {
                    "url": f"acl:{paper['id']}/citations",
                    "title": "Citing sentences",
                    "paragraphs": list(map(_clean, paper["citances"])),
                },
                {"url": f"acl:{paper['id']}", "title": paper["title"], "paragraphs": own},
            ],
        }


def sections(sentences: Sequence[str], left_out: Sequence[str]) -> Iterator[list[str]]:
    """Yield the sentences of each section of a paper, its mark-up undone, without those that are left out.

    The first sentence of a section has a mark; title and abstract precede the first one. A few papers have
    no marks and so one section."""
    unwanted = {_bare(text) for text in left_out}
    section: list[str] = []
    begun = not any(map(_MARK.search, sentences))
    for sentence in sentences:
        if _MARK.search(sentence):
            if section:
                yield section
            section, begun = [], True
        text = _clean(_MARK.sub("", sentence))
        if begun and _bare(text) not in unwanted:
            section.append(text)
    if section:
        yield section


def _clean(text: str) -> str:
    return " ".join(html.unescape(text).split())


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(html.unescape(text).lower()))


def write_records(source: Path, target: Path) -> int:
    """Write the records of a file of papers, whole or not at all, and return how many there are."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        written = [json.dumps(record, ensure_ascii=False) for record in records(map(json.loads, lines))]
    target.parent.mkdir(parents=True, exist_ok=True)
    writing = target.with_name(f".{target.name}.writing")
    writing.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    writing.replace(target)
    return len(written)


def main(data: Path, root: Path = Path("data/scisummnet"), steps: int = 400) -> int:
    """Write the records, run the tables, and say how long that took; return the exit code of the tables."""
    file = root / "records.jsonl"
    print(f"{write_records(data, file)} papers in {file}", flush=True)
    own = [f"--root={root}", f"--source.records.paths={file}", f"--tables.steps={steps}"]
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "flows", "tables", *own, *SIZES], check=False)
    print(f"{time.monotonic() - started:.0f} s in this run")
    return done.returncode


if __name__ == "__main__":
    command(main, __doc__)
