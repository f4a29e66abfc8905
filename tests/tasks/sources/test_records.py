"""Articles from JSONL: byte ranges, digests, and messages that say where to look."""

import gzip
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sources.records import RecordsSource
from tasks.sources.settings import RecordsSettings
from tasks.sources.source import Article, GivenDocument

LINE = {"title": "Ada", "lead": "Ada was.", "references": ["http://a.test/"]}


def records(*paths: Path | str, partition_bytes: int = 1 << 20) -> RecordsSource:
    return RecordsSource(RecordsSettings(paths=tuple(map(str, paths))), partition_bytes=partition_bytes)


def read(source: RecordsSource) -> list[Article]:
    return [article for partition in source.partitions() for article in source.read(partition)]


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_every_field_is_read_and_others_are_ignored(tmp_path: Path) -> None:
    full = LINE | {
        "search_results": ["http://s.test/"],
        "group": "g",
        "split": "test",
        "revision": 12,
        "licence": "CC0",
        "page": 7,
        "domain": ["ignored"],
    }
    file = write(tmp_path / "a.jsonl", full, "", LINE | {"group": None, "split": None})
    assert read(records(file)) == [
        Article("Ada", "Ada was.", ("http://a.test/",), ("http://s.test/",), "test", "g", "12", "CC0", page="7"),
        Article("Ada", "Ada was.", ("http://a.test/",)),
    ]


