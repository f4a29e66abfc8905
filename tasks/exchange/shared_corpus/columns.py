"""The columns of a shared corpus: a row is an article, whatever stages it comes from. Labels and ranked paragraphs name
a paragraph by its document and its line, so that they stay where texts may not be shared."""

from collections.abc import Mapping

import pyarrow as pa

from storage.schemas import Dataset
from tasks.engine.data_files import read_data
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
_DOCUMENT = ("url", "title", "provenance", "sha256", "text", "licence", "licence_source", "reservations", "language")
_PLACE = [("document", pa.int32()), ("paragraph", pa.int32())]
_LABEL = [("sha256", pa.string()), ("rouge2_recall", pa.float32()), ("title_similarity", pa.float32())]


_TYPES = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "documents": pa.list_(pa.struct([(name, pa.string()) for name in _DOCUMENT])),
    "labels": pa.list_(pa.struct([*_PLACE, *_LABEL])),
    "ranked": pa.list_(pa.struct([*_PLACE, ("score", pa.float32())])),
    "edges": pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())])),
}
_COLUMNS: Mapping[str, list[pa.Field]] = {
    part: [pa.field(name, _TYPES[kind], metadata={"doc": doc}) for name, (kind, doc) in columns.items()]
    for part, columns in read_data("tasks.exchange.shared_corpus", "descriptions.toml")["columns"].items()
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
    fields = [field for part in ("always", *parts) for field in _COLUMNS[part]]
    return Dataset(name="shared corpus", version=1, schema=pa.schema(fields))
