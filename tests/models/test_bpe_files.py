"""Folders with vocab.json and merges.txt in place of tokenizer.json: the same ids, and folders that cannot be."""

import json
from pathlib import Path
from random import Random

import pytest

from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from tests.models.byte_level import IDS, TEXTS, tokenizer_json

# Also what a rule for words may cut elsewhere: contractions, numbers, marks, accents, other scripts, an emoji.
WORDS = (
    *" ".join(TEXTS).split(),
    "don't",
    "we'll",
    "1,999.50",
    "naïve",
    "Ωmega",
    "河",
    "🌊",
    "<s>",
    "--",
    "…",
    "a\u0301",
)


def older(folder: Path, **files: object) -> Path:
    """Write the files of the small byte-level BPE as older folders have them, and others."""
    folder.mkdir(parents=True, exist_ok=True)
    model = json.loads(tokenizer_json())["model"]
    merges = [" ".join(pair) for pair in model["merges"]]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n", encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({**IDS, "model_type": "bart"}))
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def sentences() -> list[str]:
    dice = Random(3)
    return [" ".join(dice.choices(WORDS, k=dice.randint(1, 12))) for _ in range(200)]


def test_ids_are_those_of_the_same_tokenizer_in_one_file(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.mkdir()
    (one / "tokenizer.json").write_text(tokenizer_json())
    (one / "config.json").write_text(json.dumps(IDS))
    ours, theirs = Vocabulary(read_tokenizer(older(tmp_path / "two"))), Vocabulary(read_tokenizer(one))
    assert [ours.encode(text) for text in sentences()] == [theirs.encode(text) for text in sentences()]
    assert (ours.specials, ours.size, ours.kind) == (theirs.specials, theirs.size, "byte-level BPE")
    assert ours.pieces(range(ours.size)) == theirs.pieces(range(ours.size))
    assert Vocabulary(ours.model) == ours
    assert str(tmp_path).encode() not in ours.model


@pytest.mark.integration
def test_ids_are_those_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")
    folder = older(tmp_path / "bart")
    ours = Vocabulary(read_tokenizer(folder))
    theirs = transformers.BartTokenizer.from_pretrained(folder, local_files_only=True)
    # A text of ours is preceded by a space, and no mark is looked for in it.
    texts = [text for text in sentences() if "<s>" not in text]
    assert len(texts) > 100
    expected = [theirs(f" {text}", add_special_tokens=False)["input_ids"] for text in texts]
    assert [ours.encode(text) for text in texts] == expected


@pytest.mark.parametrize("where", ["added_tokens", "tokenizer_config"])
def test_added_pieces_keep_their_ids(where: str, tmp_path: Path) -> None:
    mark = Vocabulary(read_tokenizer(older(tmp_path / "plain"))).size
    added = {
        "added_tokens": {"<doc-sep>": mark},
        "tokenizer_config": {"added_tokens_decoder": {str(mark): {"content": "<doc-sep>"}, "0": {"content": "<s>"}}},
    }
    found = Vocabulary(read_tokenizer(older(tmp_path / "one-more", **{where: added[where]})))
    assert (found.specials.separator, found.size) == (mark, mark + 1)
    assert mark not in found.encode("a <doc-sep> b")
    with pytest.raises(ValueError, match=rf"'<doc-sep>' the id {mark + 5}, but behind vocab\.json it gets {mark}"):
        read_tokenizer(older(tmp_path / "hole", added_tokens={"<doc-sep>": mark + 5}))


def test_files_that_do_not_belong_together_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = older(tmp_path / "bart")
    with (folder / "merges.txt").open("a") as file:
        file.write("qq zz\n")
    with pytest.raises(ValueError, match=r"merges\.txt: expected merges of pieces of vocab\.json, but [^\n]*$"):
        read_tokenizer(folder)
    (folder / "vocab.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"vocab\.json: expected JSON, but"):
        read_tokenizer(folder)
    (folder / "vocab.json").write_text('["a"]')
    with pytest.raises(ValueError, match=r"vocab\.json: expected a JSON object"):
        read_tokenizer(folder)
    (folder / "merges.txt").unlink()
    with pytest.raises(ValueError, match=r"or vocab\.json and merges\.txt, found only vocab\.json"):
        read_tokenizer(folder)
    other = older(tmp_path / "other")
    (other / "config.json").write_text(json.dumps({**IDS, "eos_token_id": 7}))
    with pytest.raises(ValueError, match=r"eos_token_id is 7, expected 2, the id of '</s>' in vocab\.json"):
        read_tokenizer(other)
