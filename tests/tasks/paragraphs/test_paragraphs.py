"""Candidate paragraphs of small articles, by hand."""

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, DOCUMENTS, GIVEN, PARAGRAPHS
from tasks.paragraphs.filter import drop_reason
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.paragraphs.settings import CloneSettings, PageFilterSettings, ParagraphSettings

LEAD = "The Severn is the longest river in Great Britain and rises in the Cambrian Mountains of Wales."
WIDE = "Near its mouth the river is more than a mile wide at high tide."
BORE = "A tidal bore runs up the estuary on most days of the spring tides."
SALMON = "Anglers come to the upper reaches every autumn to fish for salmon."

FERRY = "A ferry crossed the river below the town until the bridge was built."
BRIDGE = "Three spans of cast iron carry the old road over the gorge."


def article(name: str = "a1", **columns: object) -> dict:
    return {"article_id": name, "title": "River Severn", "lead": LEAD, "split": "train", "drop_reason": None, **columns}


def document(*texts: str, name: str = "a1", url: str = "http://x.test/", rank: int = 0, **columns: object) -> dict:
    return {
        "article_id": name,
        "article_shard": 0,
        "url": url,
        "provenance": "citation",
        "rank": rank,
        "paragraphs": list(texts),
        "boilerplate": [False] * len(texts),
        "reason": None,
        **columns,
    }


def build(
    articles: list[dict], documents: list[dict], given: list[dict] | None = None, **settings: object
) -> dict[str, list]:
    """Build and return the table's columns as lists."""
    batches = build_paragraphs(
        pa.Table.from_pylist(articles, schema=ARTICLES.schema),
        pa.Table.from_pylist(documents, schema=DOCUMENTS.schema),
        ParagraphSettings(**settings),
        given=None if given is None else pa.Table.from_pylist(given, schema=GIVEN.schema),
    )
    return pa.Table.from_batches(batches, schema=PARAGRAPHS.schema).to_pydict()


@pytest.mark.parametrize(
    ("signs", "split", "obeyed", "reason"),
    [
        (["robots.txt content-signal ai-train=no"], "train", True, "page_not_for_training"),
        (["robots.txt content-signal ai-train=no"], "train", False, None),
        (["robots.txt content-signal ai-train=no"], "test", True, None),
        (["header content-signal ai-input=no", "meta noimageai"], "train", True, None),
        ([], "train", True, None),
        (None, "train", True, None),
    ],
)
def test_what_a_page_reserves_against_training_is_no_source_of_training(signs, split, obeyed, reason):
    rows = build([article(split=split)], [document(FERRY, reservations=signs)], pages={"obey_training": obeyed})
    assert rows["drop_reason"] == [reason]


def test_documents_come_cited_first_then_by_rank():
    rows = build(
        [article()],
        [
            document("s1", url="u4", provenance="search", rank=1),
            document("c1", "c1b", url="u2", rank=1),
            document("s0", url="u3", provenance="search", rank=0),
            document("c0", url="u1", rank=0),
        ],
    )
    assert rows["text"] == ["c0", "c1", "c1b", "s0", "s1"]
    assert rows["paragraph_id"] == [0, 1, 2, 3, 4]
    assert rows["position"] == [0, 0, 1, 0, 0]
    assert rows["url"] == ["u1", "u2", "u2", "u3", "u4"]
    assert rows["provenance"] == ["citation"] * 3 + ["search"] * 2


def test_given_documents_stand_beside_crawled_ones():
    given = [
        document(WIDE, url="g1"),
        document(url="g2", rank=1, reason="no_text"),
        document(BORE, url="g3", rank=2),
        document(SALMON, url="other"),
        document(SALMON, url="other", rank=1),
        document(FERRY, name="a2", url="g1"),
    ]
    rows = build([article(), article("a2"), article("a3")], [document(BRIDGE, url="c1", rank=1)], given)
    assert rows["article_id"] == ["a1", "a1", "a1", "a2"]
    assert rows["text"] == [WIDE, BRIDGE, BORE, FERRY]
    assert rows["url"] == ["g1", "c1", "g3", "g1"]
    assert rows["paragraph_id"] == [0, 1, 2, 0]


def test_each_reason_in_its_place():
    texts = ["Menu", WIDE, LEAD, "near  its MOUTH the river is more than a mile wide at high tide.", BORE, SALMON]
    boilerplate = [True, False, False, False, True, False]
    rows = build([article()], [document(*texts, boilerplate=boilerplate)])
    filtered = drop_reason("Menu", ParagraphSettings().filter)
    assert filtered is not None
    assert rows["drop_reason"] == [filtered, None, "clone", "duplicate", "host_boilerplate", None]
    assert rows["text"] == texts


def test_switched_off_rules_keep_what_they_would_drop():
    rows = build([article()], [document(LEAD, WIDE, BORE)], clones=CloneSettings(recall=None, part_recall=None))
    assert rows["drop_reason"] == [None] * 3


def test_a_text_refused_once_is_no_duplicate():
    rows = build([article()], [document(WIDE, url="u1", boilerplate=[True]), document(WIDE, BORE, url="u2", rank=1)])
    assert rows["drop_reason"] == ["host_boilerplate", None, None]


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (" ", "  "),
        ("The", " The"),
        ("banks.", "banks. "),
        (" ", "\u00a0"),
        (" ", "\t"),
        (" ", "\u2028"),
        ("wide", "WIDE"),
        ("river", "RIVER"),
    ],
)
def test_white_space_and_case_make_no_difference_to_duplicates(found, written):
    text = "The river is wide here, between low green banks."
    other = text.replace(found, written)
    assert other != text
    for texts in ((text, other), (other, text)):
        assert build([article()], [document(*texts)])["drop_reason"] == [None, "duplicate"]


