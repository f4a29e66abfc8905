"""Vocabularies: round trips, special pieces by name, marks that text cannot forge."""

import io
import pickle
from functools import cache
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from models.tokenization.sentencepiece_model import keep_values
from models.vocabulary import Vocabulary

TEXTS = ["the river rises in the hills", "the film was shot by the river", "hills and films", "a river of the hills"]


def train(**options: object) -> bytes:
    """Train a tiny model with our layout of special pieces unless told otherwise."""
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 5),
        model_writer=writer,
        vocab_size=320,
        hard_vocab_limit=False,
        byte_fallback=True,
        minloglevel=2,
        **{
            "pad_id": 0,
            "pad_piece": "<PAD>",
            "unk_id": 1,
            "bos_id": 2,
            "bos_piece": "<S>",
            "eos_id": 3,
            "eos_piece": "</S>",
            "control_symbols": ["<T>", "<P>", "<Q>"],
            **options,
        },
    )
    return writer.getvalue()


@cache
def our_own() -> Vocabulary:
    return Vocabulary(train())


@pytest.fixture
def vocabulary() -> Vocabulary:
    return our_own()


@pytest.fixture(scope="module")
def imported() -> Vocabulary:
    """The layout of the released vocabulary: unk 0, then marks as symbols that text can contain."""
    return Vocabulary(
        train(
            pad_id=-1,
            unk_id=0,
            bos_id=1,
            bos_piece="<s>",
            eos_id=2,
            eos_piece="</s>",
            control_symbols="",
            user_defined_symbols=["<T>", "<S>", "</S>", "<PAD>", "<P>", "<Q>"],
        )
    )


def special_ids(vocabulary: Vocabulary) -> list[int]:
    return [
        vocabulary.pad,
        vocabulary.unk,
        vocabulary.begin,
        vocabulary.end,
        vocabulary.title_mark,
        vocabulary.paragraph_mark,
        vocabulary.sentence_mark,
    ]


def test_special_pieces_are_found_by_name(vocabulary: Vocabulary, imported: Vocabulary) -> None:
    assert special_ids(vocabulary) == [0, 1, 2, 3, 4, 5, 6]
    assert special_ids(imported) == [6, 0, 4, 5, 3, 7, 8]
    assert vocabulary.pieces([0, 4, 6]) == ["<PAD>", "<T>", "<Q>"]
    assert imported.pieces([6, 3, 8]) == ["<PAD>", "<T>", "<Q>"]


def test_text_survives_and_marks_leave_no_trace(vocabulary: Vocabulary, imported: Vocabulary) -> None:
    for each in (vocabulary, imported):
        ids = each.encode("the river rises")
        assert "".join(each.pieces(ids)) == "▁the▁river▁rises"
        assert each.decode([each.begin, *ids, each.sentence_mark, each.end, each.pad]) == "the river rises"


@pytest.mark.parametrize("mark", ["<PAD>", "<S>", "</S>", "<T>", "<P>", "<Q>"])
def test_text_cannot_forge_a_mark(mark: str, vocabulary: Vocabulary, imported: Vocabulary) -> None:
    for each in (vocabulary, imported):
        marks = set(special_ids(each)) - {each.unk}
        assert not marks & set(each.encode(f"the {mark} river"))
        assert not marks & set(each.encode_batch([f"the {mark} river"])[0])


def test_the_mark_of_sentences_is_one_piece_more(vocabulary: Vocabulary, imported: Vocabulary) -> None:
    for each in (vocabulary, imported):
        marked = each.in_form("sentences")
        mark = each.size
        assert (each.sentence_begin, marked.sentence_begin, marked.size) == (None, mark, mark + 1)
        assert special_ids(marked) == special_ids(each)
        assert marked.pieces(range(mark)) == each.pieces(range(mark))
        assert marked.pieces([mark]) == ["[BOS]"]
        assert marked.in_form("sentences") is marked
        assert Vocabulary(marked.model) == marked == each.in_form("sentences")
        forged = "the [BOS] river"
        assert marked.encode(forged) == each.encode(forged)
        assert marked.decode([mark, *each.encode("the river"), mark]) == "the river"
        spelled = [each.encode(text) for text in ("the river rises", "hills")]
        assert marked.encode_paragraphs([["the river rises", "", "hills"], [" "]]) == [
            [mark, *spelled[0], mark, *spelled[1]],
            [],
        ]
        assert each.encode_paragraphs([["the river rises", "hills"]]) == [[*spelled[0], *spelled[1]]]


def test_a_model_that_spells_text_with_the_mark_gets_none() -> None:
    taken = Vocabulary(train(user_defined_symbols=["[BOS]"]))
    with pytest.raises(ValueError, match=r"expected a SentencePiece model without a piece '\[BOS\]' of text"):
        taken.in_form("sentences")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30), max_size=5))
def test_a_batch_is_encoded_as_its_texts_are(texts: list[str]) -> None:
    vocabulary = our_own()
    assert vocabulary.encode_batch(texts) == [vocabulary.encode(text) for text in texts]
    assert all(vocabulary.unk not in ids for ids in vocabulary.encode_batch(texts))


def test_a_file_and_a_pickle_hold_the_same_vocabulary(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.model"
    path.write_bytes(vocabulary.model)
    assert Vocabulary.from_file(path) == vocabulary == pickle.loads(pickle.dumps(vocabulary))
    assert vocabulary.size == len({vocabulary.pieces([i])[0] for i in range(vocabulary.size)})


def test_what_is_wrong_with_a_model_is_said() -> None:
    with pytest.raises(ValueError, match=r"expected a serialized SentencePiece model, got 7 other bytes"):
        Vocabulary(b"no-such")
    with pytest.raises(ValueError, match=r"no piece '<Q>'"):
        Vocabulary(train(control_symbols=["<T>", "<P>"]))


@pytest.mark.parametrize("id_", [-1, 10**6])
def test_an_id_that_is_not_there_is_an_error(id_: int, vocabulary: Vocabulary) -> None:
    with pytest.raises(ValueError, match=f"token id {id_} is not in the vocabulary of {vocabulary.size} pieces"):
        vocabulary.decode([5, id_])
    with pytest.raises(ValueError, match=f"token id {id_} "):
        vocabulary.pieces([id_])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("10³⁰ kg and 10⁻⁷", "10^30 kg and 10^−7"),
        ("12½ ft, ½ of 3⅜", "12 1/2 ft, 1/2 of 3 3/8"),
        ("40 km² of ²³⁵U", "40 km^2 of ²³⁵U"),
        ("café No. 7", "café No. 7"),
    ],
)
def test_no_rule_for_characters_changes_a_value(text: str, kept: str) -> None:
    assert keep_values(text) == kept
