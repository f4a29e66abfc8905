"""A corpus as a shared folder: literal rows, the card, Croissant, bad input, and an export that is cut off."""

import hashlib
import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from storage.errors import CorruptShardError, StorageError
from storage.inventory import take_stock
from storage.store import Store
from tasks.exchange.shared_corpus.card import hub_licence, yaml_features
from tasks.exchange.shared_corpus.exporting import export_corpus
from tasks.exchange.shared_corpus.settings import PARTS, SharedCorpusSettings
from tasks.exchange.shared_corpus.shards import shared_dataset
from tasks.exchange.sharing import Sharing, share
from tasks.reporting.markdown import escape
from tests.tasks.exchange import corpus_root
from tests.tasks.exchange.corpus_root import BORE, EDGE, LEAD, SALMON, WALES, WIDE

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "root"
    corpus_root.make_corpus(root)
    return root


def export(root: Path, to: Path, sizes: dict[str, int] | None = None, **settings: Any) -> list[str]:
    """Export and return what was told."""
    told: list[str] = []
    chosen = SharedCorpusSettings(**settings)
    told.append(export_corpus(Store(str(root)), Store(str(to)), chosen, tell=told.append, **(sizes or {})))
    return told


def rows(to: Path, split: str) -> list[dict[str, Any]]:
    return [row for path in sorted((to / "data").glob(f"{split}-*")) for row in pq.read_table(path).to_pylist()]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_an_article_is_a_row(root: Path, tmp_path: Path) -> None:
    told = export(root, tmp_path, page_text="all")
    assert told[0].startswith("4 articles: train 3 (files: 1), validation 0 (files: 0), test 1 (files: 1); about ")
    names = [
        "README.md",
        "croissant.json",
        "data/test-00000-of-00001.parquet",
        "data/train-00000-of-00001.parquet",
        "export.json",
    ]
    assert sorted(content(tmp_path)) == names
    first, *others = rows(tmp_path, "train")
    assert {name: first[name] for name in ("id", "title", "licence", "source", "revision", "group", "summary")} == {
        "id": "0000000000000001",
        "title": "River 1",
        "licence": "CC BY-SA 4.0",
        "source": "records",
        "revision": None,
        "group": None,
        "summary": LEAD,
    }
    assert (first["references"], first["search_results"]) == (["http://x.test/1"], [])
    rights = {"licence": None, "licence_source": None, "reservations": "", "language": "en"}
    stated = {"date": "2024-05-03", "author": "Ann Molloy", "site": None}
    page = {"url": "http://x.test/1", "title": "Page of 1", **stated, "provenance": "citation", **rights}
    given = {**page, "url": "document:1", "licence": "CC-BY-SA-4.0", "licence_source": "source"}
    found = {
        "url": "http://y.test/1",
        "title": None,
        **stated,
        "provenance": "search",
        "licence": "CC-BY-4.0",
        "licence_source": "rel-license",
        "reservations": "header noai; meta noai",
        "language": None,
    }
    texts = [f"{WIDE}\n{WALES}", SALMON, BORE]  # the refused paragraph is not among them
    assert first["documents"] == [
        {**one, "sha256": digest(text), "text": text} for one, text in zip((page, given, found), texts, strict=True)
    ]
    places = [(0, 0), (0, 1), (1, 0), (2, 0)]
    assert [(label["document"], label["paragraph"]) for label in first["labels"]] == places
    assert [label["sha256"] for label in first["labels"]] == [digest(text)[:16] for text in (WIDE, WALES, SALMON, BORE)]
    # Of the lead's 16 bigrams WALES has: the longest, longest river, river in, in great, great britain, of wales.
    assert [round(16 * label["rouge2_recall"], 4) for label in first["labels"]] == [0, 6, 0, 0]
    assert first["ranked"] == [
        {"document": 0, "paragraph": 0, "score": pytest.approx(0.9)},
        {"document": 1, "paragraph": 0, "score": 0.5},
    ]
    assert (first["similarity"], first["discourse"]) == ([EDGE], [])
    assert [(row["id"][-1], row["group"], len(row["documents"])) for row in others] == [
        ("4", "France", 1),
        ("5", None, 0),
    ]
    assert others[0]["documents"][0]["text"] == ""  # its only paragraph was refused
    assert (others[0]["labels"], others[0]["ranked"]) == ([], [])


