"""The columns of a shared corpus: a row is an article, whatever stages it comes from. Labels and ranked paragraphs name
a paragraph by its document and its line, so that they stay where texts may not be shared."""

from collections.abc import Mapping

import pyarrow as pa

from storage.schemas import Dataset
from tasks.exchange.shared_corpus.settings import PARTS, Part, SharedCorpusSettings

# Names that readers of shared corpora expect.
SPLITS: Mapping[str, str] = {"train": "train", "valid": "validation", "test": "test"}
STAGES: Mapping[Part, tuple[str, ...]] = {
    "summary": (),
    "urls": (),
    "documents": ("paragraphs",),
    "labels": ("features",),
    "ranked": ("ranked",),
    "graphs": ("graphs",),
}
_STRINGS = pa.list_(pa.string())
_DOCUMENT = ("url", "title", "provenance", "sha256", "text", "licence", "licence_source", "reservations", "language")
_PLACE = [("document", pa.int32()), ("paragraph", pa.int32())]
_LABEL = [("sha256", pa.string()), ("rouge2_recall", pa.float32()), ("title_similarity", pa.float32())]
_EDGES = pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())]))


def _column(name: str, type_: pa.DataType, doc: str) -> pa.Field:
    return pa.field(name, type_, metadata={"doc": doc})


_ALWAYS = [
    _column("id", pa.string(), "identifier of the article, 16 hex digits"),
    _column("title", pa.string(), "title of the article"),
    _column("licence", pa.string(), "licence of the summary; null: not recorded"),
    _column("source", pa.string(), "where the article comes from"),
    _column("revision", pa.string(), "revision of the article in its source, or null"),
    _column("group", pa.string(), "articles of one group are in one split; null: the article alone"),
]
_PARTS: Mapping[Part, list[pa.Field]] = {
    "summary": [_column("summary", pa.string(), "the target: the article's lead section")],
    "urls": [
        _column("references", _STRINGS, "URLs that the article cites, in order of first citation"),
        _column(
            "search_results",
            _STRINGS,
            "URLs of search results that its source gives, best first; those found later have their documents",
        ),
    ],
    "documents": [
        _column(
            "documents",
            pa.list_(pa.struct([(name, pa.string()) for name in _DOCUMENT])),
            "pages with usable text, cited ones first: url; title or null; provenance, citation or search; sha256 of "
            "the text; text, one paragraph per line, without refused paragraphs; null where it is left out; licence, "
            "which the page claims, null where no claim was found; licence_source, where the claim stands; "
            "reservations, signs that rights are reserved against mining, separated by `; `; language, ISO 639-1, null "
            "where not sure",
        )
    ],
    "labels": [
        _column(
            "labels",
            pa.list_(pa.struct([*_PLACE, *_LABEL])),
            "every paragraph in order: document and paragraph, its 0-based document and line; sha256, the first 16 hex "
            "digits of its text's; rouge2_recall, ROUGE-2 recall against the summary, 0-1 (Liu & Lapata 2019, sec. "
            "3.1); title_similarity, tf-idf cosine with the title, 0-1",
        )
    ],
    "ranked": [
        _column(
            "ranked",
            pa.list_(pa.struct([*_PLACE, ("score", pa.float32())])),
            "the best paragraphs, best first: document and paragraph as in labels; score of the ranker, 0-1",
        )
    ],
    "graphs": [
        _column(
            "similarity", _EDGES, "edges i < j between ranked paragraphs: tf-idf cosine (Liu & Lapata 2019, app. A.1)"
        ),
        _column(
            "discourse",
            _EDGES,
            "edges i < j between ranked paragraphs: approximate discourse graph (Liu & Lapata 2019, eq. 26)",
        ),
    ],
}


def chosen_parts(settings: SharedCorpusSettings, stages: Mapping[str, object]) -> tuple[Part, ...]:
    """Return the parts to export, in their order: those of the settings, else all for which a build has the stages.
    Raises ValueError: the settings name one whose stage the build lacks."""
    for part in settings.columns or ():
        missing = [stage for stage in STAGES[part] if stage not in stages]
        if missing:
            raise ValueError(f"columns has {part}, but the build has no stage {missing[0]}: leave it out, or build it")
    wanted = settings.columns if settings.columns is not None else PARTS
    return tuple(part for part in PARTS if part in wanted and all(stage in stages for stage in STAGES[part]))


def shared_dataset(parts: tuple[Part, ...]) -> Dataset:
    """Return the schema of the exported rows; each field's metadata describes it under `doc`."""
    fields = [*_ALWAYS, *(field for part in parts for field in _PARTS[part])]
    return Dataset(name="shared corpus", version=1, schema=pa.schema(fields))
