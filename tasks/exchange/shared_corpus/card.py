"""The descriptions of a shared corpus. `README.md` is the card that people read, with the header that `datasets` and
hubs read. Search engines and loaders read `croissant.json` (MLCommons Croissant 1.0)."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from storage.builds import Build
from tasks.engine.data_files import read_data
from tasks.exchange.folder import markdown_table, render, render_card
from tasks.exchange.shared_corpus.settings import PageText
from tasks.exchange.shared_corpus.shards import UNRECORDED, Counts
from tasks.reporting.facts import flatten
from tasks.reporting.markdown import escape
from tasks.reporting.stages import funnel, meaning

_DATA = read_data("tasks.exchange.shared_corpus", "descriptions.toml")
_SIZES: Mapping[str, int] = _DATA["sizes"]  # category on the Hugging Face hub -> articles below which it is
_KNOWN: Mapping[str, str] = _DATA["licences"]  # identifier there -> the licence's own page
# The vocabulary that every Croissant 1.0 file declares.
_CONTEXT = _DATA["croissant"]["context"] | {term: f"cr:{term}" for term in _DATA["croissant"]["terms"]}
_PRIVATE = frozenset({"contact", "token", "key", "password"})


def corpus_card(
    build: Build,
    schema: pa.Schema,
    parts: Sequence[str],
    page_text: PageText,
    counts: Mapping[str, Counts],
    files: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the card as Markdown with a YAML header. A field's metadata in the schema describes it under `doc`;
    `counts` are by split, `files` have `rows` and `bytes` by name."""
    total = reduce(add, counts.values())
    stages = funnel(build.counts)
    reasons = [
        [row.heading, f"`{reason}`", f"{count:,}", escape(meaning(row.name, reason))]
        for row in stages
        for reason, count in row.drops.items()
    ]
    source = build.config.get("source", {})
    used = {name: build.config[name] for name in ("words", "extraction", "paragraphs") if name in build.config}
    return render_card(
        "shared_corpus/card.md.j2",
        _header(schema, counts, files),
        build=build,
        columns=[(field.name, field.metadata[b"doc"].decode()) for field in schema],
        parts=parts,
        page_text=page_text,
        total=total,
        split=next(iter(counts)),
        splits=_splits(counts, parts),
        measured=sum(count.measured for count in counts.values()),
        licences=markdown_table(
            ["licence of the summary", "articles"],
            [[escape(licence), f"{count:,}"] for licence, count in sorted(total.licences.items())],
        ),
        unrecorded=UNRECORDED in total.licences,
        rights=[
            markdown_table(
                [heading, "number", "of documents, %"], [[escape(name), *numbers] for name, *numbers in rows]
            )
            for heading, rows in total.pages.tables()
        ],
        sources=", ".join(f"{escape(name)} ({count:,} articles)" for name, count in sorted(total.sources.items())),
        source_settings=", ".join(_shareable(source.get(source.get("kind", "unknown"), {}))),
        stages=markdown_table(
            ["stage", "rows", "kept", "refused"],
            [[row.heading, f"{row.rows:,}", f"{row.kept:,}", f"{row.refused:,}"] for row in stages],
        ),
        reasons=markdown_table(["stage", "reason of a refusal", "rows", "meaning"], reasons) if reasons else "",
        settings=", ".join(f"`{name}: {value}`" for name, value in flatten(used)),
    )


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
        "size_categories": [next((name for name, most in _SIZES.items() if articles < most), "n>10M")],
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
        rows["leads that occur in a source, %"] = [of(100 * count.lead_in_source, count.articles) for count in every]
        rows["values of the summaries that occur in the paragraphs, %"] = [
            of(100 * count.found, count.values) for count in every
        ]
    if "labels" in parts:
        rows["paragraphs of an article"] = [of(count.paragraphs, count.articles) for count in every]
        rows["highest ROUGE-2 recall of an article's paragraphs, %"] = [
            of(100 * count.best, count.articles - count.without_documents - count.unlabelled) for count in every
        ]
    return markdown_table(["", *counts], [[name, *values] for name, values in rows.items()])


def _shareable(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield settings without the maker's private ones: contacts, and the folders of files."""
    for name, value in settings.items():
        if name in _PRIVATE or value in (None, "", [], ()):
            continue
        values = value if isinstance(value, list) else [value]
        shown = [PurePath(value).name if isinstance(value, str) and "://" not in value else value for value in values]
        yield f"`{name}: {', '.join(map(str, shown)).replace('`', '')}`"


def croissant(
    build: Build, schema: pa.Schema, counts: Mapping[str, Counts], files: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the description as JSON-LD: every file with its digest, and a set of records for each split. Arguments as
    for `corpus_card`; `files` have `bytes` and `sha256` by name."""
    recorded = sorted({licence for count in counts.values() for licence in count.licences} - {UNRECORDED})
    described = render(
        "shared_corpus/croissant.json.j2",
        build=build,
        counts=counts,
        files=sorted(files.items()),
        fields=[_described(field) for field in schema],
        licences=[_KNOWN.get(licence.lower().replace(" ", "-"), licence) for licence in recorded],
    )
    return json.dumps({"@context": _CONTEXT, **json.loads(described)}, indent=1, ensure_ascii=False) + "\n"


def _described(field: pa.Field) -> Mapping[str, Any]:
    """Return Croissant's description of a column: `members`, each with its type, if a value is a list of structures."""
    repeated = pa.types.is_list(field.type)
    inner = field.type.value_type if repeated else field.type
    members = [(member.name, _type(member.type)) for member in inner] if pa.types.is_struct(inner) else []
    doc = field.metadata[b"doc"].decode()
    return {"name": field.name, "doc": doc, "repeated": repeated, "type": _type(inner), "members": members}


def _type(type_: pa.DataType) -> str:
    if pa.types.is_integer(type_):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(type_) else "sc:Text"


def hub_licence(licences: Collection[str]) -> str:
    """Return the hub's identifier of the only licence; `unknown` if none is recorded, `other` for anything else."""
    if set(licences) == {UNRECORDED}:
        return "unknown"
    names = {name.lower().replace(" ", "-") for name in licences}
    (name,) = names if len(names) == 1 else ("other",)
    return name if name in _KNOWN else "other"
