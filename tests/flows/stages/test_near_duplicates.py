"""Comparing articles: what the DAG computes where settings ask for it, and that shards change nothing."""

import json
from pathlib import Path

import pyarrow.compute as pc
import pytest
from pydantic import ValidationError

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.recipes import whole
from storage.store import Store
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Run
from tests.flows.recording import walked
from tests.tasks.near_duplicates.tables import FERRY, LEAD, LOCK, LOCK_EDITED, MILL

OTHER_LEAD = "An old work of masonry in the river, of which little is known and less is written anywhere at all."
STAGES = {"lead_ngrams", "sketches", "twins", "twin_words", "overlaps"}


def config(folder: Path, shards: int = 2, **across: str) -> BuildConfig:
    """Four articles with documents of their own, one of them of the test split."""
    quoted = f"{LEAD} {FERRY}"
    sources = {"Weir": [LOCK, MILL], "Dam": [LOCK_EDITED, FERRY], "Sluice": [quoted, MILL], "Pier": [FERRY]}
    lines = [
        {
            "title": title,
            "lead": LEAD if title == "Weir" else OTHER_LEAD,
            "split": "test" if title == "Weir" else "train",
            "documents": [
                {"url": f"http://{title.lower()}.test/{number}", "title": title, "text": text}
                for number, text in enumerate(texts)
            ],
        }
        for title, texts in sources.items()
    ]
    file = folder / "a.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return BuildConfig.model_validate(
        {
            "preset": "records",
            "source": {"records": {"paths": [str(file)]}},
            "shards": {"articles": shards, "hosts": 1},
            "across": across,
        }
    )


def computing(config: BuildConfig, root: Path) -> Session:
    """A session that computes what it is asked for."""
    executor = Executor()
    return Session(config, executor, Run(Store(str(root)), executor))  # type: ignore[arg-type]


def reasons(store: Store, result: StageResult) -> dict[str, list[str | None]]:
    """URL -> reasons of its paragraphs."""
    found: dict[str, list[str | None]] = {}
    for record in result.in_order:
        table = whole(record).read(store)
        for url, reason in zip(table["url"].to_pylist(), table["drop_reason"].to_pylist(), strict=True):
            found.setdefault(url, []).append(reason)
    return found


@pytest.mark.parametrize(
    ("across", "stages", "compared"),
    [
        ({"near_duplicates": "off", "leakage": "off"}, set(), False),
        ({"near_duplicates": "counted", "leakage": "off"}, STAGES, False),
        ({}, STAGES, True),
    ],
)
def test_only_what_is_asked_for_is_computed(
    across: dict[str, str], stages: set[str], compared: bool, tmp_path: Path
) -> None:
    session, jobs = walked(config(tmp_path, **across), dag.corpus, tmp_path / "root")
    assert {job.stage for job in jobs} & STAGES == stages
    assert ("compared" in session.run.stages) == compared
    (read,) = {tuple(job.digests["paragraphs"]) for job in jobs if job.stage == "features" and job.shard == 0}
    name = "compared" if compared else "paragraphs"
    assert read == (session.run.stages[name].records[0].written.digest,)


def test_the_same_paragraphs_are_refused_whatever_the_number_of_shards(tmp_path: Path) -> None:
    found = []
    for shards in (1, 3):
        chosen = config(tmp_path, shards)  # as the preset has it
        session = computing(chosen, tmp_path / f"root{shards}")
        compared = dag.candidates(session).compared
        found.append(reasons(session.run.store, compared))
        assert sum(record.drops.get("leak", 0) for record in compared.in_order) == 3
    assert found[0] == found[1]
    assert found[0]["http://dam.test/0"] == ["leak"]  # nearly that of the test article
    assert found[0]["http://sluice.test/0"] == ["leak"]  # it has the test article's lead
    assert found[0]["http://sluice.test/1"] == ["leak"]
    assert found[0]["http://weir.test/0"] == found[0]["http://weir.test/1"] == [None]
    ferries = [found[0]["http://dam.test/1"], found[0]["http://pier.test/0"]]
    assert sorted(ferries, key=str) == [["near_duplicate"], [None]]


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    chosen = config(tmp_path, near_duplicates="corpus")
    roots = [dag.candidates(computing(chosen, tmp_path / name)).overlaps for name in ("one", "two")]
    digests = [[record.written.sha256 for record in result.in_order] for result in roots if result]
    assert digests[0] == digests[1]
    rows = [whole(record).read(Store(str(tmp_path / "one"))) for record in roots[0].in_order]  # type: ignore[union-attr]
    assert sum(pc.sum(table["in_other"]).as_py() or 0 for table in rows) >= 3


def test_imported_paragraphs_cannot_be_compared() -> None:
    given = {"imported": {"folder": "f", "vocabulary": "v"}, "across": {"leakage": "leads"}}
    with pytest.raises(ValidationError, match="expected off"):
        BuildConfig.model_validate(given)
