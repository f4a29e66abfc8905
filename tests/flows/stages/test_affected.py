"""Which stages a setting changes: those that read it, and no others. Stages below follow by what their inputs hold."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from flows import dag
from flows.config import BuildConfig, merge
from flows.running.session import Session
from storage.recipes import ShardRecord
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.stage import Run
from tests.flows.recording import RecordingExecutor, walked

SMALL: dict[str, Any] = {"shards": {"articles": 2, "hosts": 1}, "source": {"miniweb": {"topics": 20}}}
NO_SEARCH: dict[str, Any] = {"search": {"provider": "none"}}
PREDICTED: dict[str, Any] = {
    "decoding": {"alignment": "predicted"},
    "summarizer": {"preset": "pht-small", "copying": False},
}


def nested(name: str, value: Any) -> dict[str, Any]:
    """Return the value under a dotted name."""
    first, _, rest = name.partition(".")
    return {first: nested(rest, value) if rest else value}


def recipes(config: BuildConfig) -> dict[str, list[str]]:
    """Return stage -> what decides its jobs beside their inputs."""
    with tempfile.TemporaryDirectory() as root:
        _, jobs = walked(config, dag.report, Path(root))
    found: dict[str, list[str]] = {}
    for job in jobs:
        found.setdefault(job.called, []).append(
            json.dumps([job.recipe.fields(0), dict(job.recipe.notes)], sort_keys=True)
        )
    return found


@pytest.mark.parametrize(
    ("base", "setting", "value", "changed"),
    [
        # Sections that no stage of this build reads.
        ({}, "attention.steps", 77, set()),
        (PREDICTED, "attention.steps", 77, {"models/attention-summarizer", "reports"}),
        (NO_SEARCH, "search.results", 5, set()),
        (NO_SEARCH, "search.language", "de", set()),
        ({}, "search.results", 5, {"search", "reports"}),
        ({}, "source.dump.paths", ("a.xml",), set()),
        ({}, "source.wikitext.licence", "CC0", set()),
        ({}, "source.collection.columns", {"title": "name"}, set()),
        ({}, "crawl.wayback.timestamp", "2015", set()),
        ({"crawl": {"wayback": {"enabled": True}}}, "crawl.wayback.timestamp", "2015", {"pages", "reports"}),
        ({}, "crawl.common_crawl.data_url", "http://a.test/", set()),
        # The world around the facts does not decide whether a summary is true.
        ({}, "source.miniweb.oversized_bytes", 9_000_000, {"reports"}),
        ({}, "source.miniweb.deaths", 0.2, {"reports"}),
        ({}, "source.miniweb.seed", 2, {"intake", "baseline_scores", "scores", "reports"}),
        # Of no build: how a stage is made, and other commands.
        ({}, "crawl.connections", 7, set()),
        ({}, "retraining.margin", 3.0, set()),
        ({}, "tables.steps", 9, set()),
        # What one stage alone reads.
        ({}, "crawl.mirror_hosts", ("a.test",), {"frontier", "pages", "reports"}),
        ({}, "paragraphs.clones.recall", 0.5, {"paragraphs", "reports"}),
        ({}, "ranking.keep", 7, {"ranked", "reports"}),
        ({}, "training.steps", 990, {"models/summarizer", "reports"}),
        ({}, "decoding.beam", 2, {"predictions", "reports"}),
        ({}, "baselines.systems", ("lead",), {"baselines", "reports"}),
        ({}, "report.headline", "rougeL", {"reports"}),
    ],
)
def test_a_setting_changes_the_stages_that_read_it(
    base: dict[str, Any], setting: str, value: Any, changed: set[str]
) -> None:
    given = merge(SMALL, base)
    before, after = (
        recipes(BuildConfig.model_validate(config)) for config in (given, merge(given, nested(setting, value)))
    )
    assert before.keys() == after.keys()
    assert {stage for stage in before if before[stage] != after[stage]} == changed


class _OtherSizes(RecordingExecutor):
    """Makes the same shards with other sizes, times and digests of their bytes, as a crawl does at another time."""

    def run(self, make: Any, jobs: Any, after: Any = ()) -> dict[str, Any]:
        def other(record: Any) -> Any:
            if not isinstance(record, ShardRecord):
                return record
            written = record.written
            return ShardRecord(
                **{
                    **vars(record),
                    "written": type(written)(written.rows, 4711, "0" * 64, written.digest),
                    "seconds": 9.0,
                    "peak_bytes": 12,
                }
            )

        return {name: other(record) for name, record in super().run(make, jobs, after).items()}


def test_equal_pages_fetched_at_another_time_give_the_same_report(tmp_path: Path) -> None:
    def report(executor: RecordingExecutor, root: Path) -> Job:
        session = Session(config, executor, Run(Store(str(root)), executor))  # type: ignore[arg-type]
        session.once(dag.report)
        return next(job for job in executor.jobs if job.stage == "reports")

    config = BuildConfig.model_validate(SMALL)
    first, second = report(RecordingExecutor(), tmp_path / "a"), report(_OtherSizes(), tmp_path / "b")
    assert first.key == second.key
    assert first.context["took"]["pages"] == {"seconds": 0.0, "peak_bytes": 0, "bytes": 1}
    assert second.context["took"]["pages"] == {"seconds": 9.0, "peak_bytes": 12, "bytes": 4711}
