"""The pictures of the docs, taken from the running product: a build, three weeks of retraining, a page, a study.

    python -m docs.pictures --work FOLDER [--small] [--to FOLDER] [--only NAME ...]

Needs Chromium. A demo build in FOLDER/demo and a short retraining in FOLDER/weeks come first if a picture shows them,
unless they are there already. A Prefect server of their own, on a database in FOLDER, shows them. Every picture of
docs/ is taken again, so that none shows a product that has gone. One that shows scores carries them as text, so that a
test finds it older than the README's table. With --small, to try the script, the demo takes minutes and writes
nonsense."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import requests
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page, sync_playwright
from prefect.client.orchestration import SyncPrefectClient

from flows.running.prefect_setup import deploy
from storage.builds import build_names, latest_build
from storage.store import Store

FOLDER = Path(__file__).parent
WAIT_SECONDS = 300.0
# Weeks of a smaller web: what matters is what the pages show, not how well the models write.
_WEEKS = (
    *("--source.miniweb.topics=120", "--source.miniweb.edits=0.05", "--training.steps=60", "--retraining.keep=9"),
    *("--retraining.summarizer-steps=40", "--retraining.ranker-steps=20"),
)
_SMALL = (
    *("--source.miniweb.topics=40", "--source.miniweb.oversized-bytes=11000000", "--shards.articles=2"),
    *("--shards.hosts=2", "--vocabulary.pieces=800", "--ranker.steps=20", "--ranker.validation-interval=10"),
    *("--training.steps=20", "--training.validation-interval=10", "--decoding.max-length=40", "--decoding.beam=2"),
)
_HISTORY = """Skerry Point Lighthouse was built in 1847 by Thomas Ridley, after two ships were lost there.

Its lamp burned whale oil until 1871, when the keeper changed it to paraffin. The tower is 31 metres high."""
_TODAY = """Skerry Point Lighthouse was automated in 1986, and its last keeper, Ann Molloy, left in March of that year.

