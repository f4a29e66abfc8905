from pathlib import Path
from typing import Any

import pytest

from storage.errors import StorageError
from storage.inventory import take_stock
from storage.store import Store
from tasks.explorer.article import differing, read_article, read_page
from tasks.explorer.corpus import CorpusQuery, ExplorerCorpus, Listing
from tests.tasks.explorer.small_corpus import BODY, CITED, COPY, FAILED, MIRROR, TEXT, ids, small_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> ExplorerCorpus:
    opened = ExplorerCorpus(Store(small_corpus(tmp_path)))
    opened.wait()
    return opened


def listed(corpus: ExplorerCorpus, **asked: Any) -> Listing:
    question = CorpusQuery(**asked)
    corpus.wait(question.kind)
    return corpus.find(question)


def titles(corpus: ExplorerCorpus, text: str, start: int = 0, count: int = 10, **asked: Any) -> list[str]:
    return [row["article"] for row in listed(corpus, text=text, start=start, count=count, **asked).rows]


def test_titles_are_found_in_any_case_and_page_by_page(corpus: ExplorerCorpus):
    assert titles(corpus, "") == ["Skerry Point", "Hallow Sands", "Orme <b>Bridge</b>"]
    assert titles(corpus, "  sKERRY ") == ["Skerry Point"]
    assert titles(corpus, "", 1, 1) == ["Hallow Sands"]
    assert titles(corpus, "", 2, 5) == ["Orme <b>Bridge</b>"]
    assert titles(corpus, "(") == []
    assert titles(corpus, "", order="-title") == ["Skerry Point", "Orme <b>Bridge</b>", "Hallow Sands"]
    found = listed(corpus, text="r", start=1, count=1)
    assert (found.matches, found.read, found.shards) == (2, 2, 2)
    assert found.rows == [
        {
            "shard": 1,
            "article_id": ids(1)[0],
            "title": "Orme <b>Bridge</b>",
            "split": "test",
            "source": "records",
            "licence": "none",
            "reason": "kept",
            "article": "Orme <b>Bridge</b>",
        }
    ]


def test_a_filter_counts_its_values_under_the_others(corpus: ExplorerCorpus):
    assert corpus.kinds == ["articles", "documents", "paragraphs", "ranked"]
    found = listed(corpus, kind="documents", chosen={"host": "b.test"})
    assert [(row["article"], row["url"], row["reason"]) for row in found.rows] == [("Skerry Point", FAILED, "http_404")]
    assert found.counts["host"] == [("a.test", 1), ("b.test", 1)]
    assert found.counts["provenance"] == [("search", 1)]
    assert listed(corpus, kind="documents", chosen={"host": "b.test", "reason": "kept"}).rows == []
    assert [row["reason"] for row in listed(corpus, kind="paragraphs", text="LEAD").rows] == ["clone"]


def test_scores_have_bounds(corpus: ExplorerCorpus):
    (row,) = listed(corpus, kind="ranked", least=0.75, most=0.75).rows
    assert (row["rank"], row["score"], row["host"], row["article"]) == (1, 0.75, "a.test", "Skerry Point")
    assert listed(corpus, kind="ranked", least=0.8).matches == 0


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"kind": "scores"}, "has no 'scores': expected articles, documents, paragraphs, ranked"),
        ({"order": "title; DROP TABLE articles"}, "articles have no 'title; DROP TABLE articles'"),
        ({"chosen": {"1=1 OR host": "x"}}, "articles have no '1=1 OR host'"),
    ],
)
def test_what_cannot_be_asked_is_named(corpus: ExplorerCorpus, asked: dict[str, Any], complaint: str):
    with pytest.raises(StorageError, match=complaint):
        corpus.find(CorpusQuery(**asked))


def test_two_summaries_differ_in_their_values():
    text, other = "Thomas Ridley's tower was built in 1847 for 12,000 crowns.", "Ann Ridley built it in 1874 for 12000."
    assert [word.strip() for word, differs in differing(text, other) if differs] == ["Thomas", "Ridley's", "1847"]
    assert [word.strip() for word, differs in differing(other, text) if differs] == ["Ann", "Ridley", "1874"]
    assert not any(differs for _, differs in differing(text, text))
    assert differing("", text) == []


