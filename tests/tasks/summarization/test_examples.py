"""Examples: token ids by hand, caps, and who gets none."""

from pathlib import Path

import pyarrow as pa
import pytest

from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, EXAMPLES, PARAGRAPHS, RANKED
from tasks.summarization.examples import build_examples
from tasks.summarization.settings import ExampleSettings, SummarizerSettings, VocabularySettings
from tasks.summarization.vocabulary import train_vocabulary
from tests.models.byte_level import write_folder

LEADS = {"a": "The river rises in the hills.", "b": "A film of a river.", "c": "The hills.", "d": "A fox."}


def articles(drop: dict[str, str] | None = None) -> pa.Table:
    rows = [
        {
            "article_id": id_,
            "title": f"title {id_}",
            "lead": lead,
            "split": "train",
            "drop_reason": (drop or {}).get(id_),
        }
        for id_, lead in LEADS.items()
    ]
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def ranked(*rows: tuple[str, int, str]) -> pa.Table:
    names = ("article_id", "rank", "text")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=RANKED.schema)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    settings = VocabularySettings(pieces=400, threads=1)
    return train_vocabulary([(articles(), PARAGRAPHS.schema.empty_table())], settings, seed=1)


@pytest.fixture(scope="module")
def vocabulary(table: pa.Table) -> Vocabulary:
    return Vocabulary.of(table)


def test_an_example_holds_the_ids_of_title_paragraphs_and_lead(table: pa.Table, vocabulary: Vocabulary) -> None:
    examples = build_examples(
        articles(), ranked(("a", 0, "hills"), ("a", 1, "the river"), ("b", 0, "film")), table, ExampleSettings()
    )
    assert examples.schema == EXAMPLES.schema
    first, second = examples.to_pylist()
    assert first == {
        "article_id": "a",
        "split": "train",
        "title": vocabulary.encode("title a"),
        "source": [vocabulary.encode("hills"), vocabulary.encode("the river")],
        "slots": [],
        "target": [2, *vocabulary.encode(LEADS["a"]), 3],
        "title_text": "title a",
        "target_text": LEADS["a"],
    }
    assert second["article_id"] == "b"
    assert vocabulary.decode(second["target"]) == LEADS["b"]


