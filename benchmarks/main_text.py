"""Learn which blocks of a page are its main text, and measure it on sites that it was not learned from.

Every page's blocks are labelled with the share of their words that the true text has, by the longest common
sequence of words (`diff` of the system). Sites are dealt to five folds; the pages of a fold are judged by a model of
the other four, with the code and thresholds of `tasks/extraction/main_text.py`. Small plain pages made of the same
paragraphs (`benchmarks/plain_pages.py`) are learned from too. A model of its own learns from the same pages without
their design (kinds `bare ...`) and judges those. `--write` learns from all pages and writes the files that are shipped.

    python -m benchmarks.main_text ../shared/data/wcxb ../shared/data/extraction --write"""

import gzip
import random
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.extraction import print_scores, scores_of
from benchmarks.frame import command
from benchmarks.plain_pages import Parts, bare_page, plain_page
from benchmarks.web_pages import LabelledPage, read_news, read_wcxb
from tasks.engine.trees import Trees
from tasks.extraction import main_text
from tasks.extraction.block_features import Rows, features
from tasks.extraction.blocks import Page, read_page
from tasks.extraction.density import dense
from tasks.extraction.engines import extract
from tasks.extraction.markup import decode, page_title, parse
from tasks.extraction.settings import ExtractSettings
from tasks.extraction.visible import show

_FOLDS = 5
_PLAIN = 1000  # small plain pages
_MOST = 250  # blocks of a page that are learned from; longer pages are sampled
_ROUNDS = 150
_WEIGHTS = {"news": 4.0, "bare news": 4.0, "plain": 0.5}  # of a page; the few pages of news stand for many
_PARAMETERS = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.35,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,  # so that the same bytes come out on every machine
    "verbose": -1,
}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Example:
    """What is learned from a page."""

    page: LabelledPage
    rows: Rows  # [N, F]
    shares: NDArray[np.float64]  # [N] of a block's words that the true text has
    words: NDArray[np.float64]  # [N] of a block
    texts: tuple[str, ...]
    title: str


def example(page: LabelledPage) -> Example:
    """Return what is learned from a page; it has no rows where the page has no blocks."""
    tree = parse(decode(page.html, None))
    blocks, title = Page(), ""
    if tree is not None:
        title = page_title(tree) or ""
        show(tree)
        blocks = read_page(tree)
    texts = tuple(block.text for block in blocks.blocks)
    rows = features(blocks, title, dense(blocks)) if texts else np.zeros((0, 0), np.float32)
    shares, words = _label(texts, page.truth)
    return Example(page, rows, shares, words, texts, title)


