"""A search that writes only the values of its source, on a vocabulary written out by hand."""

import pytest
import torch

from models.layers.paragraphs import SourceBatch
from models.search.source_values import Pieces, SourceValues
from models.search.step import Hypotheses

PIECES = [
    "<PAD>",
    "<S>",
    "</S>",
    "▁by",
    "▁Mart",
    "a",
    "▁Homans",
    "son",
    "▁Ol",
    "ga",
    "▁Lund",
    ",",
    ".",
    "▁1,",
    "8",
    "3",
    "▁km",
    "▁It",
    "▁it",
    "▁7",
    "6",
    "'",
    "s",
    "▁",
    "<0x28>",
    "N",
    "oc",
    "-",
    "▁39",
    "5",
    "long",
    "▁Founded",
    "▁mill",
    "er",
]
ID = {piece: number for number, piece in enumerate(PIECES)}
# by Marta Homansson, Olga Lund's 1,833 km (Noc) 395-long 7.6 mill
SOURCE = (
    "▁by ▁Mart a ▁Homans son , ▁Ol ga ▁Lund ' s ▁1, 8 3 3 ▁km ▁ <0x28> N oc ▁39 5 - long ▁7 . 6 ▁mill".split()  # noqa: SIM905
)


def allowed(text: str, source: list[str] = SOURCE) -> set[str]:
    """Return the pieces that may follow `text`, which is written as its pieces."""
    ids = torch.tensor([[[ID[piece] for piece in source]]])
    batch = SourceBatch(ids, torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.int64), 0)
    tokens = torch.tensor([[[ID[piece] for piece in text.split()]]], dtype=torch.int64)
    alive = Hypotheses(torch.tensor([0]), tokens, torch.zeros(1, 1), torch.zeros(1, 1, tokens.shape[-1], 1))
    forbidden = SourceValues(Pieces(PIECES, marks={0, 1, 2}), batch, lambda *_: False, [{}]).forbidden(alive)
    return {piece for piece, no in zip(PIECES, forbidden[0, 0].tolist(), strict=True) if not no}


VALUE_STARTS = {"▁Mart", "▁Homans", "▁Ol", "▁Lund", "▁1,", "▁39", "▁7"}
PLAIN = {
    "<PAD>",
    "<S>",
    "</S>",
    "▁by",
    "a",
    "son",
    "ga",
    ",",
    ".",
    "▁km",
    "▁it",
    "'",
    "s",
    "▁",
    "<0x28>",
    "oc",
    "-",
    "long",
    "▁mill",
    "er",
}
LEAVING = {"<PAD>", "<S>", "</S>", "▁by", ",", ".", "▁km", "▁it", "'", "▁", "<0x28>", "-", "▁mill"}


def test_outside_of_values_only_those_of_the_source_begin() -> None:
    assert allowed("▁by") == PLAIN | VALUE_STARTS


def test_a_value_behind_a_bracket_begins_behind_punctuation_alone() -> None:
    assert "N" in allowed("▁by ▁ <0x28>")
    assert "N" not in allowed("▁by -")


def test_a_word_may_open_a_sentence_with_a_capital() -> None:
    assert allowed("▁by .") == PLAIN | VALUE_STARTS | {"▁It", "▁Founded"}
    assert allowed("") == PLAIN | VALUE_STARTS | {"▁It", "▁Founded", "N"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("▁by ▁Mart", {"a"}),  # half a name goes on as it stands
        ("▁by ▁Mart a", LEAVING | {"▁Homans"}),  # a word may be the last one, or be followed by its neighbour
        ("▁by ▁Mart a ▁Homans", {"son"}),
        ("▁by ▁Mart a ▁Homans son", LEAVING),  # a comma parts Homansson and Olga
        ("▁by ▁Ol ga", LEAVING | {"▁Lund"}),
        ("▁by ▁Lund", LEAVING),  # "Lund's" may be left before its mark
        ("▁by ▁1,", {"8"}),  # a number is not cut
        ("▁by ▁1, 8 3", {"3"}),
        ("▁by ▁1, 8 3 3", LEAVING),
        ("▁by ▁7", {"."}),
        ("▁by ▁7 .", {"6"}),
        ("▁by ▁39 5", LEAVING),  # 395, and 395-long
        ("▁by ▁ <0x28> N", {"oc"}),
    ],
)
def test_a_value_is_written_as_it_stands(text: str, expected: set[str]) -> None:
    assert allowed(text) == expected


def test_a_mark_of_the_run_leads_on() -> None:
    assert allowed("▁by ▁39 5 -") >= {"long"}


def test_a_source_without_values_leaves_plain_words() -> None:
    assert allowed("▁by", ["▁by", "▁mill"]) == PLAIN


def test_an_opening_word_is_no_beginning_of_another() -> None:
    assert allowed("▁It") == LEAVING | VALUE_STARTS | {"s"}  # "It" and "Its", not "Ita"
