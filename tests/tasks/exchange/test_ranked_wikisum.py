"""Import and export of ranked shards: literal and hostile files, resuming, round trips, training on what came."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.vocabulary import Vocabulary
from storage.builds import latest_build
from storage.errors import StorageError
from storage.formats.ranked_wikisum import ShardFile, write_item
from storage.schemas import ARTICLES, EXAMPLES, GRAPHS
from storage.store import Store
from tasks.engine.recipe import every
from tasks.engine.stage import Executor, Run, StageFailedError
from tasks.exchange.ranked_wikisum.exporting import items_bytes, items_of, mark_sentences
from tasks.exchange.ranked_wikisum.importing import import_corpus, import_examples, import_graphs, item_id, marks_of
from tasks.exchange.ranked_wikisum.settings import ImportSettings
from tasks.exchange.sharing import Sharing, share
from tasks.summarization.training import train_summarizer
from tests.tasks.summarization import summarizer_examples as ours

pytestmark = pytest.mark.integration

NEW = (".lock", "spm.model")  # written by every run
UNK, TITLE, BEGIN, END, PAD, SENTENCE = 0, 3, 4, 5, 6, 8  # of the released vocabulary


@pytest.fixture(scope="module")
def released() -> Vocabulary:
    return ours.released_vocabulary()


@pytest.fixture
def folder(tmp_path: Path, released: Vocabulary) -> Path:
    """The release as it lies on somebody's disk: two shards of training, one each of the other splits."""
    place = tmp_path / "ranked"
    place.mkdir()
    (place / "spm.model").write_bytes(released.model)
    for split, number, titles in (
        ("train", 0, ["aral", "sea"]),
        ("train", 1, ["hills"]),
        ("valid", 0, ["north"]),
        ("test", 0, ["river"]),
    ):
        torch.save([item(released, title) for title in titles], place / f"WIKI.{split}.{number}.pt")
    return place


def item(words: Vocabulary, title: str, **changed: Any) -> dict[str, Any]:
    return {
        "src": [[*words.encode(title), TITLE, *words.encode("the river rises")], words.encode("it flows")],
        "tgt": [BEGIN, *words.encode("the river ."), SENTENCE, *words.encode("it flows ."), END],
        "tgt_str": "<t> the river . </t> <t> it flows . </t>",
        **changed,
    }


def export(to: Path, root: Path, layout: str = "pt", **more: Any) -> list[str]:
    """Export, and return what is said meanwhile and at the end."""
    lines: list[str] = []
    lines.append(share(Sharing(str(root), str(to), layout=layout, **more), tell=lines.append))
    return lines


def import_to(root: Path, folder: Path, vocabulary: Path | None = None, **more: Any) -> None:
    """Import a folder as a build does, and save it as one."""
    settings = ImportSettings(folder=str(folder), vocabulary=str(vocabulary or folder / "spm.model"), **more)
    made = Run(Store(str(root)), Executor())
    import_corpus(made, settings)
    made.record_build({}, label="imported")


def table_of(root: Path, stage: str) -> pa.Table:
    store, build = Store(str(root)), latest_build(Store(str(root)))
    assert build is not None
    paths = build.stages[stage].values()
    shas = [json.loads(store.read_bytes(path.replace(".parquet", ".json")))["written"]["sha256"] for path in paths]
    return pa.concat_tables([store.read_table(path, sha) for path, sha in zip(paths, shas, strict=True)])


def files_of(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name not in NEW
    }


def shards_of(folder: Path) -> dict[str, int]:
    return {name: written for name, written in files_of(folder).items() if name.endswith(".parquet")}


def test_a_literal_shard_becomes_examples(released: Vocabulary, tmp_path: Path) -> None:
    torch.save(
        [{"src": [[9, 10, 3, 11], [12, 0]], "tgt": [4, 13, 8, 14, 5], "tgt_str": "<t> x </t> <t> y </t>"}],
        tmp_path / "WIKI.valid.7.pt",
    )
    file = {"name": "WIKI", "split": "valid", "number": 7, "layout": "pt"}
    expected = {
        "article_id": item_id("valid", 7, 0),
        "split": "valid",
        "title": [9, 10],
        "source": [[11], [12, 0]],
        "slots": [],
        "target": [4, 13, 8, 14, 5],
        "title_text": released.decode([9, 10]),
        "target_text": "x y",
    }
    table = import_examples(released, folder=str(tmp_path), file=file)
    assert table.schema == EXAMPLES.schema
    assert table.to_pylist() == [expected]
    dropped = import_examples(released, folder=str(tmp_path), file=file, sentence_marks="drop")
    assert dropped.to_pylist() == [{**expected, "target": [4, 13, 14, 5]}]


