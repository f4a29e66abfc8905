"""A dump as a source: streams and whole files, reasons, digests, and messages that say where to look."""

import bz2
import gzip
import tempfile
import tracemalloc
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sources.choice import open_source
from tasks.sources.dump.pages import DumpPage, read_pages, read_site
from tasks.sources.dump.source import ArticleReader, DumpSource
from tasks.sources.settings import DumpSettings, SourceSettings, WikitextSettings
from tasks.sources.source import Article
from tests.tasks.sources.dump_files import HEAD, LEAD, TAIL, dump, page, write_multistream


def source(*paths: Path, partition_bytes: int = 1 << 20, **wikitext: Any) -> DumpSource:
    files = DumpSettings(paths=tuple(map(str, paths)))
    return DumpSource(files, WikitextSettings(**wikitext), partition_bytes=partition_bytes)


def read(dump_source: DumpSource) -> list[Article]:
    return [article for part in dump_source.partitions() for article in dump_source.read(part)]


def reason(title: str = "Ada", text: str | None = None, **more: Any) -> str | None:
    xml = dump(page(title, text, **more))
    (found,) = read_pages([xml], location="x")
    return ArticleReader(read_site([xml], location="x"), WikitextSettings()).article(found).drop_reason


@pytest.mark.parametrize(("name", "pack"), [("a.xml", bytes), ("a.xml.bz2", bz2.compress), ("a.xml.gz", gzip.compress)])
def test_a_file_is_a_partition(tmp_path: Path, name: str, pack: Any) -> None:
    (tmp_path / name).write_bytes(pack(dump(page("Ada & Co"), page("Bo", number=2))))
    dump_source = source(tmp_path / name)
    (part,) = dump_source.partitions()
    assert (part.name, part.start, part.stop) == (str(tmp_path / name), 0, (tmp_path / name).stat().st_size)
    first, second = dump_source.read(part)
    assert first == Article(
        title="Ada & Co",
        lead="Ada & Co is a long enough article about Ada & Co in a test.",
        references=("http://ada-&-co.test/",),
        revision="101",
        licence="CC BY-SA 4.0",
        page="1",
    )
    assert (second.title, second.revision) == ("Bo", "102")


def test_streams_are_read_apart_where_an_index_lies_beside(tmp_path: Path) -> None:
    path = write_multistream(tmp_path, [["A", "B"], ["C"], ["D", "E"], ["F"]])
    alone = source(path, partition_bytes=1)
    parts = alone.partitions()
    assert [[article.title for article in alone.read(part)] for part in parts] == [["A", "B"], ["C"], ["D", "E"], ["F"]]
    assert parts[0].start == len(bz2.compress(HEAD.encode()))
    assert parts[-1].stop == path.stat().st_size
    assert all(part.stop == following.start for part, following in pairwise(parts))
    joined = source(path, partition_bytes=parts[0].stop - parts[0].start + 1).partitions()
    assert [len(list(alone.read(part))) for part in joined] == [3, 3]


def test_without_its_index_a_multistream_file_is_read_as_a_whole(tmp_path: Path) -> None:
    path = write_multistream(tmp_path, [["A", "B"], ["C"]])
    path = path.rename(tmp_path / "other.xml.bz2")
    assert [article.title for article in read(source(path, partition_bytes=1))] == ["A", "B", "C"]
    assert len(source(path, partition_bytes=1).partitions()) == 1


def test_several_files_count_their_bytes_in_order(tmp_path: Path) -> None:
    write_multistream(tmp_path, [["A"], ["B"]], part="1")
    write_multistream(tmp_path, [["C"]], part="2")
    (tmp_path / "z.xml").write_bytes(dump(page("D")))
    files = source(tmp_path / "*multistream?.xml.bz2", tmp_path / "z.xml", partition_bytes=1)
    assert [article.title for article in read(files)] == ["A", "B", "C", "D"]


