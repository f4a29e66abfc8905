"""Twelve weeks of retraining on a mini web that changes every week: new topics, edited leads, dead links.

    python -m benchmarks.twelve_weeks --root FOLDER [--weeks 12] [--topics 240]

One Prefect server serves all weeks; each is a run of the flow `retrain`, as the schedule starts it. A line a week says
how many shards each stage computed, the verdict, the scores on the frozen test split, the bytes on disk and the time;
the table at the end says it again, and what has to hold:

* after the first week no stage that goes by article computes all its shards, unless the ranker was taken up again;
* at least one challenger was promoted over a champion and at least one was refused;
* the disk stays bounded: the last week needs at most half as much again as the largest of the first five, when all
  that is kept is there;
* the history of the artifacts has one entry a week.

Exit status 1 where one does not. Started again on its folder, it goes on with the first week that is not done; of weeks
found done, artifacts are not counted and the bytes are those of now.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from rich.console import Console
from rich.table import Table

from flows.config import BuildConfig
from flows.retrain import retrain
from flows.running.temporary_server import use_prefect_api
from storage.registry import Version, version_of
from storage.store import Store

ARTIFACTS = ("model-card", "champion-challenger")
BY_ARTICLE = ("articles", "search", "frontier", "paragraphs", "features")
BY_RANKED = ("ranked", "ranking_scores", "graphs", "examples")
# The first champion is trained for few steps on purpose, so that an early week has something to gain and a later one
# has not. All are judged as by default, in ROUGE-L, but by half a point at least.
SMALL: dict[str, Any] = {
    "crawl": {"max_bytes": 2_000_000},
    "shards": {"articles": 24, "hosts": 12},
    "vocabulary": {"pieces": 2000},
    "ranker": {"embedding": 48, "hidden": 48, "steps": 150, "validation_interval": 50, "validation_paragraphs": 40},
    "summarizer": {"max_paragraphs": 4, "max_paragraph_tokens": 40, "max_target_tokens": 80},
    "training": {"steps": 50, "batch_tokens": 1500, "warmup": 50, "validation_interval": 50, "keep_best": 1,
                 "decoded_articles": 0},
    "decoding": {"beam": 2, "max_length": 60, "min_length": 8},
    "retraining": {"ranker_steps": 60, "ranker_gain": 0.1, "summarizer_steps": 150, "warmup": 20, "restart": 0.5,
                   "test_shards": 2, "margin": 0.5, "keep": 2},
}  # fmt: skip


@dataclass(frozen=True)
class Week:
    """What a week came to.

    Attributes:
        version: what the registry says of its challenger.
        bytes: on disk once it was over.
        seconds: it took.
        made: whether its version was made in this run; else it was found.
    """

    version: Version
    bytes: int
    seconds: float
    made: bool

    @property
    def ranker_is_new(self) -> bool:
        """Whether the ranker was taken up again, so that every article had to be ranked again."""
        done, of = self.version.computed["ranked"]
        return done == of

    def line(self) -> str:
        """Return it in one line."""
        computed = " ".join(f"{stage} {done}/{of}" for stage, (done, of) in self.version.computed.items() if done)
        verdict = self.version.verdict
        return (
            f"{self.version.label}: {'promoted' if verdict['promoted'] else 'refused'}, {verdict['reason']}; "
            f"{_scores(self.version)}; {self.bytes / 1e6:.1f} MB; {self.seconds:.0f} s; computed {computed}"
        )


def main() -> int:
    """Run the weeks and say what came of them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.twelve_weeks")
    parser.add_argument("--root", required=True, help="folder everything is written below")
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--topics", type=int, default=240, help="articles in the first week")
    options = parser.parse_args()
    use_prefect_api()
    before = {key: artifact_count(key) for key in ARTIFACTS}  # of other roots, or of weeks found done
    weeks = []
    for week in range(options.weeks):
        weeks.append(run_week(options.root, week, options.topics))
        print(weeks[-1].line(), flush=True)
    history = {key: artifact_count(key) - count for key, count in before.items()}
    show(weeks, history)
    failed = problems(weeks, history)
    for problem in failed:
        print(f"FAILED: {problem}")
    return 1 if failed else 0