def test_a_partition_ends_with_the_line_that_passes_its_size(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines = [json.dumps(LINE | {"title": letter}) + "\n" for letter in "abc"]
    file.write_text("".join(lines))
    size = len(lines[0])
    source = records(file, partition_bytes=size + 1)
    partitions = source.partitions()
    assert [(part.start, part.stop) for part in partitions] == [(0, 2 * size), (2 * size, 3 * size)]
    assert partitions[0].digest == hashlib.sha256(b"1" + "".join(lines[:2]).encode()).hexdigest()
    assert [[article.title for article in source.read(part)] for part in partitions] == [["a", "b"], ["c"]]


@given(st.lists(st.text(min_size=0, max_size=30), max_size=12), st.integers(1, 200), st.booleans())
def test_partitions_hold_every_article_once_in_order(titles: list[str], size: int, last_newline: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.jsonl"
        text = "\n".join(json.dumps(LINE | {"title": title}, ensure_ascii=False) for title in titles)
        file.write_text(text + ("\n" if last_newline and text else ""), encoding="utf-8", newline="")
        assert [article.title for article in read(records(file, partition_bytes=size))] == titles


def test_a_change_in_one_range_leaves_the_digests_of_the_others(tmp_path: Path) -> None:
    lines = [LINE | {"title": f"T{number}"} for number in range(3)]
    before = records(write(tmp_path / "a.jsonl", *lines), partition_bytes=1).partitions()
    lines[1]["lead"] = "Ada is. "
    after = records(write(tmp_path / "a.jsonl", *lines), partition_bytes=1).partitions()
    assert [old.digest == new.digest for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_several_files_globs_and_gzip(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", LINE | {"title": "b1"}, LINE | {"title": "b2"})
    write(tmp_path / "a.jsonl", LINE | {"title": "a"})
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as stream:
        stream.write(json.dumps(LINE | {"title": "c1"}) + "\n" + json.dumps(LINE | {"title": "c2"}) + "\n")
    source = records(tmp_path / "c.jsonl.gz", tmp_path / "*.jsonl", tmp_path / "a.jsonl", partition_bytes=1)
    assert [article.title for article in read(source)] == ["c1", "c2", "a", "b1", "b2"]
    assert len(source.partitions()) == 4


def test_a_byte_order_mark_and_windows_newlines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(LINE).encode() + b"\r\n")
    assert [article.title for article in read(records(file))] == ["Ada"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{title", r"Invalid JSON: .*, got '\{title"),
        ("[1]", r"Input should be an object, got \[1\]"),
        ({"lead": "L.", "references": []}, "field 'title': Field required"),
        (LINE | {"lead": None}, "field 'lead': Input should be a valid string, got None"),
        (LINE | {"references": "http://a.test/"}, "field 'references': .* valid array, got 'http://a.test/'"),
        (LINE | {"references": ["u", 3]}, "field 'references.1': Input should be a valid string, got 3"),
        ({"title": "A", "lead": "L."}, "field 'references' is missing: expected a list of strings"),
        (LINE | {"search_results": {}}, r"field 'search_results': Input should be a valid array, got \{\}"),
        (LINE | {"group": 1}, "field 'group': Input should be a valid string, got 1"),
        (LINE | {"revision": True}, "field 'revision': Input should be a valid string, got True"),
        (LINE | {"split": "dev"}, "field 'split': Input should be 'train', 'valid' or 'test', got 'dev'"),
        (LINE | {"title": "\ud800"}, "Invalid JSON: .* hex escape"),
        (LINE | {"documents": ["text"]}, "field 'documents.0': Input should be an object, got 'text'$"),
        (LINE | {"documents": [{"text": "x"}]}, "field 'documents': expected it in the first line of the file too"),
        (LINE | {"documents": [{}]}, "field 'documents.0': expected either field 'text' or 'paragraphs', got {}"),
        (LINE | {"documents": [{"text": "x", "paragraphs": []}]}, "field 'documents.0': expected either field"),
        (
            LINE | {"documents": [{"text": "x"}, {"text": 1}]},
            "field 'documents.1.text': Input should be a valid string, got 1",
        ),
        (LINE | {"documents": [{"paragraphs": "x"}]}, "field 'documents.0.paragraphs': Input should be a valid array"),
    ],
)
def test_a_malformed_line_is_named_in_any_partition(tmp_path: Path, line: Any, message: str) -> None:
    file = write(tmp_path / "a.jsonl", LINE, "", LINE, line, LINE)
    for size in (1, 1 << 20):
        with pytest.raises(ValueError, match=rf"a\.jsonl, line 4: {message}"):
            read(records(file, partition_bytes=size))


def test_all_malformed_lines_are_named_up_to_twenty(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", LINE, "{", LINE, "[1]", "")
    with pytest.raises(ValueError, match="malformed in all") as failure:
        read(records(file))
    assert [line.partition(": ")[0].strip() for line in str(failure.value).splitlines()] == [
        f"{file}, line 2",
        f"{file}, line 4",
        "2 malformed in all",
    ]
    with pytest.raises(ValueError, match="malformed in all") as failure:
        read(records(write(tmp_path / "b.jsonl", *["{"] * 23)))
    lines = str(failure.value).splitlines()
    assert len(lines) == 21
    assert lines[19].startswith(f"  {tmp_path / 'b.jsonl'}, line 20: ")
    assert lines[20] == "  23 malformed in all"


def test_nothing_follows_the_first_malformed_line(tmp_path: Path) -> None:
    source = records(write(tmp_path / "a.jsonl", "{", LINE))
    with pytest.raises(ValueError, match="line 1"):  # as the check before a run reads it
        next(source.read(source.partitions()[0]))


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_as_many_lines_as_allowed_are_refused(tmp_path: Path, size: int) -> None:
    settings = RecordsSettings(paths=(str(write(tmp_path / "a.jsonl", "{", LINE, "[1]", LINE)),))
    articles = read(RecordsSource(settings, partition_bytes=size, malformed=2))
    assert [(article.title, article.drop_reason) for article in articles] == [
        ("a.jsonl, line 1", "malformed_line"),
        ("Ada", None),
        ("a.jsonl, line 3", "malformed_line"),
        ("Ada", None),
    ]
    with pytest.raises(ValueError, match=r"(?s)line 1: .*; the file has 2, source\.malformed allows 1"):
        read(RecordsSource(settings, partition_bytes=size, malformed=1))


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(json.dumps(LINE).encode() + b'\n{"title": "\xe9"}\n')
    with pytest.raises(ValueError, match=r"line 2: expected UTF-8, got the byte 0xe9"):
        read(records(tmp_path / "a.jsonl"))


def test_a_malformed_line_in_gzip_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(LINE).encode() + b"\n{\n"))
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz, line 2: Invalid JSON"):
        read(records(tmp_path / "a.jsonl.gz"))


@pytest.mark.parametrize("cut", [20, -4])
def test_a_gzip_file_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress("".join(json.dumps(LINE | {"title": str(n)}) + "\n" for n in range(50)).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(whole[:cut])
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz: expected a whole gzip file"):
        read(records(tmp_path / "a.jsonl.gz"))


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.jsonl \(source\.records\.paths\)"):
        records(tmp_path / "none.jsonl").partitions()
    with pytest.raises(FileNotFoundError, match=r"no file matches '.*\*\.jsonl'"):
        records(tmp_path / "*.jsonl").partitions()
    with pytest.raises(ValueError, match="expected at least one JSONL file"):
        records().partitions()


def test_an_empty_file_has_no_partition(tmp_path: Path) -> None:
    assert records(write(tmp_path / "a.jsonl")).partitions() == []


def test_a_file_that_has_shrunk_since_is_noticed(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", LINE, LINE)
    source = records(file, partition_bytes=1)
    last = source.partitions()[-1]
    write(file, LINE)
    with pytest.raises(ValueError, match="beyond the end of the files"):
        list(source.read(last))


def test_documents_come_with_their_article(tmp_path: Path) -> None:
    pile = [{"url": "u", "title": "T", "text": "One.\n\n Two  words.\n"}, {"paragraphs": ["Three.", " "]}]
    without_references = {"title": "Ada", "lead": "Ada was.", "documents": pile}
    source = records(write(tmp_path / "a.jsonl", without_references, LINE, LINE | {"documents": []}))
    assert source.gives_documents
    documents = (GivenDocument("u", "T", ("One.", "Two words.")), GivenDocument("document:2", None, ("Three.",)))
    plain = Article("Ada", "Ada was.", ("http://a.test/",))
    assert read(source) == [Article("Ada", "Ada was.", (), documents=documents), plain, plain]


def test_only_the_first_lines_say_whether_there_are_documents(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl", LINE)
    before = records(plain).partitions()[0].digest
    assert not records(plain).gives_documents
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as stream:
        stream.write("\n" + json.dumps(LINE | {"documents": []}) + "\n")
    both = records(plain, tmp_path / "b.jsonl.gz")
    assert both.gives_documents
    assert both.partitions()[0].digest == before
    broken = tmp_path / "c.jsonl"
    broken.write_text('{"documents"\n')
    assert not records(broken).gives_documents


@pytest.mark.shared_data
def test_the_real_articles_are_read(shared_data: Path) -> None:
    articles = read(records(shared_data / "wikigraph" / "articles.jsonl", partition_bytes=100_000))
    assert len(articles) == 233
    assert all(article.group and article.split and article.lead and article.references for article in articles)
