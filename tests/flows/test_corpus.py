"""The corpus's wiring: which stages there are, and what they read."""

import json
from pathlib import Path

from flows.config import BuildConfig
from flows.corpus import corpus
from tests.flows.recording import keys, walked

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


def test_recorded_results_are_read_again_where_their_file_has_changed(tmp_path: Path) -> None:
    articles, recording = tmp_path / "a.jsonl", tmp_path / "results.jsonl"
    articles.write_text(json.dumps(LINE) + "\n")
    config = BuildConfig.model_validate(
        {
            "preset": "records",
            "source": {"records": {"paths": [str(articles)]}},
            "search": {"provider": "recorded", "recorded": str(recording)},
        }
    )

    def searches(results: list[str]) -> set[str]:
        recording.write_text(json.dumps({"title": "Ada", "results": results}) + "\n")
        _, jobs = walked(config, corpus, tmp_path / "root")
        return keys([job for job in jobs if job.stage == "search"])

    first = searches(["http://1.test/"])
    assert first
    assert searches(["http://1.test/"]) == first
    assert first.isdisjoint(searches(["http://2.test/"]))
