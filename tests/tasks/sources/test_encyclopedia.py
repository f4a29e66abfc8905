"""Parsed encyclopedias: lines, Parquet and archives, what is refused, and files that are reported before work."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.sources.choice import check_beginnings, open_source
from tasks.sources.encyclopedia.entry import of_enterprise
from tasks.sources.encyclopedia.source import EncyclopediaSource
from tasks.sources.settings import EncyclopediaLayout, EncyclopediaSettings, SourceSettings, WikitextSettings
from tasks.sources.source import Article
from tests.tasks.sources.encyclopedia_files import (
    cited,
    lines_of,
    megawika,
    paragraph,
    prose,
    reference,
    section,
    structured,
    write_archive,
)

NAMES = ["Ada", "Bo", "Cy"]
LEAD = "Ada is a long enough article about Ada in a test."


def encyclopedia(
    *paths: Path,
    layout: EncyclopediaLayout = "structured",
    partition_bytes: int = 1 << 20,
    malformed: int = 0,
    **wikitext: Any,
) -> EncyclopediaSource:
    settings = EncyclopediaSettings(layout=layout, paths=tuple(map(str, paths)))
    return EncyclopediaSource(
        settings, WikitextSettings(**wikitext), partition_bytes=partition_bytes, malformed=malformed
    )


def read(source: EncyclopediaSource) -> list[Article]:
    return [article for part in source.partitions() for article in source.read(part)]


def outcomes(source: EncyclopediaSource) -> list[tuple[str, str | None]]:
    return [(article.title, article.drop_reason) for article in read(source)]


def named(title: str) -> dict[str, Any]:
    text = LEAD.replace("Ada", title)
    return structured(title, [section("Abstract", paragraph(text, "1"))], [reference("1", url=f"http://{title}.test/")])


def write(path: Path, *rows: Any) -> Path:
    path.write_bytes(lines_of(*rows))
    return path


def test_the_same_rows_in_every_kind_of_file(tmp_path: Path) -> None:
    rows = [named("Ada"), named("Bo"), named("Cy")]
    plain = write(tmp_path / "a.ndjson", *rows)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines_of(*rows)))
    archive = write_archive(
        tmp_path / "c.tar.gz",
        enwiki_0__ndjson=lines_of(*rows[:2]),
        README__txt=b"{",
        enwiki_1__ndjson=lines_of(rows[2]),
    )
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet", row_group_size=1)
    expected = read(encyclopedia(plain))
    assert expected[0] == Article("Ada", LEAD, ("http://Ada.test/",), revision="1209", licence="CC-BY-SA-4.0", page="7")
    assert [article.title for article in expected] == ["Ada", "Bo", "Cy"]
    for path in (tmp_path / "b.jsonl.gz", archive, tmp_path / "d.parquet"):
        assert read(encyclopedia(path)) == expected


@pytest.mark.parametrize("ending", ["ndjson", "parquet"])
def test_a_partition_is_a_part_of_a_file_and_its_digest_follows_its_rows(tmp_path: Path, ending: str) -> None:
    def written(*titles: str) -> list[Any]:
        if ending == "ndjson":
            write(tmp_path / "a.ndjson", *map(named, titles))
        else:
            pq.write_table(pa.Table.from_pylist([*map(named, titles)]), tmp_path / "a.parquet", row_group_size=1)
        source = encyclopedia(tmp_path / f"a.{ending}", partition_bytes=1)
        parts = source.partitions()
        assert [[article.title for article in source.read(part)] for part in parts] == [[title] for title in titles]
        return [part.digest for part in parts]

    before, after = written("Ada", "Bob", "Cyd"), written("Ada", "Bea", "Cyd")
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_a_part_is_read_without_a_look_at_the_rest_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = write(tmp_path / "a.jsonl", *map(named, NAMES))
    source = encyclopedia(plain, partition_bytes=10, malformed=1)
    parts = source.partitions()
    monkeypatch.setattr(EncyclopediaSource, "_parts", None)
    assert [article.title for part in parts for article in source.read(part)] == NAMES


def test_the_digest_follows_layout_and_rules(tmp_path: Path) -> None:
    row = named("Ada") | megawika("Ada", prose(LEAD))
    path = write(tmp_path / "a.jsonl", row)
    sources = [encyclopedia(path), encyclopedia(path, layout="megawika"), encyclopedia(path, licence="CC0")]
    assert len({source.partitions()[0].digest for source in sources}) == 3


def test_several_files_are_read_in_order(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", named("Bo"))
    write(tmp_path / "a.jsonl", named("Ada"), named("Cy"))
    source = encyclopedia(tmp_path / "*.jsonl", partition_bytes=1)
    assert outcomes(source) == [("Ada", None), ("Cy", None), ("Bo", None)]


def test_all_bad_rows_are_named_or_refused_where_as_many_are_allowed(tmp_path: Path) -> None:
    bad: list[Any] = [b"{", b"\xff", [1], named("Bo") | {"name": " "}, named("Cy") | {"sections": "x"}, b"[" * 9000]
    path = write(tmp_path / "a.jsonl", named("Ada"), *bad, named("Di"))
    with pytest.raises(ValueError, match=r"(?s)row 2 from byte 0 .*row 7 from byte 0 .*  6 malformed in all$"):
        read(encyclopedia(path))
    with pytest.raises(ValueError, match=r"  6 malformed in all; the file has 6, source\.malformed allows 5"):
        read(encyclopedia(path, malformed=5))
    assert outcomes(encyclopedia(path, malformed=6)) == [
        ("Ada", None),
        *((f"a.jsonl, row {number} from byte 0", "malformed_row") for number in range(2, 8)),
        ("Di", None),
    ]


def test_the_bad_rows_of_a_whole_file_count(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b"{", named("Ada"), named("Bo"), b"{")
    found = outcomes(encyclopedia(path, malformed=2, partition_bytes=1))
    assert [reason for _, reason in found] == ["malformed_row", None, None, "malformed_row"]
    with pytest.raises(ValueError, match=r"the file has 2, source\.malformed allows 1"):
        read(encyclopedia(path, malformed=1, partition_bytes=1))


def test_what_is_no_article_is_refused_by_the_rules_of_a_dump(tmp_path: Path) -> None:
    rows = [
        named("List of bridges"),
        named("Tam (disambiguation)"),
        named("Talk") | {"namespace": {"identifier": 1}},
        named("Ada") | {"namespace": {"identifier": 0}},
        structured("Bo", []),
        structured("Cy", [], abstract="Too few."),
    ]
    assert outcomes(encyclopedia(write(tmp_path / "a.jsonl", *rows))) == [
        ("List of bridges", "list"),
        ("Tam (disambiguation)", "disambiguation"),
        ("Talk", "other_namespace"),
        ("Ada", None),
        ("Bo", "empty_lead"),
        ("Cy", "short_lead"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "layout", "complaint"),
    [
        (
            "a.jsonl",
            lines_of({"title": "Ada"}),
            "structured",
            r"a.jsonl, row 1 from byte 0 \(source.encyclopedia.layout structured\): expected a column 'sections' or",
        ),
        (
            "a.jsonl",
            lines_of({"name": "Ada"}),
            "megawika",
            r"layout megawika\): expected a column 'elements', got name",
        ),
        ("a.jsonl", lines_of({"name": 3, "abstract": ""}), "structured", "column 'name': expected a title, got 3"),
        ("a.jsonl", lines_of({"name": "A", "sections": [3]}), "structured", "expected a list of objects, got \\[3\\]"),
        ("a.csv", b"name\n", "structured", "a.csv: expected a file ending in .jsonl, .ndjson, .json, .jsonl.gz"),
        ("a.jsonl.gz", gzip.compress(b"x" * 999, mtime=0)[:20], "structured", "a.jsonl.gz: expected a whole gzip file"),
        ("a.tar.gz", b"no archive", "structured", "a.tar.gz: expected a whole file of its kind"),
        ("a.parquet", b"no Parquet", "structured", "a.parquet: expected a whole file of its kind"),
    ],
)
def test_a_wrong_file_is_reported_before_work(
    tmp_path: Path, name: str, content: bytes, layout: EncyclopediaLayout, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        encyclopedia(tmp_path / name, layout=layout).partitions()
    assert "\n" not in str(caught.value)


def test_a_damaged_archive_is_reported(tmp_path: Path) -> None:
    whole = write_archive(tmp_path / "a.tar.gz", a__ndjson=lines_of(*(named(f"T{number}") for number in range(2000))))
    whole.write_bytes(whole.read_bytes()[:-2000])
    with pytest.raises(ValueError, match=r"a\.tar\.gz: expected a whole file of its kind"):
        read(encyclopedia(whole))
    empty = write_archive(tmp_path / "b.tar.gz", README__txt=b"Nothing.")
    with pytest.raises(ValueError, match=r"b\.tar\.gz: expected an archive with files ending in \.jsonl"):
        encyclopedia(empty).partitions()


def test_paths_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"source\.encyclopedia\.paths is empty: expected at least one data file"):
        encyclopedia().partitions()
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.jsonl \(source\.encyclopedia\.paths\)"):
        encyclopedia(tmp_path / "none.jsonl").partitions()
    archive = write_archive(tmp_path / "b.tar.gz", a__ndjson=lines_of(named("Ada")))
    with pytest.raises(ValueError, match=r"expected files of one kind, got lines \(.*a\.jsonl\) and archives \(.*b\."):
        encyclopedia(write(tmp_path / "a.jsonl", named("Ada")), archive).partitions()


def test_the_settings_choose_it(tmp_path: Path) -> None:
    paths = (str(write(tmp_path / "a.jsonl", named("Ada"))),)
    settings = SourceSettings(kind="encyclopedia", encyclopedia=EncyclopediaSettings(paths=paths))
    source = open_source(settings)
    check_beginnings(settings, source.partitions())
    assert [article.title for part in source.partitions() for article in source.read(part)] == ["Ada"]


def test_megawika(tmp_path: Path) -> None:
    row = megawika(
        "Arlen_Bridge",
        {"type": "infobox", "content": [["Opened", {"elements": [cited("http://box.test/")]}]]},
        prose(
            "Arlen Bridge is a bridge over the Tam",
            cited("http://one.test/"),
            ", in the town of Arlen.",
            cited("http://two.test/"),
            cited(None, "<ref>Smith 1990</ref>"),
        ),
        prose("It was opened in 1794.", {"type": "citation-needed", "content": "{{cn}}"}, cited("http://one.test/")),
        {"type": "heading", "level": 2, "content": "History"},
        prose("It is old.", cited("http://three.test/")),
    )
    refused = [
        megawika("Old bridge", prose("Moved."), wikicode="#REDIRECT [[Arlen Bridge]]"),
        megawika("Tam", prose("Tam may be many things, and here is a list of some."), wikicode="{{Disambiguation}}"),
        megawika("Portal:Bridges", prose("A portal about bridges, where there is much to find.")),
        megawika("Mill", {"type": "heading", "content": "History"}, prose("A mill has a history of its own, too.")),
    ]
    first, *others = read(encyclopedia(write(tmp_path / "chunk-0.jsonl", row, *refused), layout="megawika"))
    assert first == Article(
        "Arlen Bridge",
        "Arlen Bridge is a bridge over the Tam, in the town of Arlen.\nIt was opened in 1794.",
        ("http://box.test/", "http://one.test/", "http://two.test/", "http://three.test/"),
        revision="2024-04-30T10:50:40Z",
        licence="CC BY-SA 4.0",
    )
    assert [(article.title, article.drop_reason) for article in others] == [
        ("Old bridge", "redirect"),
        ("Tam", "disambiguation"),
        ("Portal:Bridges", "other_namespace"),
        ("Mill", "empty_lead"),
    ]


def test_rows_may_hold_json_in_strings(tmp_path: Path) -> None:
    row = named("Ada")
    strings = {name: json.dumps(row[name]) for name in ("sections", "references")}
    pq.write_table(pa.Table.from_pylist([row | strings]), tmp_path / "a.parquet")
    assert read(encyclopedia(tmp_path / "a.parquet")) == read(encyclopedia(write(tmp_path / "a.jsonl", row)))


def test_a_page_is_known_by_its_number_or_its_entity() -> None:
    assert of_enterprise({"name": "A", **{"identifier": 7, "main_entity": {"identifier": "Q1"}}})["page"] == "7"
    assert of_enterprise({"name": "A", **{"identifier": None, "main_entity": {"identifier": "Q1"}}})["page"] == "Q1"
    assert of_enterprise({"name": "A", "main_entity": None})["page"] is None