def test_what_was_refused_across_articles_is_not_exported(tmp_path: Path) -> None:
    corpus_root.make_corpus(tmp_path / "root", ranked=False, refused=(WIDE, "near_duplicate"))
    export(tmp_path / "root", tmp_path / "to", page_text="all", columns=("summary", "documents", "labels"))
    first, test = rows(tmp_path / "to", "train")[0], rows(tmp_path / "to", "test")[0]
    assert [document["text"] for document in first["documents"]] == [WALES, SALMON, BORE]
    assert [label["sha256"] for label in first["labels"]] == [digest(text)[:16] for text in (WALES, SALMON, BORE)]
    assert [document["text"] for document in test["documents"]] == [BORE]


def test_text_without_a_known_licence_is_left_out_unless_it_is_asked_for(root: Path, tmp_path: Path) -> None:
    def texts(folder: str, **settings: Any) -> list[list[str | None]]:
        told = export(root, tmp_path / folder, **settings)
        article, test = rows(tmp_path / folder, "train")[0], rows(tmp_path / folder, "test")[0]
        assert [document["sha256"] for document in article["documents"]][1] == digest(SALMON)
        assert ("left out" in told[-1]) == (folder != "all")
        return [[document["text"] for document in row["documents"]] for row in (article, test)]

    # Of the first article the source licenses the second document, the third claims a licence itself.
    assert texts("licensed") == [[None, SALMON, BORE], [None]]
    assert texts("none", page_text="none") == [[None, None, None], [None]]
    assert None not in [text for some in texts("all", page_text="all") for text in some]


@pytest.mark.parametrize(
    ("licence", "kept"),
    [("CC-BY-4.0", ("licensed", "free")), ("CC-BY-NC-4.0", ("licensed",)), ("CC-BY-NC-ND-4.0", ()), (None, ())],
)
def test_text_is_exported_as_its_licence_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, licence: str | None, kept: tuple[str, ...]
) -> None:
    monkeypatch.setitem(corpus_root.CRAWLED[1], "licence", licence)
    corpus_root.make_corpus(tmp_path / "root")
    for page_text in ("licensed", "free"):
        folder = tmp_path / page_text
        export(tmp_path / "root", folder, page_text=page_text)
        claimed = rows(folder, "train")[0]["documents"][2]
        assert (claimed["text"], claimed["licence"]) == (BORE if page_text in kept else None, licence)
        card = (folder / "README.md").read_text()
        assert ("Text under a licence that forbids changes (ND) is left out" in card) == (page_text == "licensed")


