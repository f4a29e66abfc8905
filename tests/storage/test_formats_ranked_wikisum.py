"""Items of ranked shards: taken apart and put together, by hand and by law; what is wrong is named."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.formats.ranked_wikisum import (
    FieldError,
    MarkIds,
    RankedItem,
    ShardFile,
    parse_shard_file,
    read_item,
    write_item,
)

MARKS = MarkIds(size=20, pad=6, begin=4, end=5, title=3, sentence=8)  # the released ids, and fewer pieces
ITEM = {
    "src": [[10, 11, 3, 12, 3, 0], [], [13]],
    "tgt": [4, 14, 8, 15, 5],
    "tgt_str": "<t> a river . </t> <t> it flows . </t>",
}
DENSE = [[1.0, 0.25, 0.0], [0.25, 1.0, 0.5], [0.0, 0.5, 1.0]]
EDGES = [(0, 1, 0.25), (1, 2, 0.5)]


def read(**changed: Any) -> RankedItem:
    graphs = "sim_graph" in changed
    return read_item({**ITEM, **changed}, MARKS, location="WIKI.train.3.pt, item 17", graphs=graphs)


def test_an_item_is_taken_apart_and_put_together() -> None:
    item = read()
    assert item == RankedItem([10, 11], [[12, 3, 0], [], [13]], [4, 14, 8, 15, 5], ["a river .", "it flows ."])
    assert item.text == "a river . it flows ."
    assert write_item(item, MARKS, location="here") == ITEM
    assert read(sim_graph=DENSE).similarity == EDGES
    assert write_item(read(sim_graph=DENSE), MARKS, location="here") == {**ITEM, "sim_graph": DENSE}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<t> a . </t> <t> b . </t>", "a . b ."),
        ("<t>a .</t><t>b .</t>", "a . b ."),
        (" <t> a . </t>\n", "a ."),
        ("a . b .", "a . b ."),
        ("<t> a . <t> b . </t>", "a . b ."),
        ("<t>  </t>", ""),
        ("", ""),
    ],
)
def test_the_text_of_a_lead_has_no_marks(written: str, text: str) -> None:
    assert read(tgt_str=written).text == text


def test_weights_may_be_texts_and_those_of_discourse_above_1() -> None:
    discourse = [[0, 0, 3], [0, 0, 0], [3, 0, 0]]
    assert read(sim_graph=DENSE, discourse_graph=discourse).discourse == [(0, 2, 3.0)]
    assert read(sim_graph=[["1", "0.25", "0"], ["0.25", "1", ".5"], ["0", ".5", "1"]]).similarity == EDGES
    assert read(sim_graph=[[1, 1.00001, 0], [1, 1, 0], [0, 0, 1]]).similarity == [(0, 1, 1.0)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"src": None}, "src: expected a list of at least one list of token ids, got NoneType None"),
        ({"src": []}, r"src: expected a list of at least one list of token ids, got list \[\]"),
        ({"src": [10, 3]}, r"src\[0\]: expected a list of token ids, got int 10"),
        ({"src": [[3], [1, 20]]}, r"src\[1\]\[1\]: expected an id of the vocabulary, 0 to 19, got 20"),
        ({"src": [[3, -1]]}, r"src\[0\]\[1\]: expected an id of the vocabulary, 0 to 19, got -1"),
        ({"src": [[3, True]]}, r"src\[0\]\[1\]: expected a token id, got bool True"),
        ({"src": [[3, 1.0]]}, r"src\[0\]\[1\]: expected a token id, got float 1.0"),
        ({"src": [[3], [7, 6]]}, r"src\[1\]\[1\]: expected no padding, got 6, <PAD>"),
        ({"src": [[10, 11]]}, r"src\[0\]: expected the title and 3, <T>, before the text; there is no <T>"),
        ({"tgt": "text"}, "tgt: expected a list of token ids, got str 'text'"),
        ({"tgt": [4]}, r"tgt: expected 4, <S>, and more ids after it, got \[4\]"),
        ({"tgt": [9, 10, 5]}, r"tgt: expected 4, <S>, and more ids after it, got \[9, 10, 5\]"),
        ({"tgt": [4, 5, 9]}, r"tgt\[1\]: expected 5, </S>, nowhere but at 2"),
        ({"tgt": [4, 9, 4]}, r"tgt\[2\]: expected 4, <S>, nowhere but at 0"),
        ({"tgt_str": ["a"]}, r"tgt_str: expected a string, got list \['a'\]"),
        ({"tgt_str": "\ud800"}, "tgt_str: expected Unicode text, found a lone surrogate"),
        ({"sim_graph": 1}, "sim_graph: expected a 3 x 3 matrix, got int 1"),
        ({"sim_graph": {"row": [0], "col": [1], "data": [1]}}, "sim_graph: expected a 3 x 3 matrix, got dict {'row'"),
        ({"sim_graph": [[1]]}, r"sim_graph: expected 3 x 3 weights, one for each pair of src, got \(1, 1\)"),
        ({"sim_graph": [[1, 2], [3]]}, "sim_graph: expected 3 lists of 3 numbers"),
        ({"sim_graph": [[1, float("nan"), 0], [0, 1, 0], [0, 0, 1]]}, r"sim_graph\[0, 1\]: expected a finite weight"),
        ({"sim_graph": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, r"sim_graph\[0, 1\]: expected a weight from 0 to 1, got 2"),
        ({"sim_graph": [[1, -1, 0], [-1, 1, 0], [0, 0, 1]]}, r"sim_graph\[0, 1\]: expected a weight from 0 to 1"),
        ({"sim_graph": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, r"sim_graph: expected equal weights both ways, got 0.5"),
    ],
)
def test_a_wrong_field_is_named_with_file_and_item(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=f"^WIKI.train.3.pt, item 17.*{message}"):
        read(**changed)


@pytest.mark.parametrize("missing", ["src", "tgt", "tgt_str", "sim_graph"])
def test_a_missing_field_is_named(missing: str) -> None:
    item = {name: value for name, value in {**ITEM, "sim_graph": DENSE}.items() if name != missing}
    with pytest.raises(FieldError, match=f"^f, item 0: expected a field {missing}, found only"):
        read_item(item, MARKS, location="f, item 0", graphs=True)
    with pytest.raises(FieldError, match=r"^f, item 0: expected a dict with src, tgt and tgt_str, got list \[\]"):
        read_item([], MARKS, location="f, item 0")


def test_what_the_layout_cannot_hold_is_refused_or_said() -> None:
    with pytest.raises(FieldError, match="article a: the title's ids have 3, <T>"):
        write_item(RankedItem([3], [[9]], [4, 5], ["a"]), MARKS, location="article a")
    with pytest.raises(FieldError, match=r"article a, src\[0\]\[2\]: expected an id of the vocabulary"):
        write_item(RankedItem([9], [[20]], [4, 5], ["a"]), MARKS, location="article a")
    no_paragraph = RankedItem([9], [], [4, 5], ["a"])
    assert read_item(write_item(no_paragraph, MARKS, location=""), MARKS, location="").source == [[]]


def test_names_of_files() -> None:
    assert parse_shard_file("WIKI.train.12.pt") == ShardFile("WIKI", "train", 12, "pt")
    assert parse_shard_file("a.b.test.0.json") == ShardFile("a.b", "test", 0, "json")
    assert ShardFile("WIKI", "valid", 3, "json").path == "WIKI.valid.3.json"
    for other in ("WIKI.dev.0.pt", "WIKI.train.pt", "WIKI.train.0.pt.tmp", ".WIKI.train.x.pt", "spm.model"):
        assert parse_shard_file(other) is None


IDS = st.lists(st.integers(7, 19), max_size=4)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<>"), max_size=8)


@st.composite
def items(draw: st.DrawFn) -> RankedItem:
    source = draw(st.lists(st.lists(st.sampled_from([0, 3, 4, 5, *range(7, 20)]), max_size=4), min_size=1, max_size=4))
    pairs = [(i, j) for j in range(len(source)) for i in range(j)]
    chosen = sorted(draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    weights = st.floats(2**-20, 1, width=32)
    similarity = [(i, j, draw(weights)) for i, j in chosen]
    discourse = [(i, j, draw(weights) * 8) for i, j in chosen]
    target = [4, *draw(IDS), *draw(st.sampled_from([[5], [9]]))]
    return RankedItem(draw(IDS), source, target, draw(st.lists(WORDS, min_size=1, max_size=3)), similarity, discourse)


@given(items())
def test_what_was_written_reads_back(item: RankedItem) -> None:
    written = write_item(item, MARKS, location="item")
    assert all(np.diag(written["sim_graph"]) == 1)
    found = read_item(written, MARKS, location="item", graphs=True)
    assert found == item
    assert write_item(found, MARKS, location="item") == written
