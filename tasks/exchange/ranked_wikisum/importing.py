"""Import of ranked shards as the stages `vocabulary`, `examples` and, from GraphSum's, `graphs`. A shard of the release
becomes a shard of each stage; they are read one at a time, without running code in them."""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch

from models.vocabulary import Vocabulary
from storage.formats.ranked_wikisum import Edge, Layout, MarkIds, RankedItem, ShardFile, parse_shard_file, read_item
from storage.schemas import ARTICLES, EXAMPLES, GRAPHS, PARAGRAPHS, VOCABULARY
from storage.store import Store
from tasks.engine.hashing import stable_hash
from tasks.engine.recipe import Recipe, StageResult, only, same
from tasks.engine.stage import Run
from tasks.exchange.ranked_wikisum.settings import ImportSettings

# Training takes its validation articles from the first shards that have any; with these in front it need not read the
# training split for them.
_ORDER = {"valid": 0, "test": 1, "train": 2}
SOURCE = "ranked-wikisum"
_GLOBAL = re.compile(r"GLOBAL (\S+)")


def find_shards(folder: Store) -> list[ShardFile]:
    """Return the shards in a folder, not its subfolders: those of valid, test and train in this order, each by number.
    Raises ValueError: the folder contains no shards, or several datasets."""
    shards = [parsed for name in folder.sizes("") if (parsed := parse_shard_file(name)) is not None]
    if not shards:
        raise ValueError(
            f"no shards in {folder.root}: expected files such as WIKI.train.0.pt, found "
            f"{sorted(folder.sizes(''))[:5] or 'an empty folder or none'}"
        )
    kinds = sorted({f"{shard.name}.*.{shard.layout}" for shard in shards})
    if len(kinds) > 1:
        raise ValueError(f"expected the shards of one dataset in {folder.root}, found {', '.join(kinds)}")
    return sorted(shards, key=lambda shard: (_ORDER[shard.split], shard.number))


def file_digest(folder: Store, name: str) -> str:
    """Return the SHA-256 of a file, hex; raises OSError. It is cached for the process until the file changes."""
    info = folder.filesystem.get_file_info(folder.path(name))
    return _digest(folder.root, name, info.size, info.mtime_ns)


