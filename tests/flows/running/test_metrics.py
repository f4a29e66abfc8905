"""Prometheus gets the figures that the records have, over HTTP and in a file; rules and dashboard name no others."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from flows.running.metrics import FILE, metrics_file, registry
from flows.running.metrics_server import metrics_address, serving_metrics
from storage.builds import Build, save_build
from storage.registry import promote_version, save_version
from storage.store import Store
from tasks.engine.stage import Executor, Run, StagePlan
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import free_port
from tests.storage.test_registry import store, version  # noqa: F401 - a fixture

MONITORING = Path(__file__).parents[3] / "docs" / "monitoring"
COUNTS = {"rows": 12, "bytes": 345, "seconds": 1.5, "peak_bytes": 6, "drops": {"http_404": 3}, "tally": {"tokens": 7}}
AUTH = ("me", "long-enough")
BUILD = "20260101-000001-abcdef"


PROMOTED = "2026-11-21T00:00:00+00:00"
EXPECTED = {
    "wikisum_stage_rows{pages}": 12,
    "wikisum_stage_bytes{pages}": 345,
    "wikisum_stage_seconds{pages}": 1.5,
    "wikisum_stage_shards{pages}": 2,
    "wikisum_stage_refused{http_404,pages}": 3,
    "wikisum_stage_tally{tokens,pages}": 7,
    "wikisum_build_timestamp_seconds{}": 1767225601,
    "wikisum_champion_version{}": 1,
    "wikisum_champion_timestamp_seconds{}": 1795219200,
    "wikisum_champion_score{rougeL}": 0.3,
}


@pytest.fixture
def root(store: Store) -> Store:  # noqa: F811 - a fixture
    """A root with a build and a champion, whose figures are known."""
    stages = {"pages": {"0": "pages/a", "1": "pages/b"}}
    save_build(store, Build(BUILD, "2026-01-01T00:00:01+00:00", {}, stages, {}, {"pages": COUNTS}))
    save_version(store, version(1))
    promote_version(store, 1, at=PROMOTED, why="the first")
    return store


def figures(text: str) -> dict[str, float]:
    """Metric with its labels -> value."""
    return {
        f"{sample.name}{{{','.join(sample.labels[label] for label in sorted(sample.labels))}}}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextmanager
def serving(root: Store) -> Iterator[str]:
    with serving_metrics("0", root.root, ":".join(AUTH)) as port:
        yield f"127.0.0.1:{port}"


def test_figures_are_for_those_who_know_the_password_and_name_this_machine(root: Store) -> None:
    with serving(root) as address:
        asked = f"http://{address}/metrics"
        assert requests.get(asked, timeout=PATIENCE).status_code == 401
        assert requests.get(asked, timeout=PATIENCE, auth=("me", "wrong")).status_code == 401
        elsewhere = requests.get(asked, timeout=PATIENCE, auth=AUTH, headers={"Host": "evil.test"})
        assert (elsewhere.status_code, elsewhere.text.partition(":")[0]) == (421, "unknown host 'evil.test'")
        assert requests.get(asked, timeout=PATIENCE, auth=AUTH).ok


@pytest.mark.parametrize(
    ("text", "address"), [("9464", ("127.0.0.1", 9464)), ("0.0.0.0:9464", ("0.0.0.0", 9464)), ("[::1]:80", ("::1", 80))]
)
def test_figures_are_served_on_loopback_where_no_address_is_given(text: str, address: tuple[str, int]) -> None:
    assert metrics_address(text) == address


@pytest.mark.parametrize("text", ["", "host", "0.0.0.0:", "65536", "-1"])
def test_an_address_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"--metrics is {text!r}: expected a port, or ")):
        metrics_address(text)


def test_the_figures_are_those_of_the_records(root: Store) -> None:
    with serving(root) as address:
        found = figures(requests.get(f"http://{address}/metrics", timeout=PATIENCE, auth=AUTH).text)
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert found["wikisum_disk_bytes{registry}"] > 0
    assert 0 < found["wikisum_disk_used_ratio{}"] < 1


def test_a_run_leaves_its_figures_in_a_file_if_one_is_named(
    root: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(root, Executor())
    file = tmp_path / "wikisum.prom"
    with metrics_file(run):
        assert not file.exists()
    monkeypatch.setenv(FILE, str(file))
    with metrics_file(run):
        run.plans.append(StagePlan("pages", 5, 2, 0))
    found = figures(file.read_text())
    states = {state: found[f"wikisum_run_shards{{pages,{state}}}"] for state in ("found", "computed", "missing")}
    assert states == {"found": 2, "computed": 0, "missing": 3}
    assert found.items() >= EXPECTED.items()


def test_a_root_that_is_not_there_yet_has_no_figures(tmp_path: Path) -> None:
    with serving(Store(str(tmp_path / "later"))) as address:
        answered = requests.get(f"http://{address}/metrics", timeout=PATIENCE, auth=AUTH)
    assert (answered.status_code, figures(answered.text)) == (200, {})


def test_a_root_without_a_build_has_no_figures_but_its_disk(tmp_path: Path) -> None:
    with serving(Store(str(tmp_path))) as address:
        found = figures(requests.get(f"http://{address}/metrics", timeout=PATIENCE, auth=AUTH).text)
    assert list(found) == ["wikisum_disk_used_ratio{}"]


def test_rules_and_dashboard_name_only_figures_that_there_are(root: Store) -> None:
    run = Run(root, Executor())
    known = {family.name for family in registry(root.root, run).collect()}
    for file in ("alerts.yml", "dashboard.json"):
        named = set(re.findall(r"wikisum_\w+", (MONITORING / file).read_text()))
        assert named
        assert named <= known


@contextmanager
def prometheus(root: Store, folder: Path) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """A real Prometheus that has scraped the figures of a root; yields what asks it a query. Skips without one."""
    server, promtool = shutil.which("prometheus"), shutil.which("promtool")
    if server is None or promtool is None:
        pytest.skip("no Prometheus on this machine: apt-get install prometheus")
    rules = MONITORING / "alerts.yml"
    subprocess.run([promtool, "check", "rules", str(rules)], check=True, capture_output=True)
    with serving(root) as address:
        job = {"job_name": "wikisum", "scrape_interval": "1s", "static_configs": [{"targets": [address]}]}
        job["basic_auth"] = dict(zip(("username", "password"), AUTH, strict=True))
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({"rule_files": [str(rules)], "scrape_configs": [job]}))
        listen = f"127.0.0.1:{free_port()}"
        command = [server, f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        process = subprocess.Popen([*command, f"--web.listen-address={listen}"], stderr=subprocess.DEVNULL)

        def ask(query: str) -> list[dict[str, Any]]:
            try:
                url = f"http://{listen}/api/v1/query"
                answer = requests.get(url, params={"query": query}, timeout=PATIENCE).json()
            except (requests.ConnectionError, requests.JSONDecodeError):  # it is starting
                return []
            assert answer["status"] == "success", query
            found: list[dict[str, Any]] = answer["data"]["result"]
            return found

        try:
            wait_until(lambda: ask("wikisum_disk_used_ratio"), "the first scrape")
            yield ask
        finally:
            process.kill()
            process.wait()


def scraped(ask: Callable[[str], list[dict[str, Any]]]) -> dict[str, float]:
    """What `figures` returns, of all that Prometheus has scraped."""
    found = {}
    for series in ask('{__name__=~"wikisum_.*"}'):
        labels = {name: value for name, value in series["metric"].items() if name not in ("instance", "job")}
        name = labels.pop("__name__")
        found[f"{name}{{{','.join(labels[label] for label in sorted(labels))}}}"] = float(series["value"][1])
    return found


@pytest.mark.integration
def test_prometheus_takes_the_rules_and_scrapes_the_figures(root: Store, tmp_path: Path) -> None:
    with prometheus(root, tmp_path) as ask:
        assert scraped(ask).items() >= EXPECTED.items()
        for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
            (target,) = panel["targets"]
            ask(target["expr"])