def test_ids_hang_on_split_shard_and_index() -> None:
    places = [("train", 0, 0), ("train", 0, 1), ("train", 1, 0), ("valid", 0, 0)]
    ids = [item_id(*place) for place in places]
    assert len(set(ids)) == 4
    assert ids[0] == "c5f7a84962891531"  # must never change: predictions and scores are joined by it


def test_a_folder_is_imported_and_a_second_run_finds_all_done(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    import_to(root, folder)
    examples, articles = table_of(root, "examples"), table_of(root, "articles")
    assert examples["split"].to_pylist() == ["valid", "test", "train", "train", "train"]
    assert sorted(examples["title_text"].to_pylist()) == ["aral", "hills", "north", "river", "sea"]
    assert articles.schema == ARTICLES.schema
    assert articles["article_id"].to_pylist() == examples["article_id"].to_pylist()
    assert set(articles["lead"].to_pylist()) == {"the river . it flows ."}
    before = shards_of(root)
    import_to(root, folder)
    assert shards_of(root) == before


def test_a_changed_shard_alone_is_imported_anew(folder: Path, tmp_path: Path, released: Vocabulary) -> None:
    root = tmp_path / "root"
    import_to(root, folder)
    before = shards_of(root / "examples")
    torch.save([item(released, "sea")] * 3, folder / "WIKI.train.1.pt")
    import_to(root, folder)
    assert table_of(root, "examples").num_rows == 7
    (new,) = shards_of(root / "examples").items() - before.items()
    assert pq.read_metadata(root / "examples" / new[0]).num_rows == 3


def test_a_faulty_item_stops_its_shard_and_leaves_the_others_done(
    folder: Path, tmp_path: Path, released: Vocabulary
) -> None:
    root = tmp_path / "root"
    torch.save([item(released, "sea"), item(released, "aral", tgt=[BEGIN, 60_000, END])], folder / "WIKI.train.0.pt")
    with pytest.raises(
        StageFailedError, match=r"WIKI.train.0.pt, item 1, tgt\[1\]: expected an id of the vocabulary, 0 to"
    ):
        import_to(root, folder)
    done = shards_of(root / "examples")
    assert len(done) == 3
    torch.save([item(released, "sea")], folder / "WIKI.train.0.pt")
    import_to(root, folder)
    assert table_of(root, "examples").num_rows == 4
    assert done.items() <= shards_of(root / "examples").items()


class Hostile:
    """What a pickle from outside could hold: loading it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("new_format", [True, False])
def test_a_pickle_that_would_run_code_is_refused_and_runs_none(folder: Path, tmp_path: Path, new_format: bool) -> None:
    trace = tmp_path / "trace"
    torch.save([Hostile(trace)], folder / "WIKI.train.1.pt", _use_new_zipfile_serialization=new_format)
    with pytest.raises(
        StageFailedError, match=r"WIKI.train.1.pt was refused: it is not a plain list .* loading it would call"
    ) as refused:
        import_to(tmp_path / "root", folder)
    message = str(refused.value)
    assert "mkdir" in message
    assert "weights_only" not in message
    assert not trace.exists()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


def _whole() -> bytes:
    buffer = io.BytesIO()
    torch.save([{}], buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("data", [b"", b"no pickle at all", _zip(), _whole()[:-40], b"\x80\x02."])
def test_a_damaged_shard_is_named(folder: Path, tmp_path: Path, data: bytes, released: Vocabulary) -> None:
    (folder / "WIKI.train.1.pt").write_bytes(data)
    with pytest.raises(
        StageFailedError, match=r"WIKI.train.1.pt: expected a list of dicts written by torch.save; .* damaged"
    ):
        import_to(tmp_path / "root", folder)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("WIKI.train.0.json", b"{", "WIKI.train.0.json: expected a JSON list of items"),
        ("WIKI.train.0.json", b"[" * 100_000, "WIKI.train.0.json: expected a JSON list of items"),
        ("WIKI.train.0.json", b"{}", "WIKI.train.0.json: expected a list of items, got dict"),
        ("WIKI.train.0.json", b"[1]", "WIKI.train.0.json, item 0: expected a dict"),
    ],
)
def test_json_that_is_no_shard_is_named(
    tmp_path: Path, released: Vocabulary, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    file = {"name": "WIKI", "split": "train", "number": 0, "layout": "json"}
    with pytest.raises(ValueError, match=message):
        import_graphs(released, folder=str(tmp_path), file=file)


def test_what_a_user_can_get_wrong_is_said(folder: Path, tmp_path: Path, released: Vocabulary) -> None:
    root = tmp_path / "root"
    with pytest.raises(ValueError, match="no shards in"):
        import_to(root, tmp_path / "none", folder / "spm.model")
    with pytest.raises(OSError, match=r"spm\.other"):
        import_to(root, folder, folder / "spm.other")
    with pytest.raises(StageFailedError, match="expected a serialized SentencePiece model"):
        import_to(root, folder, folder / "WIKI.valid.0.pt")
    with pytest.raises(StorageError, match="does not exist"):
        export(tmp_path / "out", tmp_path / "none")
    (folder / "WIKI.train.0.json").write_text("[]")
    with pytest.raises(ValueError, match="expected the shards of one dataset in"):
        import_to(root, folder)
    (folder / "WIKI.train.0.json").unlink()
    import_to(root, folder)
    with pytest.raises(ValueError, match="has no stage graphs"):
        export(tmp_path / "out", root, "json")
    with pytest.raises(StorageError, match="no build 'x'"):
        export(tmp_path / "out", root, build="x")
    with pytest.raises(ValueError, match="--layout pt writes the examples of a build: expected no --columns, --model"):
        export(tmp_path / "out", root, model="champion")


def test_the_release_comes_back_item_by_item(folder: Path, tmp_path: Path) -> None:
    """Files are numbered by the store's shards, and items come in order of article id; nothing else is different."""
    root, out = tmp_path / "root", tmp_path / "out"
    import_to(root, folder)
    export(out, root)
    pairs = {
        "WIKI.valid.0.pt": "WIKI.valid.0.pt",
        "WIKI.test.1.pt": "WIKI.test.0.pt",
        "WIKI.train.2.pt": "WIKI.train.0.pt",
        "WIKI.train.3.pt": "WIKI.train.1.pt",
    }
    assert sorted(path.name for path in out.iterdir()) == sorted([*pairs, "records", "spm.model"])
    assert (out / "spm.model").read_bytes() == (folder / "spm.model").read_bytes()
    for new, old in pairs.items():
        found, expected = (torch.load(path, weights_only=True) for path in (out / new, folder / old))
        assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_our_corpus_goes_out_with_sentence_marks_and_comes_back_equal(tmp_path: Path) -> None:
    words, root = ours.vocabulary(), tmp_path / "root"
    source = tmp_path / "source"
    source.mkdir()
    (source / "spm.model").write_bytes(words.model)
    examples = pa.concat_tables([ours.examples("train"), ours.examples("test", titles=["Dolva"])])
    graphs = ours.graphs(examples)
    for split in ("train", "test"):
        rows = examples.filter(pa.compute.equal(examples["split"], split))
        made = [write_item(one, marks_of(words), location="") for _, one in items_of(rows, graphs, words)]
        (source / f"WIKI.{split}.0.json").write_bytes(items_bytes(made, "json"))
    import_to(root, source, sentence_marks="drop")
    found = {row["title_text"] + row["split"]: row for row in table_of(root, "examples").to_pylist()}
    for row in examples.to_pylist():
        back = found.pop(row["title_text"] + row["split"])
        assert {**back, "article_id": None} == {**row, "article_id": None}
    assert found == {}
    drawn = table_of(root, "graphs")
    assert drawn.schema == GRAPHS.schema
    assert {str(astuple_of(row)) for row in drawn.to_pylist()} == {str(astuple_of(row)) for row in graphs.to_pylist()}
    out = tmp_path / "out"
    export(out, root, "json")
    (first,) = json.loads((out / "WIKI.test.0.json").read_bytes())
    assert first["sim_graph"] == [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]


def astuple_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["nodes"], row["similarity"], row["discourse"]


def test_export_skips_what_is_done_and_clears_what_went(folder: Path, tmp_path: Path, released: Vocabulary) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    import_to(root, folder)
    export(out, root)
    before = files_of(out)
    assert sum("done before" in line for line in export(out, root)) == 4
    assert files_of(out) == before
    (out / "WIKI.train.2.pt").unlink()
    (folder / "WIKI.test.0.pt").rename(folder / "WIKI.test.9.pt")
    (folder / "WIKI.valid.0.pt").rename(folder / "WIKI.test.0.pt")
    import_to(root, folder)
    export(out, root)
    shards = sorted(path.name for path in out.glob("*.pt"))
    assert shards == ["WIKI.test.0.pt", "WIKI.test.1.pt", "WIKI.train.2.pt", "WIKI.train.3.pt"]


def test_sentence_marks_stand_between_the_ids_of_sentences(released: Vocabulary) -> None:
    words = ours.vocabulary()
    first, second = "Aral is a river.", "Boreth is a city."
    text, ids = f"{first} {second}", [words.encode(first), words.encode(second)]
    plain = [words.begin, *ids[0], *ids[1], words.end]
    marked = [words.begin, *ids[0], words.sentence_mark, *ids[1], words.end]
    assert mark_sentences(plain, text, words) == (marked, [first, second])
    assert mark_sentences(marked, text, words) == (marked, [first, second])
    assert mark_sentences(plain[:-2], text, words) == (marked[:-2], [first, second])  # a lead that was cut
    assert mark_sentences(plain[:3], text, words) == (plain[:3], [first, second])
    small = [words.begin, *words.encode("aral ."), words.sentence_mark, *words.encode("a city ."), words.end]
    assert mark_sentences(small, "aral . a city .", words) == (small, ["aral .", "a city ."])
    assert mark_sentences(small, "Aral. A city.", words) == (small, ["Aral. A city."])
    other = [words.begin, *ids[1], *ids[0], words.end]
    assert mark_sentences(other, text, words) == (other, [first, second])
    spaced = f"{first}  {second}"
    assert mark_sentences(plain, spaced, words) == (plain, [spaced])
    assert mark_sentences([words.begin, words.end], "", words) == ([words.begin, words.end], [])


def test_a_summarizer_trains_on_what_was_imported(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "root"))
    corpus = ImportSettings(folder=str(folder), vocabulary=str(folder / "spm.model"))
    vocabulary, examples, _, _ = import_corpus(Run(store, Executor()), corpus)
    shards = every(examples).loading(0)(store)
    record = vocabulary.in_order[0]
    table = store.read_table(record.path, record.written.sha256)
    result = train_summarizer(
        shards, table, ours.TINY, training=ours.FEW.model_copy(update={"steps": 2}), directory=tmp_path, seed=1
    )
    assert result["steps"] == 2
    assert result["finished"]