def _label(texts: Sequence[str], truth: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    split = [_WORD.findall(text.lower()) for text in texts]
    true = _WORD.findall(truth.lower())
    common = iter(_common([word for words in split for word in words], true))
    whole = f" {' '.join(true)} "
    shares = []
    for words in split:
        share = sum(next(common) for _ in words) / max(len(words), 1)
        # Content may be elsewhere in the true text than in the page.
        shares.append(1.0 if share < 1 and len(words) >= 5 and f" {' '.join(words)} " in whole else share)
    return np.array(shares, dtype=np.float64), np.array([len(words) for words in split], dtype=np.float64)


def _common(words: Sequence[str], true: Sequence[str]) -> list[bool]:
    """Return for each word whether it is in the longest common sequence with the true words."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("page", "true")]
        for path, lines in zip(paths, (words, true), strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        options = ["--minimal", "--old-line-format=-", "--new-line-format=", "--unchanged-line-format=+"]
        answer = subprocess.run(["diff", *options, *map(str, paths)], capture_output=True, text=True, check=False)
    return [sign == "+" for sign in answer.stdout]


def bare_example(page: LabelledPage) -> Example:
    """Return what is learned from a page without its design."""
    tree = parse(decode(page.html, None))
    html = ""
    if tree is not None:
        title = page_title(tree) or ""
        show(tree)
        html = bare_page(tree, title)
    return example(replace(page, html=html.encode(), kind=f"bare {page.kind}"))


def plain_examples(examples: Sequence[Example], seed: int = 0) -> list[Example]:
    """Return examples of small plain pages made of the paragraphs of others, each of the site of its paragraphs."""
    choose = random.Random(seed)
    kinds = ("article", "documentation", "service", "news")
    sources = [example for example in examples if example.page.kind in kinds and len(_paragraphs(example)) > 2]
    comments = [text for example in examples if example.page.kind == "forum" for text in _paragraphs(example)][:3000]
    made = []
    for _ in range(_PLAIN):
        source = choose.choice(sources)
        parts = Parts(source.title or "Page", _paragraphs(source), _headings(source), comments)
        html, truth = plain_page(parts, choose)
        plain = example(LabelledPage(html.encode(), truth, source.page.site, "plain"))
        lines = set(truth.split("\n"))
        made.append(replace(plain, shares=np.array([float(text in lines) for text in plain.texts])))
    return made


def _paragraphs(one: Example) -> list[str]:
    lines = zip(one.texts, one.shares, one.words, strict=True)
    return [text for text, share, words in lines if share > 0.9 and words >= 12 and text[-1] in '.!?”"']


def _headings(one: Example) -> list[str]:
    lines = zip(one.texts, one.shares, one.words, strict=True)
    return [
        t for t, share, words in lines if share > 0.9 and 1 <= words <= 8 and t[0].isupper() and t[-1] not in ".!?:,"
    ]


def fit(examples: Iterable[Example]) -> lightgbm.Booster:
    """Learn from examples: each page has the same weight, and within it a block by its words."""
    choose = np.random.default_rng(0)
    rows, shares, weights = [], [], []
    for item in examples:
        count = len(item.texts)
        if not count:
            continue
        sample = np.sort(choose.choice(count, _MOST, replace=False)) if count > _MOST else np.arange(count)
        words = np.maximum(item.words, 1)
        weight = (0.7 * words / words.sum() + 0.3 / count) * 100 * count / len(sample)
        rows.append(item.rows[sample])
        shares.append(item.shares[sample])
        weights.append(weight[sample] * _WEIGHTS.get(item.page.kind, 1.0))
    data = lightgbm.Dataset(np.concatenate(rows), np.concatenate(shares), weight=np.concatenate(weights))
    return lightgbm.train(_PARAMETERS, data, _ROUNDS)


def fitted(examples: Sequence[Example]) -> dict[bool, lightgbm.Booster]:
    """Learn the model of pages with classes and that of pages without any (key True); small plain pages teach both."""
    return {
        False: fit(one for one in examples if not one.page.kind.startswith("bare")),
        True: fit(one for one in examples if one.page.kind.startswith(("bare", "plain"))),
    }


def folds_of(sites: Sequence[str]) -> list[int]:
    """Deal sites to folds, and return each page's."""
    names = sorted(set(sites))
    random.Random(0).shuffle(names)
    fold = {name: number % _FOLDS for number, name in enumerate(names)}
    return [fold[site] for site in sites]


_shared: list[tuple[Example, int]] = []  # examples and their folds, which forked processes have without a copy


def _held_out(fold: int) -> dict[int, str]:
    """Return the extracted text of each page of a fold, by its number, with a model of the others."""
    learned = fitted([item for item, its in _shared if its != fold])
    models = {bare: Trees(model.model_to_string()) for bare, model in learned.items()}
    with patch.object(main_text, "_model", models.__getitem__):
        return {
            number: "\n".join(extract(item.page.html, "text/html", None, ExtractSettings()).paragraphs)
            for number, (item, its) in enumerate(_shared)
            if its == fold
        }


def main(wcxb: Path, news: Path, *, write: bool = False, processes: int = 2) -> None:
    """Print the scores of pages of sites not learned from; `write`: learn from all, and write the shipped file."""
    with ProcessPoolExecutor(processes) as pool:
        pages = [*read_wcxb(wcxb), *read_news(news)]
        designed, bare = (list(pool.map(made, pages, chunksize=16)) for made in (example, bare_example))
    examples = [*designed, *bare, *plain_examples(designed)]
    if write:
        for kind, model in fitted(examples).items():
            path = Path(main_text.__file__).with_name(main_text.MODELS[kind])
            path.write_bytes(gzip.compress(model.model_to_string().encode("ascii"), 9, mtime=0))
            print(f"{path}: {path.stat().st_size:,} bytes")
        return
    _shared[:] = zip(examples, folds_of([example.page.site for example in examples]), strict=True)
    texts: dict[int, str] = {}
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        for part in pool.map(_held_out, range(_FOLDS)):
            texts |= part
    judged = [example.page for example in examples]
    print_scores("ours, cross-validated by site", scores_of(judged, [texts[number] for number in range(len(judged))]))


if __name__ == "__main__":
    command(main, __doc__)
