"""`croissant.json`: the description of a data set that search engines and loaders read (MLCommons Croissant 1.0)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from storage.builds import Build
from tasks.engine.data_files import read_data
from tasks.exchange.shared_corpus.statistics import UNRECORDED, Counts, licence_url

_PARQUET = "application/x-parquet"
# The vocabulary that every Croissant 1.0 file declares.
_WRITTEN = read_data("tasks.exchange.shared_corpus", "descriptions.toml")["croissant"]
_CONTEXT: Mapping[str, Any] = _WRITTEN["context"] | {term: f"cr:{term}" for term in _WRITTEN["terms"]}


def croissant(
    build: Build, schema: pa.Schema, counts: Mapping[str, Counts], files: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the description as JSON-LD: every file with its digest, and a set of records for each split. A field's
    metadata in the schema describes it under `doc`; `counts` are by split, `files` have `bytes` and `sha256` by
    name."""
    licences = sorted({licence for count in counts.values() for licence in count.licences} - {UNRECORDED})
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"corpus-{build.name}",
        "description": "A corpus for multi-document summarization: articles, the documents they cite, and their lead "
        "sections as summaries. README.md says how it was made, what it counts and where its limits are.",
        "citeAs": "made as in Liu and Lapata (2019), Hierarchical Transformers for Multi-Document Summarization, ACL",
        "datePublished": build.created,
        "version": "1.0.0",
        **({"license": [licence_url(licence) for licence in licences]} if licences else {}),
        "distribution": [
            *(_file_set(split) for split in counts),
            *(_file(name, file) for name, file in sorted(files.items())),
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": split,
                "description": f"{count.articles} articles of the split {split}",
                "key": {"@id": f"{split}/id"},
                "field": [_field(field, split) for field in schema],
            }
            for split, count in counts.items()
        ],
    }
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _file_set(split: str) -> Mapping[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"files-{split}",
        "description": f"the files of the split {split}",
        "encodingFormat": _PARQUET,
        "includes": f"data/{split}-*.parquet",
    }


def _file(name: str, file: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "contentUrl": name,
        "contentSize": f"{file['bytes']} B",
        "encodingFormat": _PARQUET,
        "sha256": file["sha256"],
    }


def _field(field: pa.Field, split: str) -> Mapping[str, Any]:
    described = {"@type": "cr:Field", "@id": f"{split}/{field.name}", "description": field.metadata[b"doc"].decode()}
    repeated = pa.types.is_list(field.type)
    inner = field.type.value_type if repeated else field.type
    many = {"repeated": True} if repeated else {}
    if not pa.types.is_struct(inner):
        return {**described, **many, "dataType": _type(inner), "source": _source(split, [field.name])}
    members = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{field.name}/{member.name}",
            "dataType": _type(member.type),
            "source": _source(split, [field.name, member.name]),
        }
        for member in inner
    ]
    return {**described, **many, "subField": members}


def _source(split: str, path: Sequence[str]) -> Mapping[str, Any]:
    column, *member = path
    transform = {"transform": {"jsonPath": member[0]}} if member else {}
    return {"fileSet": {"@id": f"files-{split}"}, "extract": {"column": column}, **transform}


def _type(type_: pa.DataType) -> str:
    if pa.types.is_integer(type_):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(type_) else "sc:Text"
