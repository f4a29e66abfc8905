"""`README.md` of a shared corpus: the card that people read, and the header that `datasets` and hubs read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import yaml

from storage.builds import Build
from tasks.exchange.shared_corpus.licences import hub_licence
from tasks.exchange.shared_corpus.settings import PageText
from tasks.exchange.shared_corpus.statistics import UNRECORDED, Counts
from tasks.reporting.facts import flatten
from tasks.reporting.findings import funnel
from tasks.reporting.markdown import escape
from tasks.reporting.reasons import meaning

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
_PRIVATE = frozenset({"contact", "token", "key", "password"})

_START = """\
{articles:,} articles for multi-document summarization. A row is an article: its title, the documents that it cites or
that a web search found for it, and its lead section, which is the summary to be written from them (WikiSum: Liu et al.
2018, Liu & Lapata 2019).

```python
from datasets import load_dataset

corpus = load_dataset("{folder}", split="{split}", streaming=True)  # this folder, or the name of this repository
print(next(iter(corpus))["title"])
```
"""
_TEXT = {
    True: "The text of every document is included.",
    False: "**The text of {left_out:,} of {documents:,} documents is left out**, because {why}. Their titles, URLs, "
    "labels and the digests of their texts are included: fetch the pages again, and the digests say whether you have "
    "the same text.",
}
_WHY = {
    "licensed": "no licence of theirs was found, or it forbids changes",
    "free": "no licence of theirs was found that allows everybody to share and to change it",
    "all": "there is none",
    "none": "no text of documents was asked for",
}
_TERMS = """\
Text under a licence that forbids changes (ND) is left out, because a choice of its paragraphs may be a change. Text
that must not be used commercially (NC) is included, and the column `documents` names its licence. Whoever exports
changes this: `--page-text free` leaves NC out too, `--page-text all` includes everything."""
_LIMITS = """\
* Summaries are lead sections of articles, not written from these documents. They state facts that no document contains;
  a system that is trained on them learns to invent, so measure whether its names, numbers and dates occur in the
  documents before you look at ROUGE.
* The labels are word overlap (ROUGE-2 recall), not human judgements of relevance.
* Main texts were found by a program: some navigation and advertising remains, some text is missing.
* Pages are as they were when they were fetched. Links of an article that were dead then have no document.
* The documents are by third parties; they may be wrong, offensive or about living people. Nothing was checked by hand.
* A licence of text does not cover pictures, and permits no more than it says: with BY the author must be named, NC
  forbids commercial use, ND changes. Honour reservations, and remove what people ask you to remove.
"""


def corpus_card(
    build: Build,
    schema: pa.Schema,
    parts: Sequence[str],
    page_text: PageText,
    counts: Mapping[str, Counts],
    files: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the card as Markdown with a YAML header.

    Args:
        build: the build that is exported.
        schema: of the rows; a field's metadata describes it under `doc`.
        parts: the exported parts.
        page_text: which documents were to keep their text.
        counts: split -> counts.
        files: Parquet file -> its `rows` and `bytes`.
    """
    total = reduce(add, counts.values())
    header = yaml.safe_dump(_header(schema, counts, files), sort_keys=False, allow_unicode=True)
    sections = [
        ("Splits", _splits(counts, parts)),
        ("Columns", _columns(schema)),
        ("Licences", "\n\n".join(_licences(total, parts, page_text))),
        *([("Rights of the documents", "\n\n".join(_rights(total)))] if total.pages.documents else []),
        ("Where it comes from", "\n\n".join(_provenance(build, total))),
        ("How it was made", "\n\n".join(_making(build))),
        ("Known limits", _LIMITS),
    ]
    start = _START.format(articles=total.articles, folder="path/or/name", split=next(iter(counts)))
    parts_of_body = [f"# Corpus {build.name}", start.strip()]
    body = "\n\n".join([*parts_of_body, *(f"## {title}\n\n{text.strip()}" for title, text in sections)])
    return f"---\n{header}---\n\n{body}\n"


def yaml_features(schema: pa.Schema) -> list[dict[str, Any]]:
    """Return the columns as the header of a card names them (`datasets.Features` in YAML)."""

    def described(type_: pa.DataType) -> dict[str, Any]:
        if not pa.types.is_list(type_):
            return {"dtype": {"float": "float32"}.get(str(type_), str(type_))}
        inner = type_.value_type
        if pa.types.is_struct(inner):
            return {"list": [{"name": member.name, **described(member.type)} for member in inner]}
        return {"list": described(inner)["dtype"]}

    return [{"name": field.name, **described(field.type)} for field in schema]


def _header(schema: pa.Schema, counts: Mapping[str, Counts], files: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    articles = sum(count.articles for count in counts.values())
    size = sum(file["bytes"] for file in files.values())
    of_split = {split: [file for name, file in files.items() if name.startswith(f"data/{split}-")] for split in counts}
    return {
        "license": hub_licence({licence for count in counts.values() for licence in count.licences}),
        "task_categories": ["summarization"],
        "tags": ["multi-document-summarization", "wikisum"],
        "size_categories": [next((name for most, name in _SIZES if articles < most), "n>10M")],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": f"data/{split}-*.parquet"} for split in counts],
            }
        ],
        "dataset_info": {
            "config_name": "default",
            "features": yaml_features(schema),
            "splits": [
                {"name": split, "num_bytes": sum(file["bytes"] for file in some), "num_examples": count.articles}
                for (split, count), some in zip(counts.items(), of_split.values(), strict=True)
            ],
            "download_size": size,
            "dataset_size": size,
        },
    }