def test_duplicates_are_seen_within_an_article_only():
    rows = build([article("a1"), article("a2")], [document(WIDE, name="a2"), document(WIDE, name="a1")])
    assert rows["article_id"] == ["a1", "a2"]
    assert rows["drop_reason"] == [None, None]


def test_the_limit_takes_from_every_document_alike():
    documents = [
        document("Menu", WIDE, BORE, SALMON, url="u1"),
        document(WIDE, FERRY, BRIDGE, url="u2", rank=1),  # its first text is a duplicate: the next one counts as first
    ]
    filtered = drop_reason("Menu", ParagraphSettings().filter)
    reasons = {
        limit: build([article()], documents, max_paragraphs=limit)["drop_reason"] for limit in (None, 5, 4, 3, 2, 1)
    }
    over = "over_limit"
    assert reasons[None] == reasons[5] == [filtered, None, None, None, "duplicate", None, None]
    assert reasons[4] == [filtered, None, None, over, "duplicate", None, None]
    assert reasons[3] == [filtered, None, None, over, "duplicate", None, over]
    assert reasons[2] == [filtered, None, over, over, "duplicate", None, over]
    assert reasons[1] == [filtered, None, over, over, "duplicate", over, over]


@pytest.mark.parametrize(
    ("texts", "rows", "rest"),
    [
        (["Menu"] * 20_000, 20_000, None),
        (["Menu"] * 20_003, 20_001, "[3 more paragraphs of 12 characters]"),
        (["a" * 4_999_999, "b"], 2, None),
        (["a" * 4_999_990, "b" * 11, "Menu"], 2, "[2 more paragraphs of 15 characters]"),
        (["ü" * 5_000_001], 1, "[1 more paragraph of 5,000,001 characters]"),
    ],
)
def test_the_rest_of_a_document_without_end_is_one_counted_row(texts: list[str], rows: int, rest: str | None):
    built = build([article()], [document(*texts), document(WIDE, url="u2", rank=1)])
    assert len(built["text"]) == rows + 1
    assert built["paragraph_id"] == list(range(rows + 1))
    assert built["position"] == [*range(rows), 0]
    assert (built["text"][-1], built["drop_reason"][-1]) == (WIDE, None)
    assert [
        text for text, why in zip(built["text"], built["drop_reason"], strict=True) if why == "rest_of_document"
    ] == ([] if rest is None else [rest])


def test_a_refused_page_without_end_is_counted_with_its_rest():
    texts = ["Menu"] * 20_001
    built = build([article()], [document(*texts, licence=None)], pages=PageFilterSettings(keep=("licence=CC0-1.0",)))
    assert built["drop_reason"] == ["page_licence"] * 20_000 + ["rest_of_document"]


def test_a_document_that_repeats_the_lead_goes_whole():
    # 12 of the 17 words of the lead, no run of them long
    words = "The longest river rises in Wales. Great mountains of the Severn and Britain stand there. " + BORE
    rows = build(
        [article()],
        [document(words, SALMON, url="u1"), document(WIDE, url="u2", rank=1)],
        clones=CloneSettings(document=0.5),
    )
    assert rows["drop_reason"] == ["clone_document", "clone_document", None]


def test_refused_articles_and_documents_have_no_paragraphs():
    rows = build(
        [article("a1"), article("a2", drop_reason="empty lead"), article("a3")],
        [
            document(WIDE, name="a2"),
            document(name="a3", url="u1", reason="empty", paragraphs=None, boilerplate=None),
            document(BORE, name="a3", url="u2", rank=1),
            document(WIDE, name="a4"),
        ],
    )
    assert list(zip(rows["article_id"], rows["text"], strict=True)) == [("a3", BORE)]


def test_nothing_in_nothing_out():
    assert build([], [])["text"] == []
    assert build([article()], [])["text"] == []


def test_articles_must_be_sorted():
    with pytest.raises(ValueError, match="article a1 follows a2"):
        build([article("a2"), article("a1")], [])


def test_paragraphs_of_a_page_that_is_not_asked_for_are_refused_with_its_reason():
    keep = {"keep": ["licence=CC*", "language=en", "emails<1"]}
    free = {"licence": "CC0-1.0", "language": "en", "personal": {"emails": 0}}
    rows = build(
        [article()],
        [
            document(WIDE, "short", url="u0", **free),
            document(BORE, url="u1", rank=1, **{**free, "licence": None}),
            document(SALMON, url="u2", rank=2, **{**free, "language": "de"}),
            document(FERRY, "short", url="u3", rank=3, **{**free, "personal": {"emails": 1}}),
            document(BORE, url="u4", rank=4, **free),
        ],
        pages=keep,
    )
    # That the same text stands on a refused page makes no duplicate of it.
    assert rows["drop_reason"] == [
        None,
        "too_short",
        "page_licence",
        "page_language",
        "page_personal_data",
        "page_personal_data",
        None,
    ]


def test_personal_data_is_masked_on_request():
    text = "The keeper of the bridge answers letters to ada@severn.test and calls to +44 1632 960 001 on most days."
    assert build([article()], [document(text)])["text"] == [text]
    assert build([article()], [document(text)], pages={"mask_personal": True})["text"] == [
        "The keeper of the bridge answers letters to [e-mail] and calls to [telephone] on most days."
    ]


def test_a_paragraph_has_the_page_of_its_file_and_the_rest_has_none():
    built = build([article()], [document(WIDE, BORE, page_numbers=[1, 3]), document(SALMON, url="u2", rank=1)])
    assert built["page"] == [1, 3, None]
    many = build([article()], [document(*["Menu"] * 20_003, page_numbers=[2] * 20_003)])
    assert many["page"] == [2] * 20_000 + [None]