def test_the_card_tells_a_stranger_what_is_in_the_folder(root: Path, tmp_path: Path) -> None:
    export(root, tmp_path)
    card = (tmp_path / "README.md").read_text()
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["license"] == "other"  # one article has none
    assert header["configs"][0]["data_files"] == [
        {"split": "train", "path": "data/train-*.parquet"},
        {"split": "test", "path": "data/test-*.parquet"},
    ]
    assert [(split["name"], split["num_examples"]) for split in header["dataset_info"]["splits"]] == [
        ("train", 3),
        ("test", 1),
    ]
    for line in (
        "| articles | 3 | 1 |",
        "| words of a summary | 17.0 | 17.0 |",
        "| documents of an article | 1.3 | 1.0 |",
        "| articles without a document | 1 | 0 |",
        "| leads that occur in a source, % | 0.0 | 0.0 |",
        "| paragraphs of an article | 1.3 | 2.0 |",
        "| highest ROUGE-2 recall of an article's paragraphs, % | 37.5 | 0.0 |",
        "| not recorded | 1 |",
        "| paragraphs | `too_short` | 2 | fewer than six words |",
        "find out whether you may use",
        "**The text of 3 of 5 documents is left out**, because no licence of theirs was found, or it forbids changes.",
        "| may be shared and changed | 2 | 40.0 |",
        "| no claim found | 3 | 60.0 |",
        f"| {escape('CC-BY-4.0')} | 1 | 20.0 |",
        f"| {escape('a link with rel=license')} | 1 | 20.0 |",
        "| the source of the articles | 1 | 20.0 |",
        "| any of the signs | 1 | 20.0 |",
        "| one against training | 1 | 20.0 |",
        "| header noai | 1 | 20.0 |",
        "| en | 4 | 80.0 |",
        "| not sure | 1 | 20.0 |",
        f"| {escape('e-mail addresses')} | 2 | – |",
        "| documents with any of it | 1 | 20.0 |",
        "`paths: articles.jsonl`",
    ):
        assert line in card, card
    # Severn, Great Britain, Cambrian Mountains and Wales: the first article's paragraphs name two of them.
    assert "| values of the summaries that occur in the paragraphs, % | 16.7 | 0.0 |" in card
    for private in ("someone", "/home"):
        assert private not in card
    told = json.loads((tmp_path / "export.json").read_text())
    for name, file in told["files"].items():
        assert file["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("reason", ["clone_document", "clone", "clone_of_part", "mirror"])
def test_the_card_counts_leads_that_occur_in_a_source_by_split(tmp_path: Path, reason: str) -> None:
    corpus_root.make_corpus(tmp_path / "root", ranked=False, refused=(WIDE, reason))
    export(tmp_path / "root", tmp_path / "shared")
    card = (tmp_path / "shared" / "README.md").read_text()
    assert "| leads that occur in a source, % | 33.3 | 100.0 |" in card  # articles 1 and 2, of 1, 4, 5 and of 2


def test_columns_are_chosen(root: Path, tmp_path: Path) -> None:
    export(root, tmp_path / "a", columns=("summary", "urls"))
    names = ["id", "title", "licence", "source", "revision", "group", "summary", "references", "search_results"]
    assert list(rows(tmp_path / "a", "train")[0]) == names
    assert "documents of an article" not in (tmp_path / "a" / "README.md").read_text()
    corpus_root.make_corpus(tmp_path / "unranked", ranked=False)
    export(tmp_path / "unranked", tmp_path / "b")
    assert not {"ranked", "similarity", "discourse"} & rows(tmp_path / "b", "train")[0].keys()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"columns": "documents,pictures"}, "unknown column 'pictures': expected some of summary, urls, documents"),
        ({"columns": "summary,labels"}, "labels without documents, to which they belong: expected documents too"),
        ({"columns": ","}, "columns is empty: expected some of"),
        ({"build": "2026"}, "no build '2026' below"),
        ({"root": "{tmp}/nowhere"}, "nowhere' does not exist: expected the folder or URI of a build"),
        ({"root": "{tmp}/empty"}, "has no build: expected the root of a finished build"),
        ({"to": "{root}"}, "holds 'articles' and no export: expected an empty or new folder"),
        ({"model": "7"}, "no version 7 below"),
        ({"model": "7", "columns": "summary"}, "--columns choose a corpus, --model a summarizer: expected one"),
        ({"to": "s3://bucket/x", "push": "org/name"}, "expected a folder of this machine"),
    ],
)
def test_what_is_wrong_is_named_before_work_starts(
    root: Path, tmp_path: Path, changed: dict[str, str], expected: str
) -> None:
    take_stock(Store(str(tmp_path / "empty")))
    options = {"root": str(root), "to": str(tmp_path / "to")}
    options |= {name: value.format(root=root, tmp=tmp_path) for name, value in changed.items()}
    before = content(root)
    with pytest.raises((ValueError, StorageError), match=expected):
        share(Sharing(**options))
    assert not (tmp_path / "to").exists()
    assert content(root) == before


