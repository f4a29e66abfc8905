"""The corpus's wiring: which stages there are, and what they read."""

import json
from pathlib import Path

from flows.config import BuildConfig
from flows.corpus import corpus
from tests.flows.recording import walked

LINE = {"title": "Ada", "lead": "Ada was.", "references": ["http://a.test/"]}


def read_by_paragraphs(folder: Path, line: dict[str, object]) -> tuple[set[str], set[str]]:
    """Stages of a corpus of one line of JSON, and what its paragraphs are made from."""
    file = folder / "a.jsonl"
    file.write_text(json.dumps(line) + "\n")
    config = BuildConfig.model_validate({"preset": "records", "source": {"records": {"paths": [str(file)]}}})
    _, jobs = walked(config, corpus, folder / "root")
    (names,) = {tuple(job.digests) for job in jobs if job.stage == "paragraphs"}
    return {job.stage for job in jobs}, set(names)


def test_given_documents_are_read_only_where_the_source_has_some(tmp_path: Path) -> None:
    stages, names = read_by_paragraphs(tmp_path, LINE)
    assert "given" not in stages
    assert names == {"articles", "documents"}
    stages, names = read_by_paragraphs(tmp_path, LINE | {"documents": []})
    assert "given" in stages
    assert names == {"articles", "documents", "given"}