@given(
    st.lists(st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=3), min_size=1, max_size=5), st.integers(1, 900)
)
def test_partitions_hold_every_page_once_in_order(groups: list[list[str]], size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_multistream(Path(folder), groups)
        titles = [article.title for article in read(source(path, partition_bytes=size))]
    assert titles == [title for group in groups for title in group]


def test_a_digest_changes_with_its_range_and_with_what_is_made_of_it(tmp_path: Path) -> None:
    first = source(write_multistream(tmp_path, [["A"], ["B"], ["C"]]), partition_bytes=1).partitions()
    path = write_multistream(tmp_path, [["A"], ["X"], ["C"]])
    second = source(path, partition_bytes=1).partitions()
    assert [old.digest == new.digest for old, new in zip(first, second, strict=True)] == [True, False, True]
    third = source(path, partition_bytes=1, licence="CC0").partitions()
    assert not {part.digest for part in second} & {part.digest for part in third}


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (None, {}),
        ("redirect", {"redirect": "Bo"}),
        ("redirect", {"text": "#REDIRECT [[Bo]]"}),
        ("redirect", {"text": " # redirect: [[Bo]]"}),
        ("other_namespace", {"title": "Template:Ada", "namespace": 10}),
        ("not_wikitext", {"model": "json"}),
        ("list", {"title": "List of rivers named Ada"}),
        ("disambiguation", {"title": "Ada (disambiguation)"}),
        ("disambiguation", {"text": "Ada may be a river or a person:\n* [[Ada (river)]]\n{{Disambig|river}}"}),
        ("disambiguation", {"text": "Ada may be a river or a person.\n{{Geodis}}"}),
        ("disambiguation", {"text": "Ada may be a river or a person.\n[[Category:Disambiguation pages]]"}),
        (None, {"text": "Ada is a river that flows through the north of a test.{{Disambiguation needed|date=May}}"}),
        ("empty_lead", {"text": "{{Infobox\n| a = b\n}}\n== History ==\nAda is old."}),
        ("empty_lead", {"text": ""}),
        ("short_lead", {"text": "Ada flows."}),
    ],
)
def test_a_page_that_is_no_article_has_a_reason(expected: str | None, arguments: dict[str, Any]) -> None:
    assert reason(**arguments) == expected


def test_the_wiki_names_its_namespaces() -> None:
    site = read_site([HEAD.encode()], location="x")
    assert site.url == "https://wiki.test/wiki/"
    assert (site.namespaces["bild"], site.namespaces["file"], site.namespaces["category"]) == (6, 6, 14)


def test_of_several_revisions_the_last_counts() -> None:
    xml = page("Ada", "old").replace("  </page>\n", "") + page("Ada", "new", number=7).partition("</id>")[2]
    (found,) = read_pages([(HEAD + xml + TAIL).encode()], location="x")
    assert found == DumpPage("Ada", 0, False, "107", "wikitext", "new", "1")


def test_tags_that_an_export_left_unescaped_are_part_of_the_text() -> None:
    xml = page("Ada", "TEXT").replace("TEXT", "one<br />two &lt;ref&gt; &amp;amp; <i>three</i> four")
    (found,) = read_pages([(HEAD + xml + TAIL).encode()], location="x")
    assert found.text == "one<br />two <ref> &amp; <i>three</i> four"


@pytest.mark.parametrize("padding", [1, 512, 200_000])
def test_zeros_behind_a_bz2_stream_are_padding(tmp_path: Path, padding: int) -> None:
    path, whole = tmp_path / "a.xml.bz2", bz2.compress(dump(page("Ada", "Ada is a river.")))
    path.write_bytes(whole)
    expected = read(source(path))
    path.write_bytes(whole + bytes(padding))
    assert read(source(path)) == expected
    path.write_bytes(whole + bytes(padding) + b"x" * 10)
    with pytest.raises(ValueError, match="damaged bz2 stream"):
        read(source(path))


@given(st.lists(st.integers(1, 400), max_size=30))
def test_where_the_blocks_are_cut_makes_no_difference(sizes: list[int]) -> None:
    xml = dump(page("Äda", "ä & <b>" * 9), page("Bo", number=2))
    blocks, place = [], 0
    for size in [*sizes, len(xml)]:
        blocks.append(xml[place : place + size])
        place += size
    assert list(read_pages(blocks, location="x")) == list(read_pages([xml], location="x"))


def test_what_stands_beside_the_pages_is_not_kept_in_memory() -> None:
    entries = b"<logitem><id>1</id><action>move</action></logitem>" * 100
    blocks = [b"<mediawiki>", *([entries] * 100), page("Ada").encode(), *([entries] * 100), b"</mediawiki>"]
    tracemalloc.start()
    try:
        assert [found.title for found in read_pages(blocks, location="x")] == ["Ada"]
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # 20,000 entries as elements take five times as much
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("xml", "complaint"),
    [
        (b"<html></html>", "expected a MediaWiki export, got <html>"),
        (HEAD.encode() + b"<page><title>A</page>", "at byte 426 of its XML, line 11: mismatched tag"),
        (HEAD.encode() + page("A").encode(), "no element found"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><mediawiki/>', "got XML with a document type"),
        (HEAD.encode() + b"<page><ns>0</ns></page>", "ends at line 11 without a title"),
        (b"no xml", "at byte 0 of its XML, line 1: syntax error"),
    ],
)
def test_malformed_xml_is_named(tmp_path: Path, xml: bytes, complaint: str) -> None:
    (tmp_path / "a.xml").write_bytes(xml)
    with pytest.raises(ValueError, match=rf"a\.xml.*{complaint}"):
        read(source(tmp_path / "a.xml"))