def test_texts_are_cut_and_a_cut_lead_does_not_end(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ExampleSettings(paragraph_tokens=3, target_tokens=4)
    monkeypatch.setattr("tasks.summarization.examples.TITLE_TOKENS", 1)
    best = ranked(*(("a", rank, "the river of the hills") for rank in range(2)))
    (example,) = build_examples(articles(), best, vocabulary, settings).to_pylist()
    assert example["source"] == [vocabulary.encode("the river of the hills")[:3]] * 2
    assert example["title"] == vocabulary.encode("title a")[:1]
    assert example["target"] == [2, *vocabulary.encode(LEADS["a"])[:3]]
    assert example["target_text"] == LEADS["a"]


def test_a_lead_that_fits_exactly_keeps_its_end(vocabulary: Vocabulary) -> None:
    whole = [2, *vocabulary.encode(LEADS["c"]), 3]
    settings = ExampleSettings(target_tokens=len(whole))
    (example,) = build_examples(articles(), ranked(("c", 0, "hills")), vocabulary, settings).to_pylist()
    assert example["target"] == whole


def test_articles_that_were_dropped_or_have_no_text_to_read_get_no_example(vocabulary: Vocabulary) -> None:
    best = ranked(("a", 0, "hills"), ("b", 0, ""), ("b", 1, " \n"), ("d", 0, "fox"))
    examples = build_examples(articles({"a": "empty lead"}), best, vocabulary, ExampleSettings())
    assert examples["article_id"].to_pylist() == ["d"]
    none = build_examples(articles(), ranked(), vocabulary, ExampleSettings())
    assert none.num_rows == 0
    assert none.schema == EXAMPLES.schema


def test_a_paragraph_without_tokens_keeps_its_rank(vocabulary: Vocabulary) -> None:
    best = ranked(("d", 0, ""), ("d", 1, "fox"))
    (example,) = build_examples(articles(), best, vocabulary, ExampleSettings()).to_pylist()
    assert example["source"] == [[], vocabulary.encode("fox")]


def test_ranks_out_of_order_are_an_error(vocabulary: Vocabulary) -> None:
    with pytest.raises(ValueError, match="ranked paragraphs of article a are not in order of rank"):
        build_examples(articles(), ranked(("a", 1, "hills"), ("a", 0, "river")), vocabulary, ExampleSettings())


def test_a_target_begins_as_the_vocabulary_has_it(tmp_path: Path) -> None:
    words = Vocabulary(read_tokenizer(write_folder(tmp_path)))
    (example,) = build_examples(articles(), ranked(("c", 0, "hills")), words, ExampleSettings()).to_pylist()
    assert example["target"] == [2, 0, *words.encode(LEADS["c"]), 2]
    assert example["source"] == [words.encode("hills")]


TWO = "The river rises.  It is long.\nThe end"


@pytest.mark.parametrize("kind", ["SentencePiece", "byte-level BPE"])
def test_each_sentence_begins_with_its_mark_where_it_is_asked_for(
    kind: str, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    words = vocabulary if kind == "SentencePiece" else Vocabulary(read_tokenizer(write_folder(tmp_path)))
    best = ranked(("c", 0, TWO), ("c", 1, " "), ("c", 2, "[BOS] hills"))
    (plain,) = build_examples(articles(), best, words, ExampleSettings()).to_pylist()
    (example,) = build_examples(articles(), best, words, ExampleSettings(), form="sentences").to_pylist()
    mark = words.size
    first = [
        mark,
        *words.encode("The river rises."),
        mark,
        *words.encode("It is long."),
        mark,
        *words.encode("The end"),
    ]
    assert example["source"] == [first, [], [mark, *words.encode("[BOS] hills")]]
    # The mark apart, the ids are those of the other systems.
    assert [[id_ for id_ in ids if id_ != mark] for ids in example["source"]] == plain["source"]
    assert {**example, "source": None} == {**plain, "source": None}
    # A trained summarizer's vocabulary has the mark, and says so by itself.
    own = words.in_form("sentences")
    assert build_examples(articles(), best, own, ExampleSettings()).to_pylist() == [example]


def test_marks_count_in_the_limit_of_a_paragraph(vocabulary: Vocabulary) -> None:
    settings = ExampleSettings(paragraph_tokens=3)
    (example,) = build_examples(articles(), ranked(("c", 0, TWO)), vocabulary, settings, form="sentences").to_pylist()
    assert example["source"] == [[vocabulary.size, *vocabulary.encode("The river")[:2]]]


def test_sentences_with_values_that_were_not_read_are_not_learned(vocabulary: Vocabulary) -> None:
    """The year stands in the third paragraph only, the river in none; of "c" no sentence is left to learn."""
    lead = "Title a rises in Kestria. It was surveyed in 1930. It meets the River Rolock. It is long."
    rows = [
        {"article_id": id_, "title": f"title {id_}", "lead": text, "split": split}
        for id_, text, split in (("a", lead, "train"), ("b", lead, "test"), ("c", "Seen by Ann Berg.", "valid"))
    ]
    given = pa.Table.from_pylist(rows, schema=ARTICLES.schema)
    texts = ("hills of Kestria", "a fox", "surveyed in 1930")
    best = ranked(*((id_, rank, text) for id_ in "abc" for rank, text in enumerate(texts)))
    learned = {}
    for supported_by in (2, 3, None):
        examples = build_examples(given, best, vocabulary, ExampleSettings(supported_by=supported_by)).to_pylist()
        learned[supported_by] = {row["article_id"]: vocabulary.decode(row["target"]) for row in examples}
        assert {row["target_text"] for row in examples} <= {lead, "Seen by Ann Berg."}
    assert learned == {
        2: {"a": "Title a rises in Kestria. It is long.", "b": lead},
        3: {"a": "Title a rises in Kestria. It was surveyed in 1930. It is long.", "b": lead},
        None: {"a": lead, "b": lead, "c": "Seen by Ann Berg."},
    }
    assert ExampleSettings(supported_by=12).recipe()["supported_by"] == 12


def test_a_sentence_is_supported_by_what_is_read_alone(vocabulary: Vocabulary) -> None:
    """The year stands within what the example keeps, behind what the summarizer reads, or where the cut is."""
    row = {"article_id": "a", "title": "title a", "lead": "It is long. It is 1930 old.", "split": "train"}
    given = pa.Table.from_pylist([row], schema=ARTICLES.schema)
    best = ranked(("a", 0, "the river rises in the hills of 1930 in the hills"))
    before = len([*vocabulary.encode("title a"), 0, *vocabulary.encode("the river rises in the hills of")])
    digits = len(vocabulary.encode("1930"))
    learned = {}
    after = digits + len(vocabulary.encode("in"))
    for most in (before, before + 1, before + digits, before + after, 100):
        read = SummarizerSettings(preset="ht-small", max_paragraph_tokens=most)
        (example,) = build_examples(given, best, vocabulary, ExampleSettings(supported_by=1), read=read).to_pylist()
        learned[most - before] = vocabulary.decode(example["target"])
    short, whole = "Title a is long.", "Title a is long. It is 1930 old."
    assert learned == {0: short, 1: short, digits: short, after: whole, 100 - before: whole}


def test_a_cut_paragraph_ends_with_a_whole_word(vocabulary: Vocabulary) -> None:
    text = "the river rises in the hills of 526 million foxes"
    ids = vocabulary.encode(text)
    kept = set()
    for most in range(len(vocabulary.encode("the river")) + 1, len(ids)):
        settings = ExampleSettings(paragraph_tokens=most)
        (example,) = build_examples(articles(), ranked(("d", 0, text)), vocabulary, settings).to_pylist()
        kept.add(vocabulary.decode(example["source"][0]))
    assert kept <= {" ".join(text.split()[:length]) for length in range(1, 10)}
    assert "the river rises in the hills of 526" not in kept
