"""Sections as topics, and as the documents of their article's lead."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tasks.articles.articles import intake_articles
from tasks.sources.choice import open_source
from tasks.sources.sections import SectionsSource
from tasks.sources.settings import DumpSettings, SectionsSettings, SourceSettings, WikitextSettings
from tasks.sources.source import Article, GivenDocument
from tests.tasks.sources.dump_files import dump, page

ADA = """'''Ada''' is a river that flows through the north of a test.<ref name=a>http://a.test/</ref>
== Course & [[delta]] ==
It flows on for miles and miles.<ref name=a/><ref>http://b.test/</ref>

Then it ends at the sea.
=== Course ===
It turns left there, and then right again after the mill.<ref>http://c.test/</ref>
== History ==
== Course ==
Another course of it was dug by hand in 1850.
== See also ==
* [[Bo]]
== References ==
<references/>
"""
LINE = {
    "title": "Ada_Bo",
    "url": "https://wiki.test/wiki/Ada_Bo",
    "lead": "Ada Bo is a river that flows through the north.",
    "sections": [
        {
            "title": "Course / Delta",
            "text": "It flows on for miles and miles.\nIt ends here.",
            "refs": ["http://a.test/"],
        },
        {"title": "History", "text": "", "refs": []},
        {"title": "Names", "text": "It has two names, of which only one is used."},
    ],
    "references": {"1": "http://a.test/"},
}


def over_dump(folder: Path, target: str, *pages: str) -> SectionsSource:
    (folder / "a.xml").write_bytes(dump(*(pages or (page("Ada Ö", ADA),))))
    files = DumpSettings(paths=(str(folder / "a.xml"),))
    return SectionsSource(SectionsSettings(target=target), files, WikitextSettings())  # type: ignore[arg-type]


def over_lines(folder: Path, target: str, *lines: Any, malformed: int = 0) -> SectionsSource:
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = SectionsSettings(target=target, paths=(str(folder / "a.jsonl"),))  # type: ignore[arg-type]
    return SectionsSource(settings, DumpSettings(), WikitextSettings(), malformed=malformed)


def read(source: SectionsSource) -> list[Article]:
    return [article for part in source.partitions() for article in source.read(part)]


def test_each_section_of_a_page_is_a_topic_with_its_own_urls(tmp_path: Path) -> None:
    articles = read(over_dump(tmp_path, "section"))
    assert articles[0] == Article(
        title="Ada Ö (Course & delta)",
        lead="It flows on for miles and miles.\nThen it ends at the sea.",
        references=("http://a.test/", "http://b.test/"),
        group="Ada Ö",
        revision="101",
        licence="CC BY-SA 4.0",
        page="1",
    )
    assert [(article.title, article.references, article.drop_reason) for article in articles[1:]] == [
        ("Ada Ö (Course & delta / Course)", ("http://c.test/",), None),
        ("Ada Ö (History)", (), "empty_lead"),
        ("Ada Ö (Course)", (), None),
        ("Ada Ö (See also)", (), "apparatus"),
        ("Ada Ö (References)", (), "apparatus"),
    ]


def test_topics_of_one_article_share_a_split(tmp_path: Path) -> None:
    pages = [page(f"Ada {number}", ADA, number=number) for number in range(20)]
    table = intake_articles(read(over_dump(tmp_path, "section", *pages)), "sections", article_shards=2, seed=1)
    splits: dict[str, set[str]] = {}
    for row in table.to_pylist():
        splits.setdefault(row["group"], set()).add(row["split"])
    assert len(splits) == 20 and all(len(found) == 1 for found in splits.values())
    assert Counter(next(iter(found)) for found in splits.values())["train"] < 20


def test_a_page_that_is_no_article_is_refused_once(tmp_path: Path) -> None:
    for target in ("section", "lead"):
        articles = read(over_dump(tmp_path, target, page("Bo", redirect="Ada")))
        assert [(article.title, article.drop_reason) for article in articles] == [("Bo", "redirect")]


def test_sections_are_the_documents_of_their_lead(tmp_path: Path) -> None:
    source = over_dump(tmp_path, "lead")
    base = "https://wiki.test/wiki/Ada_%C3%96"
    (article,) = read(source)
    assert source.gives_documents
    assert (article.lead, article.references) == ("Ada is a river that flows through the north of a test.", ())
    assert article.documents == (
        GivenDocument(
            f"{base}#Course_&_delta", "Course & delta", ("It flows on for miles and miles.", "Then it ends at the sea.")
        ),
        GivenDocument(
            f"{base}#Course", "Course & delta / Course", ("It turns left there, and then right again after the mill.",)
        ),
        GivenDocument(f"{base}#Course_2", "Course", ("Another course of it was dug by hand in 1850.",)),
    )


def test_lines_give_the_same_two_ways(tmp_path: Path) -> None:
    topics = read(over_lines(tmp_path, "section", LINE))
    assert topics[0] == Article(
        title="Ada Bo (Course / Delta)",
        lead="It flows on for miles and miles.\nIt ends here.",
        references=("http://a.test/",),
        group="Ada Bo",
        licence="CC BY-SA 4.0",
    )
    assert [(topic.title, topic.drop_reason) for topic in topics[1:]] == [
        ("Ada Bo (History)", "empty_lead"),
        ("Ada Bo (Names)", None),
    ]
    source = over_lines(tmp_path, "lead", LINE, LINE | {"title": "Cy", "lead": "Too short"})
    article, short = read(source)
    assert (article.title, article.lead, article.references) == (
        "Ada Bo",
        "Ada Bo is a river that flows through the north.",
        (),
    )
    assert article.documents == (
        GivenDocument(f"{LINE['url']}#Delta", "Course / Delta", ("It flows on for miles and miles.", "It ends here.")),
        GivenDocument(f"{LINE['url']}#Names", "Names", ("It has two names, of which only one is used.",)),
    )
    assert (short.drop_reason, short.documents) == ("short_lead", ())
    other = over_lines(tmp_path, "section", LINE)
    assert not other.gives_documents and not any(topic.documents for topic in read(other))


def test_digests_differ_between_the_two_ways(tmp_path: Path) -> None:
    digests = {over_dump(tmp_path, target).partitions()[0].digest for target in ("section", "lead")}
    digests |= {over_lines(tmp_path, target, LINE).partitions()[0].digest for target in ("section", "lead")}
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE | {"sections": None}, "field 'sections': Input should be a valid array, got None"),
        (LINE | {"sections": ["x"]}, "field 'sections.0': Input should be an object, got 'x'"),
        (LINE | {"sections": [{"title": 1}]}, "field 'sections.0.title': Input should be a valid string, got 1"),
        (LINE | {"sections": [{"title": "T", "text": "x", "refs": "u"}]}, "field 'sections.0.refs': .* valid array"),
        ({"title": "Ada"}, "field 'lead': Field required"),
        ([], "Input should be an object"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.jsonl, line 2: {message}"):
        read(over_lines(tmp_path, "section", LINE, line))


def test_paths_are_asked_for() -> None:
    source = SectionsSource(SectionsSettings(), DumpSettings(), WikitextSettings())
    with pytest.raises(ValueError, match=r"source\.dump\.paths is empty"):
        source.partitions()


@pytest.mark.shared_data
def test_real_articles_give_their_sections(shared_data: Path) -> None:
    path = shared_data / "freshwiki_lead.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    settings = SectionsSettings(target="lead", paths=(str(path),))
    opened = open_source(SourceSettings(kind="sections", sections=settings))
    assert isinstance(opened, SectionsSource)
    articles = read(opened)
    assert len(articles) == len(lines) == 100
    assert [article.title for article in articles] == [line["title"].replace("_", " ") for line in lines]
    assert sum(len(article.documents) for article in articles) == 1070


@pytest.mark.parametrize("target", ["section", "lead"])
def test_malformed_lines_are_refused_where_some_are_allowed(tmp_path: Path, target: str) -> None:
    whole = read(over_lines(tmp_path, target, LINE))
    refused = Article("a.jsonl, line 1", "", (), drop_reason="malformed_line")
    assert read(over_lines(tmp_path, target, {"title": "Bo"}, LINE, malformed=1)) == [refused, *whole]
