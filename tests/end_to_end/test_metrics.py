"""What Prometheus scrapes of a finished build is what its files hold and its report says."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import requests
from lxml import html

from storage.builds import latest_build
from storage.schemas import DATASETS
from storage.store import Store
from tasks.reporting.stages import REPORTED_STAGES
from tests.flows.running.test_metrics import AUTH, figures, prometheus, scraped, serving
from tests.patience import PATIENCE

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def written(root: Path, stages: Mapping[str, Mapping[str, str]], models: Mapping[str, str]) -> dict[str, float]:
    """The figures as they follow from the files of a build."""
    found: dict[str, float] = {}
    for stage, files in stages.items():
        tables = [pq.read_table(root / file) for file in files.values()]
        found[f"wikisum_stage_rows{{{stage}}}"] = sum(table.num_rows for table in tables)
        found[f"wikisum_stage_shards{{{stage}}}"] = len(files)
        found[f"wikisum_stage_bytes{{{stage}}}"] = sum((root / file).stat().st_size for file in files.values())
        reason = DATASETS[next(iter(files.values())).partition("/")[0]].reason
        reasons = [row for table in tables if reason for row in table[reason].drop_null().to_pylist()]
        found.update({f"wikisum_stage_refused{{{name},{stage}}}": n for name, n in Counter(reasons).items()})
    for model, folder in ((name, models[name]) for name in ("models/ranker", "models/summarizer")):
        lines = [json.loads(line) for line in (root / folder / "metrics.jsonl").read_text().splitlines()]
        lowest = min(line["loss"] for line in lines if line["kind"] == "validation")
        figure = "validation_loss" if model == "models/ranker" else "validation_nll"
        found[f"wikisum_model_figure{{{figure},{model}}}"] = lowest
    sizes = Counter[str]()
    for file in filter(Path.is_file, root.rglob("*")):
        sizes[file.relative_to(root).parts[0]] += file.stat().st_size
    return found | {f"wikisum_disk_bytes{{{folder}}}": size for folder, size in sizes.items()}


def reported(page: Path) -> dict[str, float]:
    """The figures of the corpus that a report shows."""
    tables = {
        table.findtext("caption"): [[cell.text_content() for cell in row] for row in table.iter("tr")]
        for table in html.parse(str(page)).iter("table")
    }
    stages = {stage.heading: name for name, stage in REPORTED_STAGES.items() if stage.heading}
    number = {
        text: float(text.replace(",", ""))
        for rows in tables.values()
        for row in rows
        for text in row[1:3]
        if text.replace(",", "").isdigit()
    }
    rows = {f"wikisum_stage_rows{{{stages[row[0]]}}}": number[row[1]] for row in tables["Rows of each stage"][1:]}
    return rows | {
        f"wikisum_stage_refused{{{row[1]},{stages[row[0]]}}}": number[row[2]]
        for row in tables["Why rows were refused"][1:]
    }


@pytest.mark.parametrize("reader", ["text", "prometheus"])
def test_the_figures_of_a_build_are_those_of_its_files_and_its_report(
    undisturbed: Path, tmp_path: Path, reader: str
) -> None:
    store = Store(str(undisturbed))
    build = latest_build(store)
    assert build is not None
    assert build.report is not None
    if reader == "text":
        with serving(store) as address:
            found = figures(requests.get(f"http://{address}/metrics", timeout=PATIENCE, auth=AUTH).text)
    else:
        with prometheus(store, tmp_path) as ask:
            found = scraped(ask)
    assert {f"wikisum_stage_refused{{http_404,{stage}}}" for stage in ("pages", "documents")} <= found.keys()
    files = written(undisturbed, build.stages, build.models)
    assert {name: found.get(name) for name in files} == files
    kinds = ("stage_rows", "stage_shards", "stage_bytes", "stage_refused", "disk_bytes")
    assert {name for name in found if name.startswith(tuple(f"wikisum_{kind}{{" for kind in kinds))} <= files.keys()
    report = reported(undisturbed / build.report / "report.html")
    assert len(report) > 10
    assert {name: found.get(name) for name in report} == report