def test_builds_without_what_is_asked_for_are_refused(tmp_path: Path) -> None:
    corpus_root.make_corpus(tmp_path / "root", ranked=False)
    with pytest.raises(ValueError, match="columns has ranked, but the build has no stage ranked"):
        export(tmp_path / "root", tmp_path / "to", columns=("documents", "ranked"))
    corpus_root.make_corpus(tmp_path / "imported", config={"imported": {"folder": "x"}})
    with pytest.raises(ValueError, match=r"imported, no corpus of its own: expected another build"):
        export(tmp_path / "imported", tmp_path / "to")


def test_a_folder_with_something_else_is_left_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds 'notes\.txt' and no export"):
        export(root, tmp_path)
    assert sorted(content(tmp_path)) == ["notes.txt"]
    export(root, tmp_path / "to", columns=("summary",))
    before = content(tmp_path / "to")
    with pytest.raises(ValueError, match=r"an export with columns \['summary'\], not \['summary', 'urls'\]"):
        export(root, tmp_path / "to", columns=("summary", "urls"))
    assert content(tmp_path / "to") == before


def test_a_dry_run_writes_nothing_and_a_second_run_finds_all_done(root: Path, tmp_path: Path) -> None:
    told: list[str] = []
    done = export_corpus(
        Store(str(root)), Store(str(tmp_path / "to")), SharedCorpusSettings(), dry_run=True, tell=told.append
    )
    assert told[0].startswith("4 articles")
    assert done.startswith("dry run: nothing was written")
    assert not (tmp_path / "to").exists()
    export(root, tmp_path / "to")
    assert export(root, tmp_path / "to") == [f"{tmp_path / 'to'} holds this export already: 4 files"]
    (tmp_path / "to/data/test-00000-of-00001.parquet").unlink()
    assert export(root, tmp_path / "to")[-1].startswith("4 articles in 4 files")


KILLED = """
import os, signal, sys
from storage.store import Store
from tasks.exchange.shared_corpus.exporting import export_corpus
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings
from tasks.exchange.shared_corpus.shards import CorpusShards

batches, calls = CorpusShards.batches, []


def killed(self, shard):
    yield from batches(self, shard)
    calls.append(0)
    if len(calls) == 3:  # the estimate and the first group are done, the file of the second is begun
        os.kill(os.getpid(), signal.SIGKILL)


CorpusShards.batches = killed
export_corpus(Store(sys.argv[1]), Store(sys.argv[2]), SharedCorpusSettings(page_text="all"), group_bytes=1)
"""


@pytest.mark.integration
def test_an_export_that_is_killed_ends_with_the_same_bytes_and_keeps_what_was_done(root: Path, tmp_path: Path) -> None:
    sizes = {"group_bytes": 1}  # a file for every shard
    export(root, tmp_path / "whole", sizes, page_text="all")
    assert len(list((tmp_path / "whole/data").glob("train-*-of-00002.parquet"))) == 2
    call = [sys.executable, "-c", KILLED, str(root), str(tmp_path / "to")]
    assert subprocess.run(call, cwd=PROJECT, check=False).returncode == -signal.SIGKILL
    left = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "to/data").glob("[!.]*")}
    assert sorted(left) == ["test-00000-of-00001.parquet", "train-00000-of-00002.parquet"]
    assert list((tmp_path / "to/data").glob(".*.tmp"))
    told = export(root, tmp_path / "to", sizes, page_text="all")
    assert [line.partition(": ")[0] for line in told[1:3]] == ["1 of 2", "2 of 2"]
    assert [line.endswith("done before") for line in told[1:3]] == [True, False]
    assert content(tmp_path / "to") == content(tmp_path / "whole")
    assert {name: (tmp_path / "to/data" / name).stat().st_mtime_ns for name in left} == left


FULL = """
import resource, sys
from storage.store import Store
from tasks.exchange.shared_corpus.exporting import export_corpus
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings

resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
export_corpus(Store(sys.argv[1]), Store(sys.argv[2]), SharedCorpusSettings())
"""


