"""Export of `examples`, with `graphs` for GraphSum's layout, and their vocabulary as ranked shards. A shard of the
store becomes one file per split, `{name}.{split}.{shard}`, with items in the order of the rows. The layout has no place
for article ids, titles as text, and what `storage.formats.ranked_wikisum` lists."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch

from models.sentences import split_sentences
from models.vocabulary import Vocabulary
from storage.formats.ranked_wikisum import SPLITS, Edge, Layout, RankedItem, ShardFile, write_item
from storage.recipes import ShardRecord, whole
from storage.store import Store
from tasks.engine.recipe import finished_build, finished_stage
from tasks.exchange.ranked_wikisum.importing import marks_of

VOCABULARY_FILE = "spm.model"


def export_shards(
    store: Store, target: Store, layout: Layout, dataset: str, build: str | None, tell: Callable[[str], None]
) -> str:
    """Write the missing ranked shards of a build, the latest if None, in files whose names begin with `dataset`; return
    what was written. `target` gets them, the vocabulary, and below `records` what each was made from; `tell` gets a
    line on each shard of the store. Raises ValueError: the build's examples have slots, or could not be read back from
    the layout. StorageError: the build does not exist or has no graphs for json, or a file cannot be read or
    written."""
    result = finished_build(store, build)
    if "slot-examples" in result.stages:
        raise ValueError(
            f"the summarizer of build {result.name} reads names and numbers as slots, which other readers of shards do "
            "not know: expected a build with --summarizer.no-slots"
        )
    target.check_writable()
    names = ("examples", "graphs") if layout == "json" else ("examples",)
    stages = [finished_stage(store, result, name) for name in names]
    words = Vocabulary.of(whole(finished_stage(store, result, "vocabulary").in_order[0]).read(store))
    target.write_bytes(VOCABULARY_FILE, words.model)
    items = 0
    for shard in stages[0].shards:
        records = [stage.records[shard] for stage in stages]
        record, done = _export_shard(store, target, layout, dataset, shard, records, words)
        files = ", ".join(record["files"]) or "no articles"
        left = f", {record['unmarked']:,} leads left without sentence marks" if record["unmarked"] else ""
        end = f"{left}{', done before' if done else ''}"
        tell(f"{shard + 1} of {len(stages[0].shards)}: {files}, {record['items']:,} items{end}")
        items += record["items"]
    return f"{items:,} items and {VOCABULARY_FILE} in {target.root}"


def items_of(examples: pa.Table, graphs: pa.Table | None, words: Vocabulary) -> Iterator[tuple[str, RankedItem]]:
    """Yield split and item of each example, in the order of the rows. Edges to paragraphs that an example does not keep
    are left out. Raises ValueError: an article has no graph."""
    row_of = {id_: row for row, id_ in enumerate(graphs["article_id"].to_pylist())} if graphs is not None else {}
    for row in examples.to_pylist():
        target, sentences = mark_sentences(row["target"], row["target_text"], words)
        similarity = discourse = None
        if graphs is not None:
            if row["article_id"] not in row_of:
                raise ValueError(f"article {row['article_id']} has no row among the graphs")
            graph = graphs.slice(row_of[row["article_id"]], 1)
            similarity, discourse = (_edges(graph, name, len(row["source"])) for name in ("similarity", "discourse"))
        yield row["split"], RankedItem(row["title"], row["source"], target, sentences, similarity, discourse)


def items_bytes(items: Sequence[dict[str, Any]], layout: Layout) -> bytes:
    """Return the file of a shard."""
    if layout == "json":
        return json.dumps(list(items), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    torch.save(list(items), buffer)
    return buffer.getvalue()


def mark_sentences(target: list[int], text: str, words: Vocabulary) -> tuple[list[int], list[str]]:
    """Return a lead's ids with `<Q>` between its sentences, and the sentences. If the ids already have marks, these
    separate the sentences; otherwise sentences are found in the text. The ids are unchanged if they have marks, or
    differ from those of the sentences one by one. The text is one sentence if its own are joined otherwise."""
    mark = marks_of(words).sentence
    cut = target[-1] != words.end
    body = target[1:] if cut else target[1:-1]
    marked = mark in body
    sentences = _marked_sentences(body, words) if marked else split_sentences(text)
    if " ".join(sentences) != text:
        return target, [text]
    pieces = words.encode_batch(sentences)
    joined = [id_ for ids in pieces for id_ in ids]
    if marked or (joined[: len(body)] if cut else joined) != body:
        return target, sentences
    ends = {end for end in accumulate(map(len, pieces)) if 0 < end < len(body)}
    ids = [id_ for index, token in enumerate(body) for id_ in ([mark] * (index in ends) + [token])]
    return [target[0], *ids, *([] if cut else [words.end])], sentences


def _marked_sentences(body: list[int], words: Vocabulary) -> list[str]:
    sentences: list[list[int]] = [[]]
    for id_ in body:
        if id_ == words.sentence_mark:
            sentences.append([])
        else:
            sentences[-1].append(id_)
    return [words.decode(ids) for ids in sentences]


def _export_shard(
    store: Store, target: Store, layout: Layout, dataset: str, shard: int, records: list[ShardRecord], words: Vocabulary
) -> tuple[dict[str, Any], bool]:
    """Return the record of a shard, and whether its files were there already. `unmarked` are leads of several sentences
    whose ids could not be given sentence marks."""
    recipe = [layout, dataset, hashlib.sha256(words.model).hexdigest(), *(r.written.digest for r in records)]
    key = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    sidecar = f"records/{dataset}-{layout}-{shard:05d}.json"
    old = json.loads(target.read_bytes(sidecar)) if target.exists(sidecar) else {"files": {}}
    sizes = target.sizes("")
    if old.get("key") == key and all(sizes.get(name) == size for name, size in old["files"].items()):
        return old, True
    target.delete(sidecar)
    tables = [whole(record).read(store) for record in records]
    files, unmarked = {}, 0
    for split in SPLITS:
        rows = tables[0].filter(pc.equal(tables[0]["split"], split))
        if not rows.num_rows:
            continue
        file, items = ShardFile(dataset, split, shard, layout), []
        ids = rows["article_id"].to_pylist()
        parts = items_of(rows, tables[1] if len(tables) > 1 else None, words)
        for id_, (_, item) in zip(ids, parts, strict=True):
            items.append(write_item(item, marks_of(words), location=f"article {id_}"))
            unmarked += len(item.sentences) > 1 and words.sentence_mark not in item.target
        data = items_bytes(items, layout)
        target.write_bytes(file.path, data)
        files[file.path] = len(data)
    for name in set(old["files"]) - set(files):
        target.delete(name)
    record: dict[str, Any] = {"key": key, "files": files, "items": tables[0].num_rows, "unmarked": unmarked}
    target.write_bytes(sidecar, json.dumps(record, indent=1).encode())
    return record, False


def _edges(graph: pa.Table, name: str, nodes: int) -> list[Edge]:
    rows = graph[name][0].as_py() or []
    return [(edge["i"], edge["j"], edge["weight"]) for edge in rows if edge["i"] < nodes and edge["j"] < nodes]
