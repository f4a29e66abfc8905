"""The vocabulary stage: what it may read, what it samples, and that it always gives the same bytes."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, PARAGRAPHS, VOCABULARY
from tasks.summarization.settings import VocabularySettings
from tasks.summarization.vocabulary import _cut, _Sample, adopt_vocabulary, train_vocabulary
from tests.models.byte_level import write_folder

SMALL = VocabularySettings(pieces=400, threads=1)


def articles(*rows: tuple[str, str, str, str, str | None]) -> pa.Table:
    names = ("article_id", "title", "lead", "split", "drop_reason")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=ARTICLES.schema)


def paragraphs(*rows: tuple[str, int, str, str | None]) -> pa.Table:
    names = ("article_id", "paragraph_id", "text", "drop_reason")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=PARAGRAPHS.schema)


def corpus(shard: int) -> tuple[pa.Table, pa.Table]:
    """Four articles, two of them for training, one letter apiece that no other text has."""
    rows = [
        (f"{shard}a", f"River {shard}", "The river Ä rises in the hills.", "train", None),
        (f"{shard}b", "Film", "A film Ö was shot.", "train", "empty lead"),
        (f"{shard}c", "Hill", "The hill Ü stands.", "valid", None),
        (f"{shard}d", "Fox", "The fox ß runs.", "test", None),
    ]
    texts = [
        (f"{shard}a", 0, "A river é of the hills.", None),
        (f"{shard}a", 1, "Cookies ñ everywhere.", "filtered"),
        (f"{shard}b", 0, "Films ç of a river.", None),
        (f"{shard}c", 0, "Hills ø and rivers.", None),
        (f"{shard}d", 0, "Foxes å in the hills.", None),
    ]
    return articles(*rows), paragraphs(*texts)


def pieces(table: pa.Table) -> set[str]:
    vocabulary = Vocabulary(table["model"][0].as_py())
    return set(vocabulary.pieces(range(vocabulary.size)))


def test_only_kept_rows_of_the_training_split_are_read() -> None:
    table = train_vocabulary([corpus(0), corpus(1)], SMALL.model_copy(update={"character_coverage": 1.0}), seed=1)
    assert table.schema == VOCABULARY.schema
    assert {character for character in "ÄÖÜßéñçøå" if any(character in piece for piece in pieces(table))} == {"Ä", "é"}
    # Two articles, each a title, a lead and a paragraph.
    assert table["sentences"].to_pylist() == [6]


def test_our_layout_of_special_pieces_and_the_real_number_of_pieces() -> None:
    table = train_vocabulary([corpus(0)], SMALL, seed=1)
    vocabulary = Vocabulary(table["model"][0].as_py())
    assert vocabulary.pieces(range(7)) == ["<PAD>", "<unk>", "<S>", "</S>", "<T>", "<P>", "<Q>"]
    assert table["pieces"].to_pylist() == [vocabulary.size]
    assert 7 + 256 < vocabulary.size < 400


def test_names_of_unseen_characters_are_spelt_out() -> None:
    vocabulary = Vocabulary(train_vocabulary([corpus(0)], SMALL, seed=1)["model"][0].as_py())
    assert vocabulary.decode(vocabulary.encode("Łódź 東京 1987")) == "Łódź 東京 1987"
    assert vocabulary.unk not in vocabulary.encode("Łódź")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_texts_give_same_bytes_whatever_the_order_of_shards(threads: int) -> None:
    settings = SMALL.model_copy(update={"threads": threads})
    sample = {"lead_characters": 170, "paragraph_characters": 140}
    shards = [corpus(number) for number in range(12)]
    one_way = train_vocabulary(iter(shards), settings, seed=3, **sample)
    other_way = train_vocabulary(iter(reversed(shards)), settings, seed=3, **sample)
    assert one_way.equals(other_way)
    # Leads have 39 or 40 characters with their titles, paragraphs 23: five and seven reach the least.
    assert one_way["sentences"].to_pylist() == [5 * 2 + 7]


def test_the_seed_chooses_the_sample() -> None:
    settings = SMALL.model_copy(update={"character_coverage": 1.0})
    shards = [(articles((str(n), "T", f"lead {chr(0x100 + n)}", "train", None)), paragraphs()) for n in range(20)]
    kept = []
    for seed in range(4):
        sampled = train_vocabulary(shards, settings, seed=seed, lead_characters=1, paragraph_characters=0)
        text = "".join(pieces(sampled))
        kept.append({character for character in text if 0x100 <= ord(character) < 0x114})
    assert [len(each) for each in kept] == [1, 1, 1, 1]
    assert len(set.union(*kept)) > 1


texts = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.text(min_size=1, max_size=5)), unique_by=lambda each: each[0])


@given(texts, st.integers(0, 20))
def test_a_sample_keeps_as_few_of_the_lowest_draws_as_have_the_characters(
    entries: list[tuple[int, str]], characters: int
) -> None:
    sample = _Sample(characters)
    for drawn, text in entries:
        if drawn < sample.bound:
            sample.add(drawn, "name", text)
    expected: list[str] = []
    for _, text in sorted(entries):
        if sum(map(len, expected)) < characters:
            expected.append(text)
    assert list(sample.drain()) == expected


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.integers(4, 40))
def test_a_cut_line_fits_and_loses_nothing_but_spaces(line: str, size: int) -> None:
    cut = list(_cut(line, size))
    assert all(0 < len(part.encode()) <= size for part in cut)
    assert "".join(cut).replace(" ", "") == line.replace(" ", "")


def test_lines_are_cut_at_spaces() -> None:
    assert list(_cut("aa bb cc", 5)) == ["aa bb", "cc"]
    assert list(_cut("aaaaaaa bb", 5)) == ["aaaaa", "aa bb"]
    assert list(_cut("ééé", 5)) == ["éé", "é"]


def test_what_cannot_be_estimated_is_said() -> None:
    nothing = [(articles(), paragraphs()), (articles(("a", "T", "lead", "test", None)), paragraphs())]
    with pytest.raises(ValueError, match="no text to estimate a vocabulary on"):
        train_vocabulary(nothing, SMALL, seed=1)
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 900)))
    with pytest.raises(ValueError, match="no vocabulary of 400 pieces for 2 lines"):
        train_vocabulary([(articles(("a", "T", many, "train", None)), paragraphs())], SMALL, seed=1)


def test_a_byte_level_vocabulary_spells_everything_and_has_barts_marks() -> None:
    settings = SMALL.model_copy(update={"model_type": "byte-bpe", "pieces": 330})
    table = train_vocabulary([corpus(0), corpus(1)], settings, seed=1)
    assert table == train_vocabulary([corpus(1), corpus(0)], settings, seed=1)
    vocabulary = Vocabulary(table["model"][0].as_py())
    assert table["pieces"].to_pylist() == [vocabulary.size]
    assert table["sentences"].to_pylist() == [6]
    assert vocabulary.pieces([0, 1, 2, 3, vocabulary.size - 1]) == ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    assert (vocabulary.begin, vocabulary.target_start, vocabulary.specials.mask) == (2, (2, 0), vocabulary.size - 1)
    assert vocabulary.decode(vocabulary.encode("Łódź 東京 1987 <mask>")) == "Łódź 東京 1987 <mask>"
    assert vocabulary.pieces(vocabulary.encode("river hills")) == ["▁river", "▁hills"]
    with pytest.raises(ValueError, match="no text to estimate a vocabulary on"):
        train_vocabulary([(articles(), paragraphs())], settings, seed=1)


def test_the_tokenizer_of_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    table = adopt_vocabulary(str(write_folder(tmp_path)))
    assert table.schema == VOCABULARY.schema
    assert Vocabulary.of(table) == Vocabulary(read_tokenizer(tmp_path))
    assert table["sentences"].to_pylist() == [None]