def test_damage_in_a_stream_is_named_by_its_range(tmp_path: Path) -> None:
    path = write_multistream(tmp_path, [["A"], ["B"], ["C"]])
    parts = source(path, partition_bytes=1).partitions()
    data = bytearray(path.read_bytes())
    data[parts[1].start + 30] ^= 0xFF
    path.write_bytes(data)
    damaged = source(path, partition_bytes=1)
    assert [article.title for article in damaged.read(parts[0])] == ["A"]
    with pytest.raises(ValueError, match=rf"bytes {parts[1].start}-{parts[1].stop - 1}: damaged bz2 stream"):
        list(damaged.read(parts[1]))


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.bz2"
    path.write_bytes(bz2.compress(dump(page("A")))[:-5])
    with pytest.raises(ValueError, match="the bz2 stream is cut short after"):
        read(source(path))
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(dump(page("A")))[:-5])
    with pytest.raises(ValueError, match="expected a whole gzip file"):
        read(source(path))


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("12:1\n", r"line 1: expected offset:id:title, offsets rising, got b'12:1\\n'"),
        ("x:1:A\n", "line 1: expected offset:id:title"),
        ("40:1:A\n40:2:B\n30:3:C\n", "line 3: expected offset:id:title, offsets rising"),
        ("99999999:1:A\n", "stream at byte 99999999, but"),
        ("41:1:A\n", "expected a bz2 stream at byte 41 of"),
        ("", "expected lines of offset:id:title, got none"),
    ],
)
def test_an_index_that_does_not_fit_is_named(tmp_path: Path, lines: str, complaint: str) -> None:
    path = write_multistream(tmp_path, [["A"], ["B"]])
    index = next(tmp_path.glob("*index*"))
    index.write_bytes(bz2.compress(lines.encode()))
    with pytest.raises(ValueError, match=rf"index\.txt.*{complaint}"):
        source(path, partition_bytes=1).partitions()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected at least one MediaWiki XML file"):
        source().partitions()
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.xml \(source\.dump\.paths\)"):
        source(tmp_path / "none.xml").partitions()
    with pytest.raises(FileNotFoundError, match="no file matches"):
        source(tmp_path / "*.xml").partitions()
    (tmp_path / "a.7z").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"expected a plain, \.bz2 or \.gz XML file, got \.7z"):
        source(tmp_path / "a.7z").partitions()
    (tmp_path / "a.xml").write_bytes(dump(page("A")))


def test_the_settings_choose_it(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(dump(page("Ada", LEAD.format("Ada", "ada"))))
    opened = open_source(SourceSettings(kind="dump", dump=DumpSettings(paths=(str(tmp_path / "a.xml"),))))
    assert isinstance(opened, DumpSource)
    assert [article.title for part in opened.partitions() for article in opened.read(part)] == ["Ada"]


@pytest.mark.shared_data
def test_a_real_dump_is_read(shared_data: Path) -> None:
    articles = read(source(shared_data / "enwiki-excerpt.xml.bz2"))
    assert Counter(article.drop_reason for article in articles) == {
        None: 95,
        "redirect": 99,
        "disambiguation": 8,
        "list": 2,
        "empty_lead": 1,
        "other_namespace": 1,
    }
    kept = {article.title: article for article in articles if article.drop_reason is None}
    assert kept["Abstract (law)"].lead == (
        "In law, an abstract is a brief statement that contains the most important points of a long legal document or "
        "of several related legal papers."
    )
    assert kept["Aldous Huxley"].lead.startswith(
        "Aldous Leonard Huxley (26 July 1894 – 22 November 1963) was an English writer, novelist, philosopher, and "
    )
    assert kept["Actrius"].references[:2] == (
        "http://elpais.com/diario/1996/10/15/cultura/845330405_850215.html",
        "https://www.highbeam.com/doc/1G1-109798413.html",
    )
    for article in kept.values():
        assert not any(mark in article.lead for mark in ("[[", "]]", "{{", "}}", "()", "  ", "<", " ,", "http", "'''"))