TEXTS = st.lists(st.sampled_from(["Aral is a river.", "It flows.", "Mr. A. lives", "ß 7"]), max_size=3).map(" ".join)


@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_import_undoes_export(data: st.DataObject, tmp_path: Path) -> None:
    """import(export(x)) == x but for article ids, with titles and leads whose text is that of their ids."""
    words = ours.vocabulary()
    ids = st.lists(st.integers(7, words.size - 1), max_size=5)
    rows, edges = [], []
    for number in range(data.draw(st.integers(0, 3))):
        text, title = data.draw(TEXTS), data.draw(ids)
        target = [words.begin, *words.encode(text), words.end]
        row = {
            "article_id": f"{number:016x}",
            "split": "test",
            "title": title,
            "source": data.draw(st.lists(ids, min_size=1, max_size=4)),
            "slots": [],
            "target": target[: max(2, data.draw(st.integers(2, len(target))))],
            "title_text": words.decode(title),
            "target_text": text,
        }
        nodes = len(row["source"])
        pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
        chosen = sorted(data.draw(st.sets(st.sampled_from(pairs)))) if pairs else []
        graph = [{"i": i, "j": j, "weight": data.draw(st.floats(2**-20, 1, width=32))} for i, j in chosen]
        rows.append(row)
        edges.append({"article_id": row["article_id"], "nodes": nodes, "similarity": graph, "discourse": graph[:1]})
    examples = pa.Table.from_pylist(rows, schema=EXAMPLES.schema)
    graphs = pa.Table.from_pylist(edges, schema=GRAPHS.schema)
    made = [write_item(one, marks_of(words), location="") for _, one in items_of(examples, graphs, words)]
    renamed = {row["article_id"]: item_id("test", 5, number) for number, row in enumerate(rows)}
    file = ShardFile("WIKI", "test", 5, "json")
    for layout in ("pt", "json"):
        (tmp_path / f"WIKI.test.5.{layout}").write_bytes(items_bytes(made, layout))
        place = {"folder": str(tmp_path), "file": dict(zip(file.__dict__, [*astuple(file)[:3], layout], strict=True))}
        found = import_examples(words, sentence_marks="drop", **place)
        assert found.to_pylist() == relabelled(rows, renamed)
    assert import_graphs(words, **place).to_pylist() == relabelled(edges, renamed)


def relabelled(rows: list[dict[str, Any]], ids: dict[str, str]) -> list[dict[str, Any]]:
    return sorted(({**row, "article_id": ids[row["article_id"]]} for row in rows), key=lambda row: row["article_id"])
