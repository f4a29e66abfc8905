"""Papers as records: what becomes a paragraph, and what is left out."""

import gzip
import json
from pathlib import Path

from benchmarks.scisummnet import records, sections, write_records
from tasks.sources.records import RecordsSource
from tasks.sources.settings import RecordsSettings

PAPER = {
    "id": "A00-1",
    "title": "On Tags",
    "summary": "We tag.\nIt works.",
    "abstract": "We tag.\nIt is new.",
    "citances": ["Tags are old &amp; new (Ada,\n 2000).", "We tag as Ada (2000)."],
    "paper_sentences": [
        "On Tags",
        "We tag.",
        "It is new.",
        '\n    <S sid="3" ssid="1">Tags &#8212; what are they?',
        "Nobody knows.",
        "We do.",
        "We tag.",
        "Read on.",
        '\n    <S sid="7" ssid="1">We counted.',
    ],
}


def test_a_paper_becomes_a_record_of_two_documents() -> None:
    (record,) = records(iter([PAPER]))
    assert (record["title"], record["lead"]) == ("On Tags", "We tag.\nIt works.")
    citing, own = (document["paragraphs"] for document in record["documents"])
    assert citing == ["Tags are old & new (Ada, 2000).", "We tag as Ada (2000)."]
    assert own == ["Tags — what are they? Nobody knows. We do.", "Read on.", "We counted."]


def test_a_title_comes_once_and_a_paper_without_summary_not_at_all() -> None:
    found = records(iter([PAPER, PAPER, {**PAPER, "title": "Other", "summary": " "}]))
    assert [record["title"] for record in found] == ["On Tags"]


def test_a_paper_without_marks_is_one_section() -> None:
    assert list(sections(["On Tags", "We tag.", "Read on."], ["On Tags", "we tag"])) == [["Read on."]]


def test_the_records_are_read_by_the_source_of_records(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl.gz"
    file.write_bytes(gzip.compress(f"{json.dumps(PAPER)}\n".encode()))
    assert write_records(file, tmp_path / "out" / "records.jsonl") == 1
    source = RecordsSource(RecordsSettings(paths=(str(tmp_path / "out" / "records.jsonl"),)))
    (article,) = [article for partition in source.partitions() for article in source.read(partition)]
    assert [len(document.paragraphs) for document in article.documents] == [2, 3]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["records.jsonl"]