@pytest.mark.integration
def test_a_full_disk_leaves_no_half_written_file(root: Path, tmp_path: Path) -> None:
    call = [sys.executable, "-c", f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN){FULL}"]
    done = subprocess.run([*call, str(root), str(tmp_path)], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert "StorageFullError: no space left for " in done.stderr, done.stderr
    assert [path for path in (tmp_path / "data").iterdir() if path.is_file()] == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert export(root, tmp_path)[-1].startswith("4 articles in 4 files")


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    corpus_root.make_corpus(tmp_path / "root")
    (path,) = (tmp_path / "root/features").glob("part-00001.*.parquet")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(CorruptShardError, match=r"features/part-00001.*sha256"):
        export(tmp_path / "root", tmp_path / "to")
    assert list((tmp_path / "to/data").iterdir()) == []


def test_licences_have_the_names_of_the_hub() -> None:
    assert hub_licence({"CC BY-SA 4.0"}) == "cc-by-sa-4.0"
    assert hub_licence({"CC0-1.0"}) == "cc0-1.0"
    assert hub_licence({"not recorded"}) == "unknown"
    assert hub_licence({"CC BY-SA 4.0", "CC BY-SA 3.0"}) == hub_licence({"All rights reserved"}) == "other"


def test_the_values_of_a_large_corpus_are_looked_up_in_a_sample(root: Path, tmp_path: Path) -> None:
    export(root, tmp_path, {"looked_up": 2})
    counts = json.loads((tmp_path / "export.json").read_text())["counts"]
    assert sum(count["measured"] for count in counts.values()) < 4
    assert sum(count["articles"] for count in counts.values()) == 4


@pytest.mark.integration
def test_datasets_opens_and_streams_the_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    # Arrow's scanner threads can abort a Python that shuts down after streaming (apache/arrow#45214): end without.
    program = """
import os, sys
from datasets import load_dataset
whole = load_dataset(sys.argv[1])
streamed = load_dataset(sys.argv[1], streaming=True)
assert {split: len(rows) for split, rows in whole.items()} == {"train": 3, "test": 1}
for split in whole:
    assert list(streamed[split]) == list(whole[split])
    assert streamed[split].features == whole[split].features
print(whole["train"].features._to_yaml_list(), flush=True)
os._exit(0)
"""
    pytest.importorskip("datasets", reason="the data sets library is not installed")
    export(root, tmp_path / "to", page_text="all")
    call = [sys.executable, "-c", program, str(tmp_path / "to")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == repr(yaml_features(shared_dataset(PARTS).schema))


@pytest.mark.integration
def test_croissant_is_valid_and_reads_every_record(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant", reason="the reader of Croissant is not installed")
    export(root, tmp_path / "to", page_text="all")
    program = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(jsonld=sys.argv[1] + "/croissant.json")
assert not found.metadata.issues.errors and not found.metadata.issues.warnings, found.metadata.issues.report()
named = json.load(open(sys.argv[1] + "/croissant.json"))
named = [*named["distribution"], *named["recordSet"], *(field for one in named["recordSet"] for field in one["field"])]
assert all(one["name"] == one["@id"].split("/", one["@type"] == "cr:Field")[-1] for one in named)
rows = {split: list(found.records(record_set=split)) for split in ("train", "test")}
first = rows["train"][0]
print(json.dumps([len(rows["train"]), len(rows["test"]), first["train/summary"].decode(),
                  [document["train/documents/title"] and document["train/documents/title"].decode()
                   for document in first["train/documents"]],
                  [label["train/labels/paragraph"] for label in first["train/labels"]]]))
"""
    call = [sys.executable, "-c", program, str(tmp_path / "to")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [3, 1, LEAD, ["Page of 1", "Page of 1", None], [0, 1, 0, 0]]
    assert "is not standard" not in done.stderr, done.stderr
