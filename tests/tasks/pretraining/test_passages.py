"""Passages: sentences of one page together, in its order, of the articles that may be learned from."""

import pyarrow as pa
import pytest

from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, PARAGRAPHS, PASSAGES
from tasks.pretraining.passages import build_passages
from tests.models.byte_level import write_folder

SPLITS = {"a": "train", "b": "valid", "c": "test", "d": "train"}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Vocabulary(read_tokenizer(write_folder(tmp_path_factory.mktemp("bart"))))


def articles() -> pa.Table:
    rows = [
        {"article_id": id_, "title": id_, "lead": "x", "split": split, "drop_reason": "empty" if id_ == "d" else None}
        for id_, split in SPLITS.items()
    ]
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def paragraphs(*rows: tuple[str, str, int, str, str | None]) -> pa.Table:
    names = ("article_id", "url", "position", "text", "drop_reason")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=PARAGRAPHS.schema)


def texts(passages: pa.Table, words: Vocabulary) -> list[tuple[str, str, list[str]]]:
    return [
        (row["article_id"], row["split"], [words.decode(ids) for ids in row["sentences"]])
        for row in passages.to_pylist()
    ]


def test_a_passage_is_the_sentences_of_a_page_in_its_order(words: Vocabulary) -> None:
    table = paragraphs(
        ("a", "p", 3, "The film. The hills.", None),
        ("a", "q", 0, "A river rises.", None),
        ("a", "p", 1, "The river.", None),
        ("a", "p", 2, "Cookies.", "boilerplate"),
        ("b", "p", 0, "The hills.", None),
        ("c", "p", 0, "Kept for tests.", None),
        ("d", "p", 0, "The article is refused.", None),
    )
    passages = build_passages(articles(), table, words)
    assert passages.schema == PASSAGES.schema
    assert texts(passages, words) == [
        ("a", "train", ["The river.", "The film.", "The hills."]),
        ("a", "train", ["A river rises."]),
        ("b", "valid", ["The hills."]),
    ]


def test_passages_have_as_many_sentences_as_fit_and_long_ones_are_cut(words: Vocabulary) -> None:
    long = "The " + "river " * 40
    table = paragraphs(("a", "p", 0, f"The river. The film. {long.strip()}. The hills.", None))
    passages = build_passages(articles(), table, words, passage_tokens=24).column("sentences").to_pylist()
    sizes = [sum(map(len, passage)) for passage in passages]
    assert max(sizes) == 24
    assert [len(passage) for passage in passages] == [2, 1, 1]
    assert passages[1] == [words.encode(long)[:24]]


def test_a_shard_without_text_has_no_passage(words: Vocabulary) -> None:
    assert build_passages(articles(), paragraphs(), words).num_rows == 0
