"""The corpus's wiring: which stages there are, and what they read."""

import json
from pathlib import Path

import pytest

from flows import dag
from flows.build_wikisum import build
from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages.intake import check_splits
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tests.flows.recording import keys, walked

LINE = {"title": "Ada", "lead": "Ada was.", "references": ["http://a.test/"]}


def read_by_paragraphs(folder: Path, line: dict[str, object]) -> tuple[set[str], set[str]]:
    """Stages of a corpus of one line of JSON, and what its paragraphs are made from."""
    file = folder / "a.jsonl"
    file.write_text(json.dumps(line) + "\n")
    config = BuildConfig.model_validate({"preset": "records", "source": {"records": {"paths": [str(file)]}}})
    _, jobs = walked(config, dag.corpus, folder / "root")
    (names,) = {tuple(job.digests) for job in jobs if job.title == "paragraphs"}
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
        _, jobs = walked(config, dag.corpus, tmp_path / "root")
        return keys([job for job in jobs if job.stage == "search"])

    first = searches(["http://1.test/"])
    assert first
    assert searches(["http://1.test/"]) == first
    assert first.isdisjoint(searches(["http://2.test/"]))


@pytest.mark.parametrize(
    ("splits", "complaint"),
    [
        (["train", "train", "train"], "of the articles that are kept, 3 train: expected some of test too"),
        (["valid", "test"], "of the articles that are kept, 1 test, 1 valid: expected some of train too"),
        (["valid"], "of the articles that are kept, 1 valid: expected some of test and of train too"),
        ([], "of the articles that are kept, none: expected some of test and of train too"),
        (["train", "test"], None),
    ],
)
def test_a_corpus_without_a_split_is_named_when_its_articles_are_known(
    splits: list[str], complaint: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    lead = "A lead that is long enough to be kept, because it has more than a few words in it, and then some more."
    lines = [LINE | {"title": f"Ada {n}", "lead": lead, "split": split} for n, split in enumerate(splits)]
    file.write_text("\n" + "".join(json.dumps(line) + "\n" for line in lines))
    config = BuildConfig.model_validate(
        {"preset": "records", "source": {"records": {"paths": [str(file)]}}, "shards": {"articles": 3}}
    )

    def session(*, planning: bool) -> Session:
        executor = Executor()
        run = Run(Store(str(tmp_path / "root")), executor, planning=planning)
        return Session(config, executor, run)  # type: ignore[arg-type]  # what runs the jobs makes no difference

    def check(session: Session) -> None:
        check_splits(session.run.store, dag.articles(session))

    check(session(planning=True))  # nothing is known yet
    if complaint is None:
        check(session(planning=False))
        return
    with pytest.raises(ValueError, match=complaint):
        build(session(planning=False))
    made = {path.parent.name for path in (tmp_path / "root").rglob("*.parquet")}
    assert made == {"intake", "articles"}
    with pytest.raises(ValueError, match=complaint):  # a plan says so too, once they are known
        build(session(planning=True))


def test_the_frontier_and_archives_hang_on_the_settings_they_read_alone(tmp_path: Path) -> None:
    articles, archive = tmp_path / "a.jsonl", tmp_path / "a.warc"
    articles.write_text(json.dumps(LINE) + "\n")
    archive.write_bytes(b"")

    def made(**crawl: object) -> dict[str, set[str]]:
        config = BuildConfig.model_validate(
            {
                "preset": "records",
                "source": {"records": {"paths": [str(articles)]}},
                "crawl": {"archive": [str(archive)], **crawl},
            }
        )
        _, jobs = walked(config, dag.corpus, tmp_path / "root")
        return {stage: keys([job for job in jobs if job.stage == stage]) for stage in ("frontier", "captures", "pages")}

    before = made()
    after = made(budget_pages=9, refresh="2026-W47", robots=False, accepted_types=["text/plain"])
    assert (after["frontier"], after["captures"]) == (before["frontier"], before["captures"])
    assert after["pages"].isdisjoint(before["pages"])
    assert made(mirror_hosts=["copy.test"])["captures"] == before["captures"]
    assert made(mirror_hosts=["copy.test"])["frontier"].isdisjoint(before["frontier"])
    opened = made(allowed_hosts=["a.test"])
    assert opened["frontier"].isdisjoint(before["frontier"])
    assert opened["captures"].isdisjoint(before["captures"])
