"""Tokenizers of Hugging Face folders as vocabularies: roles, words, bytes, forged marks, and folders that cannot be."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from models.tokenization.huggingface_tokenizer import read_tokenizer, tokenizer_files
from models.vocabulary import Vocabulary
from tests.models.byte_level import tokenizer_json, write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("bart"))


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> Vocabulary:
    return Vocabulary(read_tokenizer(folder))


def test_pieces_are_found_by_role(vocabulary: Vocabulary) -> None:
    assert (vocabulary.pad, vocabulary.begin, vocabulary.end, vocabulary.unk) == (1, 2, 2, 3)
    assert (vocabulary.specials.source_begin, vocabulary.specials.source_end, vocabulary.specials.mask) == (0, 2, 4)
    assert vocabulary.target_start == (2, 0)
    assert vocabulary.pieces([0, 1, 2, vocabulary.title_mark]) == ["<s>", "<pad>", "</s>", ":"]
    assert (vocabulary.paragraph_mark, vocabulary.sentence_mark) == (None, None)
    assert vocabulary.kind == "byte-level BPE"


def test_a_word_has_the_same_pieces_wherever_it_stands(vocabulary: Vocabulary) -> None:
    assert vocabulary.pieces(vocabulary.encode("river")) == ["▁river"]
    assert vocabulary.encode("the river")[-1:] == vocabulary.encode("river") == vocabulary.encode(" \n river ")
    assert vocabulary.encode("") == vocabulary.encode(" ") == []


def test_truncation_that_a_file_asks_for_is_left_to_us(vocabulary: Vocabulary) -> None:
    assert len(vocabulary.encode("the river rises in the hills")) == 6


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_survives_but_for_its_white_space(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert vocabulary.decode([2, 0, *ids, 2, 1]) == " ".join(text.split())
    assert not {0, 1, 2, 3, 4} & set(ids)


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<pad>", "<unk>", "<mask>"])
def test_text_cannot_forge_a_mark(mark: str, vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode(f"the {mark} river")
    assert not {0, 1, 2, 3, 4} & set(ids)
    assert vocabulary.decode(ids) == f"the {mark} river"


def test_the_mark_of_sentences_is_one_piece_more(vocabulary: Vocabulary, folder: Path, tmp_path: Path) -> None:
    marked = vocabulary.in_form("sentences")
    mark = vocabulary.size
    assert (vocabulary.sentence_begin, marked.sentence_begin, marked.size) == (None, mark, mark + 1)
    assert marked.pieces(range(mark)) == vocabulary.pieces(range(mark))
    assert marked.pieces([mark]) == ["[BOS]"]
    assert marked.in_form("sentences") is marked
    assert Vocabulary(marked.model) == marked == vocabulary.in_form("sentences")
    forged = "the [BOS] river"
    assert marked.encode(forged) == vocabulary.encode(forged)
    assert marked.decode([0, mark, *marked.encode(forged), mark, 2]) == forged
    # A folder that has the piece keeps its id, and nobody who does not ask for it is told.
    described = json.loads(marked.model)["tokenizer"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    again = Vocabulary(read_tokenizer(tmp_path))
    assert (again.sentence_begin, again.size) == (None, mark + 1)
    assert again.in_form("sentences") == marked


def test_parts_of_characters_are_spelt_as_bytes(vocabulary: Vocabulary) -> None:
    assert vocabulary.pieces(vocabulary.encode("é")) == ["▁", "<0xC3>", "<0xA9>"]


def test_a_vocabulary_is_its_bytes(vocabulary: Vocabulary, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "vocabulary.model").write_bytes(vocabulary.model)
    assert Vocabulary.from_file(tmp_path / "vocabulary.model") == vocabulary == pickle.loads(pickle.dumps(vocabulary))
    assert b'"truncation":null' in vocabulary.model
    assert vocabulary.size == len(json.loads(tokenizer_json())["model"]["vocab"])


def test_the_files_of_a_tokenizer_give_it_back(vocabulary: Vocabulary, tmp_path: Path) -> None:
    for name, data in tokenizer_files(vocabulary.model).items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "config.json").write_text('{"decoder_start_token_id": 2}')
    assert read_tokenizer(tmp_path) == vocabulary.model


def test_a_mark_between_documents_is_found_and_kept(folder: Path, tmp_path: Path) -> None:
    """PRIMERA's, an added piece whose role no file names."""
    shutil.copytree(folder, tmp_path / "primera")
    file = tmp_path / "primera" / "tokenizer.json"
    described = json.loads(file.read_text())
    found = Vocabulary(read_tokenizer(folder))
    assert found.specials.separator is None
    mark = {**described["added_tokens"][0], "id": found.size, "content": "<doc-sep>", "special": True}
    file.write_text(json.dumps({**described, "added_tokens": [*described["added_tokens"], mark]}))
    vocabulary = Vocabulary(read_tokenizer(tmp_path / "primera"))
    assert (vocabulary.specials.separator, vocabulary.size) == (found.size, found.size + 1)
    assert found.size not in vocabulary.encode("a <doc-sep> b")
    (tmp_path / "again").mkdir()
    for name, content in tokenizer_files(vocabulary.model).items():
        (tmp_path / "again" / name).write_bytes(content)
    assert Vocabulary(read_tokenizer(tmp_path / "again")).specials.separator == found.size


