"""Twelve weeks of retraining on a mini web that grows every week: new topics, edited leads, dead links.

    python -m benchmarks.twelve_weeks FOLDER [--weeks 12] [--topics 300] [--growth .5] [--shards 6]

One Prefect server serves all weeks; each is a run of the flow `retrain`, as the schedule starts it, and judges by the
defaults. One line per week prints how many shards each stage computed, the verdict, the scores on the frozen test
split, the bytes on disk and the time; at the end it is checked that:

* at least three challengers were promoted over a champion, and the last champion is better than the first in values
  F1 and no worse in the share of its values that its input contains;
* if fewer topics are new in a week than half of the shards (`--growth .01 --shards 24`), no stage with shards by
  article computes all of them after the first week, except with a new ranker;
* the disk use is bounded: the last week needs, per topic, at most 1.5 times the largest of the first five, by when
  everything that is kept exists;
* the history of the artifacts has one entry per week.

The exit status is 1 if a check fails. Started again on its folder, it continues with the first week that is not done;
for weeks done earlier, artifacts are not counted and the bytes are the current ones."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect.client.orchestration import get_client

from benchmarks.frame import command
from flows.config import BuildConfig
from flows.retrain import retrain
from flows.running.temporary_server import use_prefect_api
from storage.registry import Version, version_of
from storage.store import Store
from tasks.reporting.publishing import artifact_key
from tasks.retraining.splits import FROZEN

ARTIFACTS = ("model-card", "champion-challenger")
BY_ARTICLE = ("articles", "search", "frontier", "paragraphs", "features")
BY_RANKED = ("ranked", "ranking_scores", "graphs", "examples")
METRICS = ("values", "values-input", "rougeL")
# Sizes for two cores; models, how they are trained on and how they are judged are those of the preset.
SMALL: dict[str, Any] = {
    "crawl": {"max_bytes": 2_000_000},
    "training": {"keep_best": 1},
    "decoding": {"beam": 3},
    "retraining": {"keep": 2},
}


@dataclass(frozen=True)
class Week:
    """The result of a week."""

    version: Version  # its challenger's entry in the registry
    topics: int  # number of articles
    new: int  # number of topics added in it
    bytes: int  # on disk at its end
    seconds: float
    made: bool  # whether its version was made in this run, not in an earlier one

    @property
    def ranker_is_new(self) -> bool:
        """Whether the ranker was trained again, so that every article had to be ranked again."""
        done, of = self.version.computed["ranked"]
        return done == of

    def line(self) -> str:
        """Return the result in one line."""
        computed = " ".join(f"{stage} {done}/{of}" for stage, (done, of) in self.version.computed.items() if done)
        verdict = self.version.verdict
        return (
            f"{self.version.label}: {'promoted' if verdict['promoted'] else 'refused'}, {verdict['reason']}; "
            f"{_scores(self.version)}; {self.bytes / 1e6:.1f} MB; {self.seconds:.0f} s; computed {computed}"
        )


@dataclass(frozen=True)
class GrowingWeb:
    """The web of all weeks."""

    root: Path  # folder everything is written below
    topics: int  # articles in the first week
    growth: float  # new ones a week, as a share of these
    shards: int  # of articles; half as many of hosts


def main(root: Path, weeks: int = 12, topics: int = 300, growth: float = 0.5, shards: int = 6) -> int:
    """Run the weeks and print their results; return the exit code.

    A tenth of the topics is for tests: a gain of ten points is significant on some 80 articles, one of five on 300."""
    use_prefect_api()
    web = GrowingWeb(root, topics, growth, shards)
    corpus = configuration(web, 0).name
    before = {key: artifact_count(artifact_key(corpus, key)) for key in ARTIFACTS}  # of weeks done earlier
    done = []
    for week in range(weeks):
        done.append(run_week(web, week))
        print(done[-1].line(), flush=True)
    history = {key: artifact_count(artifact_key(corpus, key)) - count for key, count in before.items()}
    print("artifacts: " + ", ".join(f"{count} {key}" for key, count in history.items()))
    failed = problems(done, history)
    for problem in failed:
        print(f"FAILED: {problem}")
    return 1 if failed else 0


def configuration(web: GrowingWeb, week: int) -> BuildConfig:
    """Return the settings of a week; only the week differs from one to the next."""
    world = {
        "topics": web.topics,
        "growth": web.growth,
        "week": week,
        "edits": 0.01,
        "deaths": 0.002,
        "partition_topics": 120,
        "slow_seconds": 0.02,
        "oversized_bytes": 2_500_000,
    }
    return BuildConfig.model_validate(
        {
            **SMALL,
            "root": str(web.root),
            "shards": {"articles": web.shards, "hosts": max(1, web.shards // 2)},
            "source": {"miniweb": world},
            "retraining": {**SMALL["retraining"], "week": f"2026-W{week + 1:02d}"},
        }
    )


def run_week(web: GrowingWeb, week: int) -> Week:
    """Run the flow for a week."""
    config, store = configuration(web, week), Store(str(web.root))
    made = version_of(store, config.retraining.period) is None
    started = time.monotonic()
    retrain(config)
    seconds = time.monotonic() - started
    version = version_of(store, config.retraining.period)
    assert version is not None, f"week {week} left no version"
    return Week(
        version, config.source.miniweb.topics_now, int(web.topics * web.growth), disk_bytes(web.root), seconds, made
    )


def disk_bytes(root: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def artifact_count(key: str) -> int:
    """Return how many artifacts the server has under a key: its history."""
    body = {"artifacts": {"key": {"any_": [key]}}}
    with get_client(sync_client=True) as client:  # which knows the server's password
        return int(client.request("POST", "/artifacts/count", json=body).json())


def problems(weeks: list[Week], history: dict[str, int]) -> list[str]:
    """Return a message for each check that fails. `history` has the artifacts that this run left under each key."""
    complaints = []
    for week in weeks[1:]:
        if week.new * 2 > week.version.computed["articles"][1]:
            continue
        stages = BY_ARTICLE if week.ranker_is_new else BY_ARTICLE + BY_RANKED
        whole = [stage for stage in stages if week.version.computed[stage][0] == week.version.computed[stage][1]]
        complaints += [f"{week.version.label} computed every shard of {stage}" for stage in whole]
    champions = [week.version for week in weeks if week.version.verdict["promoted"]]
    if len(champions) < 4:
        complaints.append(f"{len(champions) - 1} challengers were promoted over a champion, expected 3")
    gains = {metric: champions[-1].scores[metric] - champions[0].scores[metric] for metric in METRICS}
    if gains["values"] <= 0 or gains["values-input"] < -0.01:
        complaints.append(
            f"the last champion differs from the first by {gains}: expected better values, and as true ones"
        )
    bound = 1.5 * max(week.bytes / week.topics for week in weeks[:5])
    if weeks[-1].bytes / weeks[-1].topics > bound:
        complaints.append(
            f"the last week needs {weeks[-1].bytes / weeks[-1].topics:,.0f} bytes per topic, "
            f"expected at most {bound:,.0f}"
        )
    versions = [week.version for week in weeks if week.made]
    judged = [version for version in versions if version.parent is not None]  # the first has no champion to challenge
    expected = {"model-card": len(versions), "champion-challenger": len(judged)}
    complaints += [
        f"{history[key]} artifacts {key}, expected {count}" for key, count in expected.items() if history[key] != count
    ]
    return complaints


def _scores(version: Version) -> str:
    """Return the scores of the champion and the challenger on the frozen test split."""
    before = {
        finding["metric"]: finding["champion"] for finding in version.verdict["findings"] if finding["split"] == FROZEN
    }
    return ", ".join(
        f"{metric} {100 * before[metric] if metric in before else float('nan'):.1f} / "
        f"{100 * version.scores[metric]:.1f}"
        for metric in METRICS
    )


if __name__ == "__main__":
    command(main, __doc__)
