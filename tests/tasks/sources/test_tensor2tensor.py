"""The published shards: pairs of files, the join, their split, and damage."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.sources.choice import open_source
from tasks.sources.settings import SourceSettings, Tensor2TensorSettings
from tasks.sources.source import Article
from tasks.sources.tensor2tensor import Tensor2TensorSource
from tests.tasks.sources.tfrecord_files import write_example, write_records

WIKI = "https://en.wikipedia.org/wiki/"


def content(title: str, *texts: str) -> bytes:
    return write_example(
        {
            "url": [f"{WIKI}{title}".encode()],
            "title": [title.replace("_", " ").encode()],
            "section_titles": [b""] + [b"S"] * (len(texts) - 1),
            "section_texts": [text.encode() for text in texts],
        }
    )


def write(folder: Path, number: int, entries: Any, records: list[bytes], *, of: int = 1000) -> None:
    suffix = f"{number:05}-of-{of:05}"
    (folder / "wiki_urls").mkdir(exist_ok=True)
    (folder / "wiki_content").mkdir(exist_ok=True)
    (folder / "wiki_urls" / f"wiki_urls.json-{suffix}").write_text(json.dumps(entries))
    with (folder / "wiki_content" / f"wiki_content.tfrecords-{suffix}").open("wb") as stream:
        write_records(stream, records)


def entry(title: str, *refs: str) -> dict[str, Any]:
    return {f"{WIKI}{title}": {"title": title.replace("_", " "), "refs": list(refs), "url": f"{WIKI}{title}"}}


def source(folder: Path, **more: Any) -> Tensor2TensorSource:
    where = {"urls": str(folder / "wiki_urls"), "content": str(folder / "wiki_content")}
    return Tensor2TensorSource(Tensor2TensorSettings(**(where | more)))


def read(shards: Tensor2TensorSource) -> list[Article]:
    return [article for part in shards.partitions() for article in shards.read(part)]


def test_urls_and_content_are_joined_by_the_article(tmp_path: Path) -> None:
    urls = entry("Gone", "http://g.test/") | entry("Ada_Bo", "http://a.test/", "http://b.test/")
    write(tmp_path, 42, urls, [content("Cy", "Cy is.\n", "More."), content("Ada_Bo", "Ada is.\nTwo.", "S.")])
    assert read(source(tmp_path)) == [
        Article("Cy", "Cy is.", (), split="valid", licence="CC BY-SA 3.0"),
        Article("Ada Bo", "Ada is.\nTwo.", ("http://a.test/", "http://b.test/"), split="valid", licence="CC BY-SA 3.0"),
        Article("Gone", "", (), split="valid", drop_reason="no_content"),
    ]


def test_an_article_without_sections_has_no_lead(tmp_path: Path) -> None:
    write(tmp_path, 1, entry("Ada", "http://a.test/"), [content("Ada")])
    assert [(article.lead, article.references) for article in read(source(tmp_path))] == [("", ("http://a.test/",))]


@pytest.mark.parametrize(
    ("number", "of", "split"),
    [
        (0, 1000, "valid"),
        (99, 1000, "valid"),
        (100, 1000, "test"),
        (199, 1000, "test"),
        (200, 1000, "train"),
        (999, 1000, "train"),
        (0, 10, "valid"),
        (1, 10, "test"),
        (2, 10, "train"),
    ],
)
def test_the_split_is_theirs_by_the_number_of_the_file(tmp_path: Path, number: int, of: int, split: str) -> None:
    write(tmp_path, number, entry("Ada", "http://a.test/"), [content("Ada", "Ada is.")], of=of)
    assert [article.split for article in read(source(tmp_path))] == [split]


def test_shards_come_by_number_and_patterns_choose_some(tmp_path: Path) -> None:
    for number in (7, 3, 12):
        write(tmp_path, number, {}, [content(f"T{number}", "Text.")])
    assert [article.title for article in read(source(tmp_path))] == ["T3", "T7", "T12"]
    first = source(tmp_path).partitions()[0]
    assert (first.name, first.start, first.stop) == ("shard 3 of 1000", 3, 4)
    some = {"urls": f"{tmp_path}/wiki_urls/*-0000?-of-*", "content": f"{tmp_path}/wiki_content/*-0000?-of-*"}
    assert [article.title for article in read(source(tmp_path, **some))] == ["T3", "T7"]


def test_a_digest_changes_with_either_file(tmp_path: Path) -> None:
    write(tmp_path, 1, entry("Ada"), [content("Ada", "Ada is.")])
    write(tmp_path, 2, entry("Bo"), [content("Bo", "Bo is.")])
    before = source(tmp_path).partitions()
    write(tmp_path, 2, entry("Bo", "http://b.test/"), [content("Bo", "Bo is.")])
    after = source(tmp_path).partitions()
    assert [old.digest == new.digest for old, new in zip(before, after, strict=True)] == [True, False]


def test_damage_is_named_with_file_and_byte(tmp_path: Path) -> None:
    write(tmp_path, 1, {}, [content("Ada", "Ada is."), content("Bo", "Bo is.")])
    (path,) = (tmp_path / "wiki_content").iterdir()
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    start = len(data) - len(content("Bo", "Bo is.")) - 16
    shards = source(tmp_path)
    articles = shards.read(shards.partitions()[0])
    assert next(articles).title == "Ada"
    with pytest.raises(ValueError, match=rf"tfrecords-00001-of-01000, record at byte {start}: its data has"):
        next(articles)


@pytest.mark.parametrize(
    ("entries", "records", "message"),
    [
        ([], [], "expected a JSON object of articles, got list"),
        ({"u": {"title": "A"}}, [], "entry 'u': expected an object with `refs`, a list of URLs, got"),
        ({"u": {"refs": [1]}}, [], "entry 'u': expected an object with `refs`"),
        ({}, [b"\xff"], "record at byte 0: expected url, title and section_texts, but"),
        ({}, [write_example({"url": [b"u"]})], "record at byte 0: expected url, title and section_texts"),
        ({}, [write_example({"url": [b"u"], "title": [b"\xff"]})], "record at byte 0: expected url"),
        ({}, [write_example({"url": [1], "title": [b"t"]})], "but url contains int"),
    ],
)
def test_what_is_no_shard_is_named(tmp_path: Path, entries: Any, records: list[bytes], message: str) -> None:
    write(tmp_path, 1, entries, records)
    with pytest.raises(ValueError, match=message):
        read(source(tmp_path))


@pytest.mark.parametrize(
    ("entries", "records", "named"),
    [
        ({"u": {"refs": [1]}, "v": {"refs": []}, "w": {}}, [], ["entry 'u'", "entry 'w'"]),
        ({}, [b"\xff", write_example({"url": [b"u"]})], ["record at byte 0", "record at byte 17"]),
    ],
)
def test_all_malformed_parts_of_a_shard_are_named(
    tmp_path: Path, entries: Any, records: list[bytes], named: list[str]
) -> None:
    write(tmp_path, 1, entries, records)
    with pytest.raises(ValueError, match="2 malformed in all") as failure:
        read(source(tmp_path))
    lines = str(failure.value).splitlines()
    assert [name in line for name, line in zip(named, lines, strict=False)] == [True, True]
    assert len(lines) == 3


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"source\.tensor2tensor\.urls is empty"):
        source(tmp_path, urls="").partitions()
    with pytest.raises(FileNotFoundError, match=r"no such file: .*wiki_urls"):
        source(tmp_path).partitions()
    write(tmp_path, 1, {}, [])
    write(tmp_path, 2, {}, [])
    (tmp_path / "wiki_content" / "wiki_content.tfrecords-00002-of-01000").unlink()
    with pytest.raises(ValueError, match="shard 2 of 1000 has no content file: expected a pair for each number"):
        source(tmp_path).partitions()
    (tmp_path / "wiki_urls" / "other").write_text("")
    with pytest.raises(ValueError, match=r"other: expected a name like wiki_urls\.json-00042-of-01000"):
        source(tmp_path, urls=f"{tmp_path}/wiki_urls/*").partitions()


def test_the_settings_choose_it(tmp_path: Path) -> None:
    write(tmp_path, 1, entry("Ada", "http://a.test/"), [content("Ada", "Ada is.")])
    settings = Tensor2TensorSettings(urls=str(tmp_path / "wiki_urls"), content=str(tmp_path / "wiki_content"))
    opened = open_source(SourceSettings(kind="tensor2tensor", tensor2tensor=settings))
    assert [article.title for part in opened.partitions() for article in opened.read(part)] == ["Ada"]