The tower stands on granite and has about 12,000 visitors a year. Skerry Point Lighthouse was built in 1849, says a
plaque at its door."""


@dataclass(frozen=True)
class Product:
    """What is running: the roots, addresses of Prefect's server and of the page, and what commands are given."""

    demo: Path
    weeks: Path
    work: Path
    prefect: str
    page: str
    environment: Mapping[str, str]
    small: tuple[str, ...]  # options of the demo

    def artifact(self, ending: str) -> str:
        """Return the address of the newest artifact whose key ends like this."""
        result = self._artifacts(ending)
        return f"{self.prefect}/artifacts/artifact/{result[0]['id']}"

    def history(self, ending: str) -> str:
        """Return the address of all versions of an artifact."""
        return f"{self.prefect}/artifacts/key/{self._artifacts(ending)[0]['key']}"

    def flow_run(self, name: str) -> str:
        """Return the address of the first run of this name: the one that computed everything."""
        result = self.ask("flow_runs/filter", {"flow_runs": {"name": {"any_": [name]}}, "sort": "START_TIME_ASC"})
        return f"{self.prefect}/runs/flow-run/{result[0]['id']}?tab=Graph"

    def _artifacts(self, ending: str) -> list[dict[str, Any]]:
        every = self.ask("artifacts/filter", {"sort": "CREATED_DESC"})
        results = [item for item in every if str(item["key"]).endswith(ending)]
        if not results:
            raise ValueError(f"no artifact has a key that ends in {ending!r}")
        return results

    def ask(self, path: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what Prefect's API answers."""
        with SyncPrefectClient(f"{self.prefect}/api") as client:  # which sends the token against forged requests
            result: list[dict[str, Any]] = client.request("POST", f"/{path}", json=body).json()
        return result


@dataclass(frozen=True)
class Picture:
    """How a picture is taken."""

    size: tuple[int, int]  # width and height of the window, in pixels
    open: Callable[[Page, Product], object]  # opens what is shown
    dark: bool = False  # whether the page is shown in its dark form
    demo: bool = True  # whether it shows the demo, so that this must be built first
    weeks: bool = False  # likewise, the weeks of retraining
    scale: int = 1  # pixels of the picture for one of the window; more for small writing
    scores: tuple[str, ...] = ()  # systems whose scores in the demo's table it shows


Scores = dict[str, dict[str, str]]


def printed_scores(text: str) -> Scores:
    """Return each system's scores by column, of the table that a build prints. Raises ValueError: it has none."""
    lines = iter(text.splitlines())
    columns = next((cells for line in lines if (cells := _cells(line))[0] == "system"), None)
    if columns is None:
        raise ValueError("there is no table of systems: expected a line of columns that begins with 'system'")
    rows = {}
    for line in lines:
        system, *scores = _cells(line)
        if len(scores) != len(columns) - 1:
            break
        rows[system] = dict(zip(columns[1:], scores, strict=True))
    return rows


def _cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def _goes_to(address: Callable[[Product], str], text: str) -> Callable[[Page, Product], object]:
    """Return what opens an address and waits for a text on it."""

    def open_it(page: Page, product: Product) -> None:
        page.goto(address(product))
        page.get_by_text(text).first.wait_for()
        page.wait_for_timeout(3000)  # the UI draws graphs and fades in

    return open_it


def _artifact(ending: str) -> Callable[[Page, Product], object]:
    return _goes_to(lambda product: product.artifact(ending), "Artifact")


def _graph(page: Page, product: Product) -> None:
    """Show the whole graph of a build, by what depends on what: of few shards, so that it can be read."""
    if not (root := product.work / "graph").exists():
        _command("build", "--root", str(root), *_SMALL, environment=product.environment)
    page.goto(product.flow_run("build-miniweb-graph-seed1"))
    page.get_by_title("Toggle fullscreen").click()
    page.get_by_label("Run Graph Options").click()
    for choice in ("Dependency grid", "Hide artifacts", "Hide events"):
        page.get_by_text(choice).click()
    page.keyboard.press("Escape")
    page.wait_for_timeout(3000)
    page.get_by_title("Recenter graph").last.click()
    page.wait_for_timeout(3000)


def _report_of(product: Product) -> Path:
    build = latest_build(Store(str(product.demo)))
    assert build is not None
    return product.demo / str(build.report)


def _report(page: Page, product: Product, part: str = "") -> None:
    """Open the report; a part of it is unfolded by its name in the address."""
    page.goto((_report_of(product) / "report.html").as_uri() + part)


def _compared(page: Page, product: Product) -> None:
    """Compare the demo with one that decodes with a smaller beam, which is built first and is the latest only then."""
    root, to = ("--root", str(product.demo)), product.work / "compared.html"
    for options in (("--decoding.beam=2",), ()):
        _command("build", *root, *product.small, *options, environment=product.environment)
    other, demo = build_names(Store(str(product.demo)))[-2:]
    _command("compare", demo, other, *root, "--to", str(to), environment=product.environment)
    page.goto(to.as_uri())


def _run_form(page: Page, product: Product) -> None:
    pool = ["work-pool", "create", "wikisum", "--type", "process", "--overwrite"]
    subprocess.run([sys.executable, "-m", "prefect", "--no-prompt", *pool], env=product.environment, check=True)
    deploy(product.environment)
    (result,) = product.ask("deployments/filter", {"deployments": {"name": {"any_": ["build-wikisum"]}}})
    page.goto(f"{product.prefect}/deployments/deployment/{result['id']}/run")
    page.get_by_text("Parameters").first.wait_for()
    page.locator("textarea").first.fill("data")  # instead of a path of this machine
    page.wait_for_timeout(5000)


def _summary_form(page: Page, product: Product) -> None:
    _summary(page, product)
    page.get_by_role("link", name="Change it and write again").click()
    page.get_by_text("Sources so far").wait_for()


def _summary(page: Page, product: Product) -> None:
    page.goto(product.page)
    page.get_by_label("Title").fill("Skerry Point Lighthouse")
    page.get_by_label("Web addresses").fill("http://no-such-host.invalid/skerry")
    files = [product.work / "history.txt", product.work / "today.txt"]
    for file, text in zip(files, (_HISTORY, _TODAY), strict=True):
        file.write_text(text)
    page.get_by_label("Files", exact=True).set_input_files(files)
    if (by := page.get_by_label("Written by")).count():  # a page without a model offers no choice
        by.select_option("extractive")
    page.get_by_role("button", name="Summarize").click()
    page.locator("ol.sentences li").first.wait_for()
    page.locator("ol.sentences .support").last.hover()  # its box hides no sentence there


def _explorer(page: Page, product: Product) -> None:
    page.goto(f"{product.page}/corpus?of=paragraphs&text=bridge")
    page.get_by_label("reason").select_option("clone")
    page.get_by_role("button", name="Find").click()
    page.wait_for_load_state("networkidle")


def _form(page: Page, product: Product) -> None:
    study = product.work / "study"
    shutil.rmtree(study, ignore_errors=True)
    where = ("--root", str(product.demo), "--to", str(study))
    _command("judge", "prepare", *where, "--articles", "5", environment=product.environment)
    page.goto(min(study.rglob("*.html")).as_uri())
    page.wait_for_load_state()


_OURS = ("ht-small-2+similarity", "concepts")
_BASELINES = ("reference", "ceiling", "greedy-rouge2", "filler", "lexrank", "lead")
PICTURES: Mapping[str, Picture] = {
    # First, as others add runs.
    "serve-runs": Picture((1280, 1280), _goes_to(lambda p: f"{p.prefect}/runs", "retrain"), dark=True, weeks=True),
    "report": Picture((1000, 1000), _report, scores=_OURS),
    "compare": Picture((1000, 900), _compared, scores=_OURS[:1]),
    "run-form": Picture((1280, 1100), _run_form),
    "summary-form": Picture((1000, 1180), _summary_form),
    "report-scores": Picture((1000, 1160), partial(_report, part="#scores"), scores=(*_OURS, *_BASELINES)),
    "summary-page": Picture((1240, 900), _summary, demo=False),
    "corpus-explorer": Picture((1240, 760), _explorer),
    "human-evaluation-form": Picture((1180, 1130), _form),
    "graph": Picture((1515, 640), _graph, dark=True, demo=False, scale=2),
    "artifact-attention": Picture((1280, 1300), _artifact("report-attention"), dark=True),
    "artifact-graphs": Picture((1280, 830), _artifact("report-graphs"), dark=True),
    "artifact-hosts": Picture((1480, 960), _artifact("report-hosts"), dark=True),
    "artifact-champion-challenger": Picture((1440, 1200), _artifact("champion-challenger"), dark=True, weeks=True),
    "artifact-history": Picture(
        (1280, 500), _goes_to(lambda p: p.history("champion-challenger"), "Flow run"), dark=True, weeks=True
    ),
}


def main() -> int:
    """Take the pictures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs.pictures", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="roots, server and sources")
    parser.add_argument("--small", action="store_true", help="a demo of minutes, to try this script")
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="FOLDER", help="where pictures go; default: docs/")
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=list(PICTURES), metavar="NAME")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.to.mkdir(parents=True, exist_ok=True)
    demo = any(PICTURES[name].demo for name in options.only)
    weeks = 3 if any(PICTURES[name].weeks for name in options.only) else 0
    with (
        running(options.work.resolve(), demo, weeks, _SMALL if options.small else ()) as product,
        sync_playwright() as playwright,
    ):
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if chromium is None:
            parser.error("no Chromium on this machine: apt-get install chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in options.only:
            to = options.to / f"{name}.png"
            take(to, PICTURES[name], browser.new_page, product)
            print(to, flush=True)
        browser.close()
    return 0


def take(to: Path, picture: Picture, new_page: Callable[..., Page], product: Product) -> None:
    """Take one picture."""
    width, height = picture.size
    page = new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.dark else "light",
        device_scale_factor=picture.scale,
    )
    page.set_default_timeout(WAIT_SECONDS * 1000)
    picture.open(page, product)
    shown, carried = Image.open(BytesIO(page.screenshot())), PngInfo()
    if picture.scores:
        scores = printed_scores((_report_of(product) / "summary.txt").read_text(encoding="utf-8"))
        carried.add_text("scores", json.dumps({system: scores[system] for system in picture.scores}))
    # With few colours it has a third of the bytes, and no difference that one sees.
    shown.quantize(256).save(to, optimize=True, pnginfo=carried)
    page.close()


@contextmanager
def running(work: Path, demo_shown: bool, weeks_shown: int, small: tuple[str, ...]) -> Iterator[Product]:
    """Build what is shown, with a Prefect server and the page running until the block ends."""
    demo, weeks = work / "demo", work / "weeks"
    ports = 4817, 4818
    prefect, page = (f"http://127.0.0.1:{port}" for port in ports)
    environment = {
        **os.environ,
        "PREFECT_HOME": str(work / "prefect"),
        "PREFECT_API_URL": f"{prefect}/api",
        "PREFECT_UI_API_URL": "/api",
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": prefect,
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
    }
    with ExitStack() as stack:
        listen = ("--host", "127.0.0.1", "--port", str(ports[0]))
        stack.enter_context(_process(["-m", "prefect", "server", "start", *listen], environment))
        _wait_for(f"{prefect}/api/health")
        if (demo / "builds").is_dir():
            _command("republish", "--root", str(demo), environment=environment)  # a root of another server, perhaps
        elif demo_shown:
            _command("build", "--root", str(demo), *small, environment=environment)
        for week in range(weeks_shown):
            if not (weeks / f"registry/versions/{week + 1:06d}.json").is_file():
                when = (f"--source.miniweb.week={week}", f"--retraining.week=2026-W{week + 40}")
                _command("retrain", "--root", str(weeks), *small, *_WEEKS, *when, environment=environment)
        serve = ["-m", "flows", "summarize", "--serve", "--port", str(ports[1])]
        serve += ["--model", str(demo)] if (demo / "builds").is_dir() else []
        stack.enter_context(_process(serve, environment, work))
        _wait_for(page)
        yield Product(demo, weeks, work, prefect, page, environment, small)


def _command(*arguments: str, environment: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "flows", *arguments], env=dict(environment), check=True)


@contextmanager
def _process(arguments: list[str], environment: Mapping[str, str], folder: Path | None = None) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, *arguments], env=dict(environment), cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)


def _wait_for(address: str) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            if requests.get(address, timeout=WAIT_SECONDS).ok:
                return
        except requests.ConnectionError:
            if time.monotonic() > until:
                raise
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