@cache
def _digest(root: str, name: str, _size: int | None, _mtime_ns: int | None) -> str:
    folder = Store(root)
    with folder.filesystem.open_input_stream(folder.path(name)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def load_items(folder: Store, shard: ShardFile, sha256: str | None = None) -> list[Any]:
    """Return the items of a shard without checking them. Raises ValueError: the file has changed, is damaged, is not a
    list, or would run code; OSError: it cannot be read."""
    data = folder.read_bytes(shard.path)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{shard.path} has changed since this import began: run the same command again")
    items = _unpickled(data, shard.path) if shard.layout == "pt" else _parsed(data, shard.path)
    if not isinstance(items, list):
        raise ValueError(f"{shard.path}: expected a list of items, got {type(items).__name__}")
    return items


def marks_of(vocabulary: Vocabulary) -> MarkIds:
    """Return the ids with a meaning in the layout. Raises ValueError: the vocabulary has no mark of sentences."""
    if vocabulary.sentence_mark is None:
        raise ValueError(
            f"the layout of the ranked WikiSum marks sentences: expected a SentencePiece vocabulary with its special "
            f"pieces, got a {vocabulary.kind} one"
        )
    return MarkIds(
        size=vocabulary.size,
        pad=vocabulary.pad,
        begin=vocabulary.begin,
        end=vocabulary.end,
        title=vocabulary.title_mark,
        sentence=vocabulary.sentence_mark,
    )


def _unpickled(data: bytes, path: str) -> Any:
    try:
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - a damaged pickle can raise any exception
        # Torch's own message advises loading without the safeguard, so it is replaced.
        named = _GLOBAL.search(str(error))
        if named is not None:
            raise ValueError(
                f"{path} was refused: it is not a plain list of ids and texts, loading it would call {named[1]}"
            ) from None
        raise ValueError(
            f"{path}: expected a list of dicts written by torch.save; the file is damaged or something else "
            f"({type(error).__name__})"
        ) from None


def _parsed(data: bytes, path: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected a JSON list of items: {error}") from error


def import_corpus(
    run: Run, settings: ImportSettings
) -> tuple[StageResult, StageResult, StageResult, StageResult | None]:
    """Import the missing shards of a folder; return the vocabulary, of one shard, and of a shard for each file the
    examples, the articles that scoring reads and, where the files hold them, the graphs. Raises ValueError: the folder
    has no shards, or shards of several datasets; or the vocabulary is not a SentencePiece model. OSError: a file cannot
    be read. StageFailedError: some shards could not be imported. Its errors name file, item and field."""
    folder = Store(settings.folder)
    files = find_shards(folder)
    seen = [{**asdict(file), "sha256": file_digest(folder, file.path)} for file in files]
    digest = file_digest(*_folder_and_name(settings.vocabulary))
    recipe = Recipe(VOCABULARY, import_vocabulary, arguments={"sha256": digest})
    vocabulary = run.stage(recipe, shards=1, inputs={}, context={"file": settings.vocabulary})
    inputs, context, per_shard = {"vocabulary": only(vocabulary)}, {"folder": settings.folder}, {"file": seen}
    marks = {"sentence_marks": settings.sentence_marks}
    recipe = Recipe(EXAMPLES, import_examples, arguments=marks, per_shard=per_shard)
    examples = run.stage(recipe, shards=len(files), inputs=inputs, context=context)
    articles = run.stage(Recipe(ARTICLES, articles_of), shards=len(files), inputs={"examples": same(examples)})
    graphs = None
    if files[0].layout == "json":
        recipe = Recipe(GRAPHS, import_graphs, per_shard=per_shard)
        graphs = run.stage(recipe, shards=len(files), inputs=inputs, context=context)
    return vocabulary, examples, articles, graphs


def item_id(split: str, shard: int, index: int) -> str:
    """Return the article id of an item: a stable hash of split, shard and index, 16 hex digits."""
    return f"{stable_hash('article', SOURCE, split, shard, index):016x}"


def import_vocabulary(file: str, sha256: str) -> pa.Table:
    """Return the VOCABULARY table of a SentencePiece model file. Raises ValueError: the file is not a SentencePiece
    model, lacks a mark such as `<T>`, or has changed since its SHA-256 was computed."""
    folder, name = _folder_and_name(file)
    if file_digest(folder, name) != sha256:
        raise ValueError(f"{file} has changed since this import began: run the same command again")
    model = folder.read_bytes(name)
    try:
        size = Vocabulary(model).size
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    return pa.table({"model": [model], "pieces": [size], "sentences": [None]}, schema=VOCABULARY.schema)


def import_examples(
    vocabulary: pa.Table | Vocabulary, *, folder: str, file: dict[str, Any], sentence_marks: str = "keep"
) -> pa.Table:
    """Read a shard as EXAMPLES rows sorted by article_id; `title_text` is decoded from the ids. `file` has the fields
    of its `ShardFile` and its `sha256`. Raises ValueError: the file cannot be loaded, or an item is wrong."""
    words = Vocabulary.of(vocabulary)
    left_out = {words.sentence_mark} if sentence_marks == "drop" else set()
    rows = [
        {
            "article_id": article,
            "split": file["split"],
            "title": item.title,
            "source": item.source,
            "slots": [],
            "target": [id_ for id_ in item.target if id_ not in left_out],
            "title_text": words.decode(item.title),
            "target_text": item.text,
        }
        for article, item in _items(words, folder, file)
    ]
    return _sorted(rows, EXAMPLES.schema)


def import_graphs(vocabulary: pa.Table | Vocabulary, *, folder: str, file: dict[str, Any]) -> pa.Table:
    """Read the graphs of a GraphSum shard: GRAPHS rows sorted by article_id; arguments as for `import_examples`. Raises
    ValueError: the file cannot be loaded, or a field of an item is wrong."""
    rows = [
        {
            "article_id": article,
            "nodes": len(item.source),
            "similarity": _edge_rows(item.similarity),
            "discourse": _edge_rows(item.discourse),
        }
        for article, item in _items(Vocabulary.of(vocabulary), folder, file)
    ]
    return _sorted(rows, GRAPHS.schema)


def articles_of(examples: pa.Table) -> pa.Table:
    """Return ARTICLES rows for EXAMPLES rows, with what scoring and reporting read: title, lead and split."""
    size = examples.num_rows
    columns: dict[str, Any] = {name: pa.nulls(size, ARTICLES.schema.field(name).type) for name in ARTICLES.schema.names}
    columns |= {
        "article_id": examples["article_id"],
        "title": examples["title_text"],
        "lead": examples["target_text"],
        "references": [[]] * size,
        "search_results": [[]] * size,
        "split": examples["split"],
        "source": [SOURCE] * size,
    }
    return pa.table(columns, schema=ARTICLES.schema)


def paragraphs_of(examples: pa.Table, vocabulary: pa.Table | Vocabulary, texts: str) -> pa.Table:
    """Return PARAGRAPHS rows for EXAMPLES rows, decoded from their ids, in their order. The shards do not say which
    page a paragraph is from, so its URL is the name of the source."""
    words = Vocabulary.of(vocabulary)
    if texts == "evaluated":
        examples = examples.filter(pc.not_equal(examples["split"], "train"))
    rows = [
        {
            "article_id": article,
            "paragraph_id": rank,
            "url": SOURCE,
            "provenance": SOURCE,
            "position": rank,
            "text": words.decode(ids),
        }
        for article, source in zip(examples["article_id"].to_pylist(), examples["source"].to_pylist(), strict=True)
        for rank, ids in enumerate(source)
    ]
    return pa.Table.from_pylist(rows, schema=PARAGRAPHS.schema)


def _items(words: Vocabulary, folder: str, file: dict[str, Any]) -> Iterator[tuple[str, RankedItem]]:
    """Yield article id and parts of each item of a shard."""
    fields = dict(file)
    sha256 = fields.pop("sha256", None)
    shard, marks = ShardFile(**fields), marks_of(words)
    layout: Layout = shard.layout
    for index, item in enumerate(load_items(Store(folder), shard, sha256)):
        location = f"{shard.path}, item {index}"
        yield (
            item_id(shard.split, shard.number, index),
            read_item(item, marks, location=location, graphs=layout == "json"),
        )


def _edge_rows(edges: list[Edge] | None) -> list[dict[str, Any]]:
    return [{"i": i, "j": j, "weight": weight} for i, j, weight in edges or ()]


def _sorted(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows in order of article id, as every dataset that is sharded by article is."""
    return pa.Table.from_pylist(sorted(rows, key=lambda row: str(row["article_id"])), schema=schema)


def _folder_and_name(file: str) -> tuple[Store, str]:
    head, _, name = file.rpartition("/")
    return Store(head or ("/" if file.startswith("/") else ".")), name