def test_names_in_a_folder_count_before_usual_ones(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "config.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"eos_token": {"content": "<mask>"}, "bos_token": "<unk>"}')
    (folder / "special_tokens_map.json").write_text('{"bos_token": "<s>"}')
    vocabulary = Vocabulary(read_tokenizer(folder))
    assert (vocabulary.begin, vocabulary.end) == (0, 4)
    assert vocabulary.target_start == (0,)


def test_a_folder_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a tokenizer\.json .* or vocab\.json and merges\.txt, found none"):
        read_tokenizer(tmp_path)
    folder = write_folder(tmp_path, eos_token_id=7)
    with pytest.raises(ValueError, match=r"eos_token_id is 7, expected 2, the id of '</s>' in tokenizer\.json"):
        read_tokenizer(folder)
    (folder / "special_tokens_map.json").write_text('{"pad_token": "[PAD]"}')
    with pytest.raises(ValueError, match=r"expected a piece '\[PAD\]' \(pad\)"):
        read_tokenizer(folder)
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')
    with pytest.raises(ValueError, match=r"tokenizer\.json: the library tokenizers cannot read it"):
        read_tokenizer(folder)
    (folder / "tokenizer.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"tokenizer\.json: expected a JSON object, got '\[1\]'"):
        read_tokenizer(folder)


def test_a_tokenizer_without_spaces_is_refused(tmp_path: Path) -> None:
    other = tokenizers.Tokenizer(models.WordLevel({"<pad>": 0, "<s>": 1, "</s>": 2}, unk_token="<pad>"))
    other.pre_tokenizer = pre_tokenizers.Whitespace()
    other.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"\(ByteLevel, WordPiece, Metaspace\), found Whitespace"):
        read_tokenizer(tmp_path)


def test_a_unigram_with_spaces_as_sentencepiece_writes_them(tmp_path: Path) -> None:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁the", -1.0), ("▁river", -2.0), ("▁", -3.0), ("s", -4.0)]
    other = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=2))
    other.pre_tokenizer = pre_tokenizers.Metaspace()
    other.decoder = tokenizers.decoders.Metaspace()
    other.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"pad_token_id": 0, "decoder_start_token_id": 0}))
    vocabulary = Vocabulary(read_tokenizer(tmp_path))
    assert vocabulary.pieces(vocabulary.encode("the rivers")) == ["▁the", "▁river", "s"]
    assert vocabulary.decode([0, 3, 4, 6, 1]) == "the rivers"
    assert (vocabulary.begin, vocabulary.end, vocabulary.target_start, vocabulary.kind) == (0, 1, (0,), "Unigram")


def test_bytes_that_are_no_document_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a tokenizer as tokenizer\.json describes it, but"):
        Vocabulary(b'{"tokenizer": {}}')
