"""Which pieces spell which sentence."""

from hypothesis import given
from hypothesis import strategies as st

from models.sentences import sentence_pieces, spelled, split_sentences


def places(text: str, pieces: list[str]) -> list[tuple[str, int, int]]:
    return [(sentence, piece.start, piece.stop) for sentence, piece in sentence_pieces(text, pieces)]


def test_a_lone_space_mark_marks_unknown_words_and_bytes_do_not_shift_the_sentences() -> None:
    pieces = ["<T>", "\u2581", "Caf", "<0xC3>", "<0xA9>", "<unk>", "\u2581bar.", "<Q>", "\u2581Two", "."]

    assert places("Caf\u00e9 \u2047 bar. Two.", pieces) == [("Caf\u00e9 \u2047 bar.", 0, 8), ("Two.", 8, 10)]


def test_a_lone_space_mark_belongs_to_the_sentence_that_it_begins() -> None:
    assert places("One. Two.", ["\u2581One", ".", "\u2581", "T", "wo", ".", "\u2581"]) == [
        ("One.", 0, 2),
        ("Two.", 2, 6),
    ]


def test_a_sentence_beyond_the_pieces_has_none() -> None:
    assert places("One. Two.", ["\u2581One."]) == [("One.", 0, 1), ("Two.", 1, 1)]
    assert places("One. Two.", []) == [("One.", 0, 0), ("Two.", 0, 0)]
    assert places("", []) == []


@given(st.lists(st.lists(st.sampled_from(["Aa", "bb", "cc", "Ddd"]), min_size=1, max_size=5), min_size=1, max_size=6))
def test_pieces_that_spell_the_text_fall_to_the_sentence_they_spell(sentences: list[list[str]]) -> None:
    texts = [" ".join([words[0].capitalize(), *words[1:]]) + "." for words in sentences]
    pieces, owners = [], []
    for number, text in enumerate(texts):
        for word in text.split():
            for place, letter in enumerate(word):
                pieces.append(letter if place else f"\u2581{letter}")
                owners.append(number)

    found = list(sentence_pieces(" ".join(texts), pieces))

    assert [sentence for sentence, _ in found] == split_sentences(" ".join(texts)) == texts
    assert [owners[piece] for _, piece in found] == [[n] * owners.count(n) for n in range(len(texts))]


def test_a_piece_stands_for_its_characters() -> None:
    assert [spelled(t) for t in ("\u2581the", "\u2581", "a\u0301", "<unk>", "<Q>", "<0xE2>", "<0x82>", "<b>")] == [
        3,
        0,
        2,
        1,
        0,
        1,
        0,
        3,
    ]


def test_pieces_of_bytes_count_each_character_once() -> None:
    assert [spelled(t) for t in ("\u2581<0xE2><0x80>", "<0x9D>", "a<0xC3>", "<s>", "</s>", "<mask>", "[BOS]")] == [
        1,
        0,
        2,
        0,
        0,
        0,
        0,
    ]
