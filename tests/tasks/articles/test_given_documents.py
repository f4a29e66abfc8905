"""Documents that a source itself holds."""

from storage.schemas import GIVEN
from tasks.articles.articles import given_documents
from tasks.engine.hashing import article_id, shard_of
from tasks.sources.source import Article, GivenDocument


def test_given_documents_are_laid_out_as_extracted_ones() -> None:
    pile = (
        GivenDocument("u1", "T", ("One.", "Two.")),
        GivenDocument("u1", None, ("Again.",)),
        GivenDocument("u2", None, ()),
    )
    articles = [
        Article("Ada", "Lead.", (), documents=pile),
        Article("Bo", "", (), documents=pile),
        Article("Cy", "Lead.", ("http://c.test/",)),
    ]
    table = given_documents(articles, "here", article_shards=8)
    assert table.schema.equals(GIVEN.schema, check_metadata=True)
    id_ = article_id("here", "Ada")
    first = table.to_pylist()[0]
    assert (first.pop("quality")["words"], first.pop("personal")["emails"]) == (2, 0)
    assert first == {
        "article_id": id_,
        "article_shard": shard_of(id_, 8),
        "url": "u1",
        "provenance": "citation",
        "rank": 0,
        "title": "T",
        "date": None,
        "author": None,
        "site": None,
        "paragraphs": ["One.", "Two."],
        "page_numbers": None,
        "boilerplate": [False, False],
        "engine": None,
        "reason": None,
        "licence": None,
        "licence_source": None,
        "reservations": [],
        "language": None,
    }
    assert table.select(["article_id", "url", "rank", "reason"]).to_pylist()[1:] == [
        {"article_id": id_, "url": "u1", "rank": 1, "reason": "duplicate_url"},
        {"article_id": id_, "url": "u2", "rank": 2, "reason": "no_text"},
        {"article_id": article_id("here", "Cy"), "url": "", "rank": 0, "reason": "no_documents"},
    ]


def test_articles_that_only_a_search_finds_sources_for_count_as_having_no_documents() -> None:
    bare = Article("Cy", "Lead.", ())
    assert given_documents([bare], "here", article_shards=1).num_rows == 0
    table = given_documents([bare], "here", article_shards=1, search_will_follow=True)
    assert table["reason"].to_pylist() == ["no_documents"]


def test_documents_have_the_licence_of_their_article_by_its_usual_name() -> None:
    pile = (GivenDocument("u1", "T", ("One.",)),)
    articles = [
        Article(name, "Lead.", (), documents=pile, licence=licence)
        for name, licence in (("Ada", "CC BY-SA 4.0"), ("Bo", "Crown copyright"), ("Cy", None))
    ]
    table = given_documents(articles, "here", article_shards=1)
    assert table.select(["licence", "licence_source"]).to_pylist() == [
        {"licence": "CC-BY-SA-4.0", "licence_source": "source"},
        {"licence": "Crown copyright", "licence_source": "source"},
        {"licence": None, "licence_source": None},
    ]
