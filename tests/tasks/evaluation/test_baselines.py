"""What systems without a model predict for the test split."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from storage.recipes import Part
from storage.schemas import ARTICLES, PARAGRAPHS, PREDICTIONS, RANKED
from storage.store import Store
from tasks.engine.recipe import Shards
from tasks.evaluation.baselines import LEARNED_FROM, _filler, ceiling, predict_baselines, unrepeated
from tasks.evaluation.settings import Baseline, BaselineSettings

ARTICLE_ROWS: list[dict[str, Any]] = [
    {"article_id": "a", "title": "Ash", "lead": "the ash is a tall tree", "split": "test"},
    {"article_id": "b", "title": "Birch", "lead": "a birch", "split": "train"},
    {"article_id": "c", "title": "Cedar", "lead": "a cedar", "split": "test"},
    {"article_id": "d", "title": "Date", "lead": "a date", "split": "test", "drop_reason": "group missing"},
]
TEXTS = ["it grows  tall", "the ash is old", "a tall tree grows and grows here", "unrelated words"]

# The third shares a word with every other paragraph, the others share none: of those equals the first wins.
STAR = ["tall pine one two", "grows moss three four", "tall grows old", "old stone five six"]


def articles() -> pa.Table:
    return pa.Table.from_pylist(ARTICLE_ROWS, ARTICLES.schema)


def ranked(texts: list[str] = TEXTS) -> pa.Table:
    rows = [{"article_id": "a", "rank": i, "text": text} for i, text in enumerate(texts)]
    rows += [{"article_id": article, "rank": 0, "text": "x"} for article in "bd"]
    return pa.Table.from_pylist(rows, RANKED.schema)


def only(system: Baseline, paragraphs: pa.Table) -> str:
    table = predict_baselines(articles(), paragraphs, BaselineSettings(systems=(system,)))
    assert table.schema.equals(PREDICTIONS.schema)
    (row,) = table.to_pylist()
    assert (row["article_id"], row["system"], row["tokens"], row["attention"]) == ("a", system, [], [])
    return str(row["summary"])


def test_lead_has_the_length_of_the_target() -> None:
    assert only("lead", ranked()) == "Ash it grows tall the ash"


def test_lexrank_takes_the_most_central_paragraphs() -> None:
    summary = only("lexrank", ranked(STAR))
    assert summary == "tall grows old tall pine one"


def test_lexrank_writes_no_sentence_twice() -> None:
    """Both paragraphs are central because they share a sentence; the lead has six words."""
    texts = ["The ash grows. It is  old.", "the ash GROWS. It fell.", "The ash grows."]
    assert list(unrepeated(texts)) == ["The ash grows. It is  old.", "It fell."]
    assert list(unrepeated(["Old. Old.", "Old."])) == ["Old."]
    assert only("lexrank", ranked(["The ash grows."] * 3)) == "The ash grows."


def test_lexrank_without_words_keeps_the_order_of_rank() -> None:
    assert only("lexrank", ranked(["!", "?"])) == "! ?"


TOWN = [
    "The mill of Ash was built by Nora Berg. Mills were the pride of all towns.",
    "In 1846 a flood came to Ash. The flood of 1846 destroyed the mill of Ash.",
    "A flood destroyed 110 houses in the year 1846. copied from another page",
    "The flood of 1846 destroyed the mill of Ash. Of 1846 nothing is left",
]


def concepts(texts: list[str], words: int) -> list[str]:
    lead = " ".join(["word"] * words)
    table = pa.Table.from_pylist([ARTICLE_ROWS[0] | {"lead": lead}], ARTICLES.schema)
    found = predict_baselines(table, ranked(texts), BaselineSettings(systems=("concepts",)))
    return found["summary"].to_pylist()


def test_concepts_takes_whole_sentences_of_the_length_of_the_target() -> None:
    (summary,) = concepts(TOWN, 18)
    sentences = summary.split(". ")
    assert len(summary.split()) <= 18
    assert all(any(one.rstrip(".") in text for text in TOWN) for one in sentences)
    assert "The flood of 1846 destroyed the mill of Ash." in summary


def test_concepts_is_lead_where_no_sentence_fits() -> None:
    texts = ["no capital here at all today.", "No mark at the end of this", "Short."]
    assert only("concepts", ranked(texts)) == only("lead", ranked(texts))


def test_greedy_rouge2_takes_what_overlaps_and_nothing_else() -> None:
    # Target bigrams: the-ash ash-is is-a a-tall tall-tree. Paragraph 1 has 2 of its 3 (F1 4/8); with paragraph 2
    # (2 of its 6) there are 4 of 10, bigrams across the join included (F1 8/15): a gain. The others have none.
    assert only("greedy-rouge2", ranked()) == f"{TEXTS[1]} {TEXTS[2]}"


def test_systems_are_named_and_in_order() -> None:
    table = predict_baselines(articles(), ranked(), BaselineSettings(systems=("greedy-rouge2", "lead")))
    assert table["system"].to_pylist() == ["greedy-rouge2", "lead"]


def test_all_candidates_may_be_given_instead_of_the_ranked() -> None:
    rows = [
        {"article_id": "a", "paragraph_id": i, "text": text, "drop_reason": "clone" if i == 1 else None}
        for i, text in enumerate(TEXTS)
    ]
    paragraphs = pa.Table.from_pylist(rows, PARAGRAPHS.schema)
    assert only("greedy-rouge2", paragraphs) == TEXTS[2]


def test_no_articles() -> None:
    assert predict_baselines(ARTICLES.schema.empty_table(), ranked(), BaselineSettings()).num_rows == 0


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(ValidationError):
        BaselineSettings(systems=("random",))


def training(store: Store, towns: int = 20, has: str = "{mills} mills") -> Shards:
    """Towns: the paragraph has the numbers of mills and bridges, the lead one of them."""
    names = [
        f"{first}{middle}{last}"
        for middle in ("", *"aeiouydrln")
        for first in ("Ash", "Elm", "Oak", "Fir")
        for last in ("ford", "ham", "ton", "wick", "by")
    ]
    leads, texts = [], []
    for number, title in enumerate(names[:towns], start=20):
        lead = f"{title} is a town. It has {has.format(mills=number, bridges=number + 30)}."
        text = f"In {title} there are {number + 30} bridges. The council of {title} counted {number} mills."
        leads.append({"article_id": title, "title": title, "lead": lead, "split": "train"})
        texts.append({"article_id": title, "rank": 0, "text": text})
    parts = []
    for name, dataset, rows in (("articles", ARTICLES, leads), ("ranked", RANKED, texts)):
        rows.sort(key=lambda row: str(row["article_id"]))
        written = store.write_table(f"{name}.parquet", pa.Table.from_pylist(rows, schema=dataset.schema), dataset)
        parts.append(Part(name, f"{name}.parquet", written.sha256, None, written.digest, written.rows))
    return Shards(store, (tuple(parts),))


def test_the_filler_writes_training_sentences_with_the_values_that_stand_where_theirs_stood(tmp_path: Path) -> None:
    shown = "In Alder there are 7 bridges. The council of Alder counted 88 mills."
    rows = [{"article_id": "a", "title": "Alder", "lead": "nobody reads this", "split": "test"}]
    texts = [
        {"article_id": "a", "rank": rank, "text": text}
        for rank, text in enumerate([shown, "The council of Alder counted 99 mills."])
    ]
    table = predict_baselines(
        pa.Table.from_pylist(rows, schema=ARTICLES.schema),
        pa.Table.from_pylist(texts, schema=RANKED.schema),
        BaselineSettings(systems=("filler",)),
        read=1,
        training=training(Store(str(tmp_path))),
    )
    assert table["summary"].to_pylist() == ["Alder is a town. It has 88 mills."]


def test_the_filler_learns_once_from_the_same_shards_and_only_of_what_is_read(tmp_path: Path) -> None:
    _filler.cache_clear()
    shards = training(Store(str(tmp_path)))
    first, same, less = _filler(shards, 1), _filler(Shards(Store(str(tmp_path)), shards.parts), 1), _filler(shards, 0)
    assert first is same
    text = "In Alder there are 7 bridges. The council of Alder counted 88 mills."
    assert first.write("Alder", [text]) == "Alder is a town. It has 88 mills."
    assert less.write("Alder", [text]) != first.write("Alder", [text])


@pytest.mark.parametrize(
    ("towns", "summary"),
    [(LEARNED_FROM, "In Alder there are 87 bridges."), (LEARNED_FROM - 1, "The council of Alder counted 88 mills.")],
)
def test_concepts_learns_from_the_corpus_where_it_has_enough_leads(tmp_path: Path, towns: int, summary: str) -> None:
    rows = [{"article_id": "a", "title": "Alder", "lead": "seven words for a summary of Alder", "split": "test"}]
    texts = [
        {"article_id": "a", "rank": 0, "text": "In Alder there are 87 bridges. The council of Alder counted 88 mills."}
    ]
    table = predict_baselines(
        pa.Table.from_pylist(rows, schema=ARTICLES.schema),
        pa.Table.from_pylist(texts, schema=RANKED.schema),
        BaselineSettings(systems=("concepts",)),
        training=training(Store(str(tmp_path)), towns, "{bridges} bridges"),
    )
    assert table["summary"].to_pylist() == [summary]


def test_the_ceiling_is_the_target_without_what_the_paragraphs_read_lack() -> None:
    target = "Ash has 1,204 mills and 7 bridges. It was founded by Nora Berg in 1846."
    texts = ["Nora Berg counted 1,204 mills.", "It was founded in 1846."]
    assert ceiling("Ash", target, texts) == "Ash has 1,204 mills and bridges. It was founded by Nora Berg in 1846."
    assert ceiling("Ash", target, texts[:1]) == "Ash has 1,204 mills and bridges. It was founded by Nora Berg in"