def test_every_url_has_its_status_and_its_reason_in_words(corpus: ExplorerCorpus):
    addresses = read_article(corpus, 0, ids(0)[0]).addresses
    assert [(one.url, one.status, one.reason, one.meaning, one.fetched) for one in addresses] == [
        (CITED, 200, None, "", True),
        (
            MIRROR,
            None,
            "mirror_host",
            "the encyclopedia itself or a mirror of it: the target would be among its own sources",
            False,
        ),
        (FAILED, 404, "http_404", "the server answered with status 404", False),
    ]
    assert (addresses[0].title, addresses[0].engine) == ("The tower", "trafilatura")
    assert [one.origin for one in addresses] == ["Ann Molloy, 2024-05-03", "", ""]


def test_every_paragraph_has_its_label_rank_and_score_or_its_reason(corpus: ExplorerCorpus):
    kept, clone = read_article(corpus, 0, ids(0)[0]).candidates
    assert (kept.text, kept.label, kept.similarity, kept.rank, kept.score) == (TEXT, 0.25, 0.5, 0, 0.75)
    assert (clone.text, clone.reason, clone.meaning) == (COPY, "clone", "it repeats the lead section")
    assert (clone.rank, clone.score, clone.label) == (None, None, None)
    assert (kept.number, kept.passage, kept.cited_by) == (1, 1, ["concepts"])
    assert (clone.number, clone.passage, clone.cited_by) == (1, None, [])


def test_what_was_refused_across_articles_says_so(tmp_path: Path):
    corpus = ExplorerCorpus(Store(small_corpus(tmp_path, leak=True)))
    corpus.wait()
    reasons = {one.text: one.reason for one in read_article(corpus, 0, ids(0)[0]).candidates}
    assert reasons == {TEXT: "leak", COPY: "clone"}


def test_a_summary_leads_back_to_the_page_as_fetched(corpus: ExplorerCorpus):
    view = read_article(corpus, 0, ids(0)[0])
    ((system, sentences),) = [(written.system, written.sentences) for written in view.written]
    assert system == "concepts"
    assert [sentence.verdict for sentence in sentences] == ["said", "not supported"]
    (passage,) = view.passages
    address = view.addresses[passage.source - 1]
    assert (passage.text, address.url) == (TEXT, CITED)
    assert address.host_shard is not None
    page = read_page(corpus, address.host_shard, address.url)
    assert page is not None
    assert (page.mime, page.body) == ("text/html", BODY)
    assert read_page(corpus, 0, FAILED) is None
    assert read_page(corpus, 0, "http://never.test/") is None


def test_an_article_without_sources_is_shown_too(corpus: ExplorerCorpus):
    view = read_article(corpus, 0, ids(0)[1])
    assert (view.addresses, view.candidates, view.passages) == ([], [], [])


def test_what_is_not_there_is_named(corpus: ExplorerCorpus, tmp_path: Path):
    with pytest.raises(StorageError, match=r"shard 0 of build .* has no article 'x'"):
        read_article(corpus, 0, "x")
    with pytest.raises(StorageError, match="has no shard 7 of articles"):
        read_article(corpus, 7, "x")
    with pytest.raises(StorageError, match="has no build with articles"):
        empty = Store(str(tmp_path / "empty"))
        take_stock(empty)
        ExplorerCorpus(empty)
    assert ExplorerCorpus.beside(str(tmp_path / "empty")) is None
    assert ExplorerCorpus.beside(f"{tmp_path}/registry") is not None


def test_a_damaged_shard_of_titles_leaves_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    root = small_corpus(tmp_path)
    next((tmp_path / "articles").glob("part-00000.*.parquet")).write_bytes(b"no parquet")
    corpus = ExplorerCorpus(Store(root))
    corpus.wait()
    assert titles(corpus, "") == ["Orme <b>Bridge</b>"]
    assert "cannot be read" in caplog.text
    with pytest.raises(StorageError, match="cannot be read"):
        read_article(corpus, 0, ids(0)[0])