def _splits(counts: Mapping[str, Counts], parts: Sequence[str]) -> str:
    def of(total: float, number: int, digits: int = 1) -> str:
        return f"{total / number:,.{digits}f}" if number else "none"

    every = list(counts.values())
    rows = {"articles": [f"{count.articles:,}" for count in every]}
    if "summary" in parts:
        rows["words of a summary"] = [of(count.summary_words, count.articles) for count in every]
    if "documents" in parts:
        rows["documents of an article"] = [of(count.documents, count.articles) for count in every]
        rows["articles without a document"] = [f"{count.without_documents:,}" for count in every]
        rows["values of the summaries that occur in the paragraphs, %"] = [
            of(100 * count.found, count.values) for count in every
        ]
    if "labels" in parts:
        rows["paragraphs of an article"] = [of(count.paragraphs, count.articles) for count in every]
        rows["highest ROUGE-2 recall of an article's paragraphs, %"] = [
            of(100 * count.best, count.articles - count.without_documents - count.unlabelled) for count in every
        ]
    table = _table(["", *counts], [[name, *values] for name, values in rows.items()])
    if "documents" not in parts:
        return table
    measured = sum(count.measured for count in every)
    return f"{table}\n\nValues are names, numbers and dates, looked up for {measured:,} of the articles."


def _columns(schema: pa.Schema) -> str:
    return "\n".join(f"* `{field.name}`: {field.metadata[b'doc'].decode()}" for field in schema)


def _licences(total: Counts, parts: Sequence[str], page_text: PageText) -> Iterator[str]:
    rows = [[escape(licence), f"{count:,}"] for licence, count in sorted(total.licences.items())]
    yield _table(["licence of the summary", "articles"], rows)
    if UNRECORDED in total.licences:
        yield "**Where no licence is recorded, find out whether you may use and share the summary.**"
    if "documents" in parts:
        left_out = total.documents - total.texts
        yield _TEXT[not left_out].format(left_out=left_out, documents=total.documents, why=_WHY[page_text])
        if page_text == "licensed":
            yield _TERMS


def _rights(total: Counts) -> Iterator[str]:
    yield (
        f"{total.pages.documents:,} documents, a page once for each article that has it. Licences and reservations are "
        "those that a program found on the page, in its headers or in the terms of its site: **where none was found "
        "there may still be one, and a claim may be wrong.**"
    )
    for heading, rows in total.pages.tables():
        yield _table([heading, "number", "of documents, %"], [[escape(name), *numbers] for name, *numbers in rows])


def _provenance(build: Build, total: Counts) -> Iterator[str]:
    source = build.config.get("source", {})
    kind = source.get("kind", "unknown")
    names = ", ".join(f"{escape(name)} ({count:,} articles)" for name, count in sorted(total.sources.items()))
    yield f"Source: {names}. Build {build.name}, finished {build.created}, seed {build.config.get('seed')}."
    settings = list(_shareable(source.get(kind, {})))
    if settings:
        yield f"Settings of the source: {', '.join(settings)}."


def _shareable(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield settings without what concerns the maker alone: contacts, and the folders of files."""
    for name, value in settings.items():
        if name in _PRIVATE or value in (None, "", [], ()):
            continue
        values = value if isinstance(value, list) else [value]
        shown = [PurePath(one).name if isinstance(one, str) and "://" not in one else one for one in values]
        yield f"`{name}: {', '.join(map(str, shown)).replace('`', '')}`"


def _making(build: Build) -> Iterator[str]:
    yield (
        "Articles were read from the source and split by a stable hash, unless the source has splits of its own. Cited "
        "and found pages were fetched once each, or taken from archives, unless the source itself has the documents. "
        "Their main text was cut into paragraphs. Paragraphs without prose, duplicates and copies of the lead were "
        "refused, each with a reason. Each remaining paragraph is labelled with its ROUGE-2 recall against the lead."
    )
    stages = funnel(build.counts)
    yield _table(
        ["stage", "rows", "kept", "refused"],
        [[row.heading, f"{row.rows:,}", f"{row.kept:,}", f"{row.refused:,}"] for row in stages],
    )
    reasons = [
        [row.heading, f"`{reason}`", f"{count:,}", escape(meaning(row.stage, reason))]
        for row in stages
        for reason, count in row.drops.items()
    ]
    if reasons:
        yield _table(["stage", "reason of a refusal", "rows", "meaning"], reasons)
    used = {name: build.config[name] for name in ("words", "extraction", "paragraphs") if name in build.config}
    yield "Settings: " + ", ".join(f"`{line}`" for line in flatten(used)) + "."


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
