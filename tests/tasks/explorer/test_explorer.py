import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.errors import StorageError
from storage.inventory import take_stock
from storage.store import Store
from tasks.explorer.article import differing, read_article, read_page
from tasks.explorer.corpus import CorpusQuery, ExplorerCorpus, Listing
from tests.tasks.explorer.small_corpus import BODY, CITED, COPY, FAILED, MIRROR, TEXT, ids, lists, small_corpus


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
            "lead": COPY,
            "words": 10,
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
    (row,) = listed(corpus, kind="ranked", bounds={"score": (0.75, None)}).rows
    assert (row["rank"], row["score"], row["host"], row["article"]) == (1, 0.75, "a.test", "Skerry Point")
    assert listed(corpus, kind="ranked", bounds={"score": (0.8, None)}).matches == 0
    assert listed(corpus, kind="ranked", bounds={"score": (0.7, 0.75)}).matches == 0


def test_a_distribution_has_bars_of_round_width_and_the_longest_in_its_last(tmp_path: Path):
    lengths = [*range(1, 100), 99, 500]  # the 99th percentile is 99
    scores = [0.0, 0.05, 0.1, 0.3, 0.59, 0.6, None]
    corpus = ExplorerCorpus(Store(lists(tmp_path, lengths, scores)))
    found = listed(corpus, kind="paragraphs")
    bars = [(bar.low, bar.high, bar.rows) for bar in found.bars["words"]]
    assert bars == [(0, 10, 9), *((low, low + 10, 10) for low in range(10, 90, 10)), (90, None, 12)]
    assert sum(rows for *_, rows in bars) == found.matches == 101
    assert [(bar.low, bar.high, bar.rows) for bar in listed(corpus, kind="ranked").bars["score"]] == [
        *[(0.0, 0.05, 1), (0.05, 0.1, 1), (0.1, 0.15, 1), (0.15, 0.2, 0), (0.2, 0.25, 0), (0.25, 0.3, 0)],
        *[(0.3, 0.35, 1), (0.35, 0.4, 0), (0.4, 0.45, 0), (0.45, 0.5, 0), (0.5, 0.55, 0), (0.55, None, 2)],
    ]


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6), min_size=1),
    st.booleans(),
)
@settings(max_examples=25)
def test_a_bar_counts_the_rows_that_its_bounds_find(scores: list[float], whole: bool):
    with TemporaryDirectory() as folder:
        lengths = [1 + abs(int(score)) % 700 for score in scores]
        corpus = ExplorerCorpus(Store(lists(Path(folder), lengths, scores)))
        kind, name = ("paragraphs", "words") if whole else ("ranked", "score")
        bars = listed(corpus, kind=kind).bars[name]
        counted = [listed(corpus, kind=kind, bounds={name: (bar.low, bar.high)}).matches for bar in bars]
        assert [bar.rows for bar in bars] == counted
        assert sum(counted) == len(scores)
        assert len(bars) <= 14


def test_the_lead_begins_a_row_and_one_value_is_one_bar(corpus: ExplorerCorpus):
    found = listed(corpus)
    assert {row["lead"] for row in found.rows} == {COPY}
    assert [(bar.low, bar.high, bar.rows) for bar in found.bars["words"]] == [(10, 11, 3)]
    assert [(bar.low, bar.high, bar.rows) for bar in listed(corpus, kind="documents").bars["year"]] == [(2024, 2025, 1)]
    assert listed(corpus, text="nothing has this").bars == {"words": ()}


def test_a_long_lead_ends_at_a_word(tmp_path: Path):
    lead = " ".join(["twelve"] * 30)
    (row,) = listed(ExplorerCorpus(Store(lists(tmp_path, [1], [None], lead)))).rows
    assert (row["lead"], row["words"]) == (" ".join(["twelve"] * 17 + ["…"]), 30)


def test_a_filtered_list_is_written_whole_for_spreadsheets_and_programs(tmp_path: Path):
    corpus = ExplorerCorpus(Store(lists(tmp_path, [3, 1, 2], [0.5, 0.25, 0.75])))
    asked = CorpusQuery("ranked", bounds={"score": (0.5, None)}, order="-score", count=1)
    file = io.BytesIO()
    corpus.write(asked, file, "csv")
    assert file.getvalue().decode("utf-8-sig").splitlines() == [
        '"shard","article_id","text","url","host","rank","score","article"',
        '0,"a","\'=1+1 1","http://a.test/2","a.test",3,0.75,"\'=Title"',
        '0,"a","\'=1+1 1 1","http://a.test/0","a.test",1,0.5,"\'=Title"',
    ]
    file = io.BytesIO()
    corpus.write(asked, file, "parquet")
    assert pq.read_table(file).select(["text", "score"]).to_pylist() == [
        {"text": "=1+1 1", "score": 0.75},
        {"text": "=1+1 1 1", "score": 0.5},
    ]
    with pytest.raises(StorageError, match="ranked have no 'nothing'"):
        corpus.write(CorpusQuery("ranked", bounds={"nothing": (1, None)}), file, "csv")


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