def configuration(root: str, week: int, topics: int) -> BuildConfig:
    """Return the settings of a week; only the week differs from one to the next."""
    world = {"topics": topics, "week": week, "growth": 0.01, "edits": 0.01, "deaths": 0.002, "partition_topics": 60,
             "slow_seconds": 0.02, "oversized_bytes": 2_500_000}  # fmt: skip
    return BuildConfig.model_validate(
        {
            **SMALL,
            "root": root,
            "source": {"miniweb": world},
            "retraining": {**SMALL["retraining"], "week": f"2026-W{week + 1:02d}"},
        }
    )


def run_week(root: str, week: int, topics: int) -> Week:
    """Run the flow for a week."""
    config, store = configuration(root, week, topics), Store(root)
    made = version_of(store, config.retraining.period) is None
    started = time.monotonic()
    retrain(config)
    seconds = time.monotonic() - started
    version = version_of(store, config.retraining.period)
    assert version is not None, f"week {week} left no version"
    return Week(version, disk_bytes(Path(root)), seconds, made)


def disk_bytes(root: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def artifact_count(key: str) -> int:
    """Return how many artifacts the server has under a key, of any root: its history."""
    body = {"artifacts": {"key": {"any_": [key]}}}
    answer = requests.post(f"{os.environ['PREFECT_API_URL']}/artifacts/count", json=body, timeout=60)
    answer.raise_for_status()
    return int(answer.json())


def problems(weeks: list[Week], history: dict[str, int]) -> list[str]:
    """Return what does not hold of what has to.

    Args:
        weeks: all of them, in order.
        history: key -> artifacts that this run left under it.
    """
    found = []
    for week in weeks[1:]:
        stages = BY_ARTICLE if week.ranker_is_new else BY_ARTICLE + BY_RANKED
        whole = [stage for stage in stages if week.version.computed[stage][0] == week.version.computed[stage][1]]
        found += [f"{week.version.label} computed every shard of {stage}" for stage in whole]
    outcomes = [week.version.verdict["promoted"] for week in weeks[1:]]
    if True not in outcomes:
        found.append("no challenger was promoted over a champion")
    if False not in outcomes:
        found.append("no challenger was refused")
    bound = 1.5 * max(week.bytes for week in weeks[:5])
    if weeks[-1].bytes > bound:
        found.append(f"the last week needs {weeks[-1].bytes:,} bytes, expected at most {bound:,.0f}")
    made = [week.version for week in weeks if week.made]
    judged = [version for version in made if version.parent is not None]  # the first has nobody to challenge
    expected = {"model-card": len(made), "champion-challenger": len(judged)}
    found += [
        f"{history[key]} artifacts {key}, expected {count}" for key, count in expected.items() if history[key] != count
    ]
    return found


def show(weeks: list[Week], history: dict[str, int]) -> None:
    """Print the table of all weeks."""
    stages = ("articles", "frontier", "pages", "documents", "paragraphs", "ranked", "graphs", "examples")
    table = Table(title="shards computed, of all", title_justify="left")
    for heading in ("week", *stages, "verdict", "champion / challenger", "p", "MB", "s"):
        table.add_column(heading)
    for week in weeks:
        verdict, computed = week.version.verdict, week.version.computed
        table.add_row(
            week.version.label,
            *("/".join(map(str, computed[stage])) for stage in stages),
            "promoted" if verdict["promoted"] else "refused",
            _scores(week.version),
            f"{verdict['findings'][0]['p_better']:.2g}" if verdict["findings"] else "-",
            f"{week.bytes / 1e6:.1f}",
            f"{week.seconds:.0f}",
        )
    Console(width=200).print(table)
    print("artifacts: " + ", ".join(f"{count} {key}" for key, count in history.items()))


def _scores(version: Version) -> str:
    """Return what the champion and the challenger scored on the frozen test split."""
    found = version.verdict["findings"]
    before = f"{100 * found[0]['champion']:.2f}" if found else "-"
    return f"{before} / {100 * version.scores['rougeL']:.2f} rougeL"


if __name__ == "__main__":
    sys.exit(main())
