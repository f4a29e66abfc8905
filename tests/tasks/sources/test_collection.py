"""Published corpora: their layouts read, rows refused, files of another kind reported before work."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.sources.collection import CollectionSource, split_of
from tasks.sources.settings import CollectionSettings
from tasks.sources.source import Article, GivenDocument
from tests.tasks.sources.collection_files import (
    CAUSE,
    FIRE,
    OWNER,
    SUMMARY,
    comma_separated,
    json_array,
    json_lines,
    multi_news,
    news,
)


def collection(*paths: Path, partition_rows: int = 1000, malformed: int = 0, **settings: Any) -> CollectionSource:
    chosen = CollectionSettings(paths=tuple(map(str, paths)), **settings)
    return CollectionSource(chosen, partition_rows=partition_rows, malformed=malformed)


def read(source: CollectionSource) -> list[Article]:
    return [article for partition in source.partitions() for article in source.read(partition)]


def texts(article: Article) -> list[tuple[str, ...]]:
    return [document.paragraphs for document in article.documents]


def test_multi_news(tmp_path: Path) -> None:
    sources = [f"{FIRE} NEWLINE_CHAR NEWLINE_CHAR {CAUSE} ||||| {OWNER} |||||", f" ||||| {OWNER}", "|||||"]
    file = multi_news(tmp_path, "val", sources, [f"– {SUMMARY} NEWLINE_CHAR It is old.", "– Gone.", "– Lost."])
    first, second, third = read(collection(file, layout="multi-news"))
    assert first == Article(
        title="The mill at Arlen burned down on Monday night.",
        lead=f"– {SUMMARY} It is old.",
        references=(),
        split="valid",
        documents=(GivenDocument("document:1", None, (FIRE, CAUSE)), GivenDocument("document:2", None, (OWNER,))),
        id="val.src:1",
        published_target=True,
    )
    assert texts(second) == [(OWNER,)]
    assert (third.documents, third.id) == ((), "val.src:3")


def test_the_preprocessed_release_of_multi_news(tmp_path: Path) -> None:
    (tmp_path / "train.txt.src").write_text(f"{FIRE} story_separator_special_tag {OWNER}\n")
    (tmp_path / "train.txt.tgt").write_text(f"{SUMMARY}\n")
    (article,) = read(collection(tmp_path / "train.txt.src", layout="multi-news"))
    assert (article.split, texts(article)) == ("train", [(FIRE,), (OWNER,)])


def test_wcep(tmp_path: Path) -> None:
    cluster = {"id": "c7", "summary": SUMMARY, "articles": [news(number) for number in range(12)], "date": "2016-08-25"}
    file = json_lines(tmp_path / "test.jsonl.gz", cluster)
    (article,) = read(collection(file, layout="wcep-10"))
    assert (article.id, article.title, article.split) == ("c7", "Report 0", "test")
    assert article.documents[9] == GivenDocument("http://news.test/9", "Report 9", (f"{FIRE} 9",))
    assert len(article.documents) == 10


def test_multi_xscience(tmp_path: Path) -> None:
    cited = {"@cite_1": {"mid": "1", "abstract": CAUSE}, "@cite_2": {"mid": "2", "abstract": ""}}
    paper = {"aid": "2010.1", "mid": "3", "abstract": FIRE, "related_work": SUMMARY, "ref_abstract": cited}
    file = json_array(tmp_path / "train.json.gz", paper, {**paper, "ref_abstract": {}})
    first, second = read(collection(file, layout="multi-xscience"))
    assert texts(first) == [(FIRE,), (CAUSE,), ()]
    assert texts(second) == [(FIRE,)]
    assert (first.id, second.id) == ("train.json.gz:1", "train.json.gz:2")  # two sections of one paper
    table = pa.Table.from_pylist([{**paper, "ref_abstract": {"cite_N": ["@cite_1"], "abstract": [CAUSE]}}])
    pq.write_table(table, tmp_path / "test-00000-of-00001.parquet")
    (third,) = read(collection(tmp_path / "test-00000-of-00001.parquet", layout="multi-xscience"))
    assert (third.split, texts(third)) == ("test", [(FIRE,), (CAUSE,)])


def test_rotten_tomatoes(tmp_path: Path) -> None:
    film = {"_movie_name": "Arlen", "_movie_id": 7, "_critics": {"1": FIRE, "2": OWNER}, "_critic_consensus": SUMMARY}
    (article,) = read(collection(json_array(tmp_path / "rottentomatoes.json", film), layout="rotten-tomatoes"))
    assert (article.title, article.id, article.split, article.lead) == ("Arlen", "7", None, SUMMARY)
    assert texts(article) == [(FIRE,), (OWNER,)]


def test_the_files_of_hed(tmp_path: Path) -> None:
    text = f"{FIRE} <sep> {CAUSE} <REVBREAK> {OWNER}"
    file = comma_separated(tmp_path / "train.csv", ["text", "summary"], [text, f"{SUMMARY} <sep> + simple"])
    rebuttal = json_lines(tmp_path / "test_rebuttal.json", {"text": text, "summary": SUMMARY})
    first, second = read(collection(file, rebuttal, layout="hed"))
    assert texts(first) == texts(second) == [(FIRE, CAUSE), (OWNER,)]
    assert first.lead == f"{SUMMARY} + simple"  # one line, of which no rule for leads takes a part
    assert (first.split, second.split) == ("train", "test")


def test_columns_of_ones_own(tmp_path: Path) -> None:
    rows = [{"k": 5, "name": "Mill", "src": [FIRE, {"text": OWNER}], "tgt": SUMMARY, "split": "validation"}]
    own = {"documents": "src", "summary": "tgt", "title": "name", "id": "k"}
    (article,) = read(collection(json_lines(tmp_path / "mine.jsonl", *rows), columns=own))
    assert (article.id, article.title, article.lead, article.split) == ("5", "Mill", SUMMARY, "valid")
    assert texts(article) == [(FIRE,), (OWNER,)]
    joined = json_lines(tmp_path / "train.jsonl", {"documents": f"{FIRE}</s>{OWNER}", "summary": SUMMARY})
    (article,) = read(collection(joined, separator="</s>"))
    assert (article.split, texts(article)) == ("train", [(FIRE,), (OWNER,)])
    (article,) = read(collection(joined))
    assert texts(article) == [(f"{FIRE}</s>{OWNER}",)]


def test_long_paragraphs_are_cut_between_sentences(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "a.jsonl", {"documents": f"{FIRE} {CAUSE}\n{OWNER}", "summary": SUMMARY})
    (article,) = read(collection(file, paragraph_words=12))
    assert texts(article) == [
        (
            FIRE,
            "Firemen say that a lamp had been left alight in the store",
            "of the mill at Arlen.",
            "Its owner, Ruth Ames, wants to build it up again before the",
            "winter.",
        )
    ]
    (article,) = read(collection(file, paragraph_words=None))
    assert texts(article) == [(f"{FIRE} {CAUSE} {OWNER}",)]
    chinese = json_lines(tmp_path / "b.jsonl", {"documents": "桥很长。它在南京。没有人回答。", "summary": SUMMARY})
    (article,) = read(collection(chinese, paragraph_words=7))
    assert texts(article) == [("桥很长。它在南京。", "没有人回答。")]


def test_rows_that_are_not_of_the_layout_are_named_or_refused_where_as_many_are_allowed(tmp_path: Path) -> None:
    good = {"documents": [FIRE], "summary": SUMMARY}
    bad: list[Any] = [
        "{",
        "[]",
        {**good, "summary": 7},
        {**good, "documents": 7},
        {**good, "documents": [7]},
        {**good, "split": "mine"},
        "[" * 100_000,
    ]
    file = json_lines(tmp_path / "a.jsonl", good, *bad, "", {"summary": SUMMARY}, {"documents": [FIRE]})
    for size in (1000, 2):
        with pytest.raises(ValueError, match=r"the file has 7, source\.malformed allows 6"):
            read(collection(file, malformed=6, partition_rows=size))
    with pytest.raises(ValueError, match=r"(?s)a\.jsonl, row 2: .*a\.jsonl, row 8: .*  7 malformed in all$"):
        read(collection(file))
    articles = read(collection(file, malformed=7))
    assert [article.drop_reason for article in articles] == [None, *["malformed_row"] * 7, None, None]
    assert (articles[1].title, articles[1].id) == ("a.jsonl, row 2", "a.jsonl:2")
    assert (articles[8].documents, articles[9].lead) == ((), "")


def test_a_row_of_csv_with_other_fields_than_columns_is_refused(tmp_path: Path) -> None:
    rows = [[FIRE, SUMMARY], [FIRE, SUMMARY, "more"], [FIRE]]
    articles = read(collection(comma_separated(tmp_path / "a.csv", ["documents", "summary"], *rows), malformed=1))
    assert [article.drop_reason for article in articles] == [None, "malformed_row", None]
    assert articles[2].lead == ""  # refused as without a target


def test_a_line_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = multi_news(tmp_path, "train", [FIRE, FIRE], [SUMMARY, SUMMARY])
    file.write_bytes(f"{FIRE}\n".encode() + b"\xff\n")
    articles = read(collection(file, layout="multi-news", malformed=1))
    assert [article.drop_reason for article in articles] == [None, "malformed_row"]


def refused(*paths: Path, **settings: Any) -> str:
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        collection(*paths, **settings).partitions()
    return str(error.value)


def test_files_of_another_kind_are_reported_before_work(tmp_path: Path) -> None:
    rows = json_lines(tmp_path / "a.jsonl", {"text": FIRE, "summary": SUMMARY})
    assert refused(rows) == f"{rows}: expected a column 'documents', got text, summary"
    (text := tmp_path / "a.txt").write_text(FIRE)
    assert refused(text).startswith(f"{text}: expected a file ending in .jsonl, .json, .csv")
    (array := tmp_path / "c.json").write_text('[{"documents": [], "summary": ""}, {"docu')
    assert refused(array).startswith(f"{array}: ")
    (zipped := tmp_path / "d.jsonl.gz").write_bytes(rows.read_bytes())
    assert refused(zipped).startswith(f"{zipped}: expected a whole gzip file, but ")
    (table := tmp_path / "e.parquet").write_bytes(b"PAR1")
    assert refused(table).startswith(f"{table}: ")
    (empty := tmp_path / "f.csv").write_text("documents,summary\n")
    assert refused(empty) == f"{empty}: expected rows, but it is empty"
    assert refused() == "source.collection.paths is empty: expected at least one data file"
    (tmp_path / "sub").mkdir()
    same = json_lines(tmp_path / "sub" / "a.jsonl", {"documents": [], "summary": ""})
    assert "two files 'a.jsonl'" in refused(json_lines(rows, {"documents": [], "summary": ""}), same)


def test_a_first_row_that_is_malformed_is_one_of_those_that_a_file_may_have(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "a.jsonl", "{", {"documents": [FIRE], "summary": SUMMARY})
    with pytest.raises(ValueError, match=r"a\.jsonl, row 1: Expecting property name"):
        read(collection(file))
    assert [article.drop_reason for article in read(collection(file, malformed=1))] == ["malformed_row", None]


def test_parallel_files_have_equally_many_lines(tmp_path: Path) -> None:
    file = multi_news(tmp_path, "train", [FIRE, OWNER], [SUMMARY])
    assert refused(file, layout="multi-news") == f"{file}: expected as many lines as train.tgt has, got more"
    (tmp_path / "train.tgt").unlink()
    expected = f"no such file: {tmp_path / 'train.tgt'} (the summaries of train.src)"
    assert refused(file, layout="multi-news") == expected


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.csv", "a.parquet"])
def test_partitions_hold_every_row_once_in_order_and_change_with_their_own_rows_alone(
    tmp_path: Path, name: str
) -> None:
    def write(*summaries: str) -> CollectionSource:
        rows = [{"documents": FIRE, "summary": summary} for summary in summaries]
        if name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
        elif name.endswith(".csv"):
            comma_separated(tmp_path / name, ["documents", "summary"], *[list(row.values()) for row in rows])
        elif name.endswith(".json"):
            json_array(tmp_path / name, *rows)
        else:
            json_lines(tmp_path / name, *rows)
        return collection(tmp_path / name, partition_rows=2)

    source = write("A.", "B.", "C.", "D.", "E.")
    before = source.partitions()
    assert [[article.lead for article in source.read(part)] for part in before] == [["A.", "B."], ["C.", "D."], ["E."]]
    after = write("A.", "B.", "C.", "Q.", "E.").partitions()
    assert [old.digest == new.digest for old, new in zip(before, after, strict=True)] == [True, False, True]
    shorter = write("A.")
    with pytest.raises(ValueError, match="expected rows 3 to 4: it has become shorter"):
        list(shorter.read(before[1]))


def test_a_setting_that_changes_articles_changes_the_digest(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "a.jsonl", {"documents": FIRE, "summary": SUMMARY, "other": CAUSE})
    settings: list[dict[str, Any]] = [{}, {"columns": {"summary": "other"}}, {"separator": "."}, {"paragraph_words": 5}]
    assert len({collection(file, **more).partitions()[0].digest for more in settings}) == 4


def test_a_change_of_the_summaries_alone_is_seen(tmp_path: Path) -> None:
    file = multi_news(tmp_path, "train", [FIRE], [SUMMARY])
    before = collection(file, layout="multi-news").partitions()
    (tmp_path / "train.tgt").write_text("Another.\n")
    assert collection(file, layout="multi-news").partitions() != before


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.src", "train"),
        ("WCEP_val.jsonl.gz", "valid"),
        ("validation-00000-of-00002.parquet", "valid"),
        ("filtered_test_concat.csv", "test"),
        ("dev.json", "valid"),
        ("contest.json", None),
        ("all.csv", None),
    ],
)
def test_split_of_a_name(name: str, split: str | None) -> None:
    assert split_of(name) == split


def test_a_row_larger_than_the_usual_limit_of_a_field(tmp_path: Path) -> None:
    file = comma_separated(tmp_path / "a.csv", ["documents", "summary"], [f"{FIRE} " * 5000, SUMMARY])
    (article,) = read(collection(file))
    assert sum(len(json.dumps(text)) for text in article.documents[0].paragraphs) > 131_072


def test_a_column_without_a_use_is_refused() -> None:
    with pytest.raises(ValueError, match="columns has 'titel': expected documents, summary, title, id"):
        CollectionSettings(columns={"titel": "x"})
