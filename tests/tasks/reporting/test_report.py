"""The whole report, written through a store as a build writes it, and read as a browser reads it."""

import html.parser
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from lxml import html as lxml_html
from safetensors.numpy import save_file

import tests.tasks.reporting.reporting_tables as made
from storage.schemas import (
    ARTICLES,
    FEATURES,
    GRAPHS,
    OVERLAPS,
    PARAGRAPHS,
    PREDICTIONS,
    RANKED,
    RANKING_SCORES,
    SCORES,
    Dataset,
)
from storage.store import Store
from tasks.engine.recipe import Recipe, StageResult, contents, every
from tasks.engine.stage import Executor, Run
from tasks.reporting.report import write_report
from tasks.reporting.settings import ReportSettings
from tests.tasks.reporting.reporting_tables import count, prediction

pytestmark = pytest.mark.integration

HOSTILE = (
    "<script>alert('x')</script> \"><img src=x onerror=alert(1)> | `c` [l](javascript:alert(2)) {{ 7 * 7 }} </pre>"
)
ARTIFACTS = [
    "report-headline",
    "report-funnel",
    "report-hosts",
    "report-table1",
    "report-scores",
    "report-training",
    "report-distributions",
    "report-attention",
    "report-graphs",
]
COUNTS = {
    "articles": count(4, {"empty_lead": 1}),
    "paragraphs": count(10, {"clone": 2, "navigation": 1}),
    "features": count(7),
    "graphs": count(3, entities="rules 1 (spaCy 3.8)"),
    "pages": {**count(8, {"timeout": 2}), "worst": {"slow.example": {"rows": 4, "drops": {"timeout": 2}}}},
}
CONFIG = {
    "preset": "records",
    "seed": 3,
    "source": {"kind": "records", "records": {"paths": ["topics.jsonl"]}},
    "search": {"endpoint": "http://me:secret@search.example/"},
    "summarizer": {"preset": "ht", "graph": "similarity"},
}


class Page(html.parser.HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._style = tag == "style"

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def shards(lead: str = "A lead. It has words.", url: str = "https://page.example/") -> dict[str, list[tuple[Any, ...]]]:
    """Two article shards; the second one has no test article."""
    ht = prediction("a", "ht+similarity", "One stone. Two stones.", [[1.0, 0.0]] * 2 + [[0.25, 0.75]] * 2)
    scores = made.ranking_scores(("a", "test", "similarity", 5, 0.25), ("a", "test", "ranking", 5, 0.5))
    sample = (
        made.articles(a=lead),
        made.ranked(a=[url, ("https://other.example/", "Two stones and words.")]),
        made.graphs("a", 2, [(0, 1, 0.5)]),
    )
    return {
        "baseline_scores": [(made.scores(lead={"a": 0.25}),), (made.scores(),)],
        "trained_scores": [(made.scores(**{"ht+similarity": {"a": 0.5}}),), (made.scores(),)],
        "ranking_scores": [(scores,), (made.ranking_scores(),)],
        "baselines": [(made.predictions(prediction("a", "lead", lead)),), (made.predictions(),)],
        "predictions": [(made.predictions(ht),), (made.predictions(),)],
        "samples": [sample, (made.articles(), made.ranked(), GRAPHS.schema.empty_table())],
        "texts": [
            (made.articles(a=lead), made.paragraphs("a", ("some words", None)), made.features("a", 0.5)),
            (made.articles(), made.paragraphs("b"), made.features("b")),
        ],
    }


def trained(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    save_file({"weight": np.zeros((3, 4), np.float32)}, directory / "model.safetensors")
    lines = [
        {"kind": "train", "step": 10, "loss": 2.0, "nll": 1.5, "learning_rate": 1e-3, "gradient_norm": 1.0},
        {"kind": "validation", "step": 10, "loss": 2.5, "nll": 1.75, "rouge1": 0.5},
    ]
    (directory / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return directory


def write(folder: Path, given: Mapping[str, Any], **changes: Any) -> tuple[Path, dict[str, Any]]:
    """Write a report of shards that are held in memory."""
    model = trained(folder / "model")
    directory = folder / "report"
    directory.mkdir(parents=True)
    arguments: dict[str, Any] = {
        **given,
        "ranker": model,
        "summarizer": model,
        "settings": ReportSettings(),
        "counts": COUNTS,
        "config": CONFIG,
        "seed": 3,
        "directory": directory,
        "took": {},
        **changes,
    }
    return directory, write_report(**arguments)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of the two shards."""
    return write(tmp_path_factory.mktemp("plain"), shards())[0]


def test_what_articles_share_is_a_section_where_they_were_compared(tmp_path: Path, report: Path) -> None:
    off = {"in_article": False, "in_other": False, "in_held_out": False, "lead": False}
    rows = [
        off | {"article": 1, "paragraph_id": 1, "whole": False, "in_article": True},
        off | {"article": 1, "paragraph_id": 2, "whole": False, "in_article": True, "lead": True},
        off | {"article": 2, "paragraph_id": 0, "whole": True, "in_other": True},
    ]
    tables = [(pa.Table.from_pylist(rows, OVERLAPS.schema),), (OVERLAPS.schema.empty_table(),)]
    counts = COUNTS | {"paragraphs": {"rows": 10, "drops": {"too_short": 2}}}
    counts["compared"] = {"rows": 10, "drops": {"too_short": 2, "near_duplicate": 1234}}
    directory, _ = write(tmp_path, shards(), overlaps=tables, counts=counts)
    text = Page((directory / "report.html").read_text()).text
    assert "paragraphs nearly equal to an earlier one of the same article 2 25.00 1 paragraphs nearly" in text
    assert "documents nearly equal to an earlier one of another article 1 – 1" in text
    assert "Refused: 0 paragraphs as leak, 1,234 as near_duplicate." in text
    assert "Across articles" in (directory / "artifacts" / "report-funnel.md").read_text()
    assert "Across articles" not in Page((report / "report.html").read_text()).text


def test_a_build_writes_its_report_through_the_store(tmp_path: Path) -> None:
    run = Run(Store(str(tmp_path)), Executor())
    given = shards()

    def stage(dataset: Dataset, group: str, place: int, name: str) -> StageResult:
        tables = [shard[place] for shard in given[group]]
        recipe = Recipe(
            dataset,
            lambda shard, name: tables[shard].select(dataset.schema.names),
            arguments={"name": name},
            per_shard={"shard": range(2)},
        )
        return run.stage(recipe, shards=2, inputs={}, name=name)

    articles = stage(ARTICLES, "samples", 0, "articles")
    ranked, graphs = stage(RANKED, "samples", 1, "ranked"), stage(GRAPHS, "samples", 2, "graphs")
    datasets = {"baseline_scores": SCORES, "trained_scores": SCORES, "ranking_scores": RANKING_SCORES}
    datasets |= {"baselines": PREDICTIONS, "predictions": PREDICTIONS}
    texts = [articles, stage(PARAGRAPHS, "texts", 1, "paragraphs"), stage(FEATURES, "texts", 2, "features")]

    def train(directory: Path) -> dict[str, Any]:
        trained(directory)
        return {"published": ["model.safetensors"]}

    model = run.directory(Recipe("models/ranker", train, version=1), inputs={})
    report = run.directory(
        Recipe(
            "reports",
            write_report,
            settings=ReportSettings(),
            arguments={"counts": COUNTS, "config": CONFIG, "seed": 3},
            version=1,
        ),
        inputs={
            **{name: every(stage(dataset, name, 0, name)) for name, dataset in datasets.items()},
            "samples": every(articles, ranked, graphs),
            "texts": every(*texts),
            "ranker": contents(model),
            "summarizer": contents(model),
        },
        context={"took": {}},
    )

    assert report.record is not None
    assert set(report.record.files) == {"report.html", "summary.txt", *[f"artifacts/{key}.md" for key in ARTIFACTS]}
    assert report.record.metrics == {
        "test_articles": 1,
        "headline": "values",
        "headline_scores": {"ht+similarity": 50.0, "lead": 25.0},
        "table1": {"similarity": {"5": 25.0}, "ranking": {"5": 50.0}},
    }


def test_the_summary_shows_table1_the_scores_and_what_they_come_to(report: Path) -> None:

    assert (
        (report / "summary.txt").read_text()
        == """\
ROUGE-L recall of the L' best paragraphs against the lead, %; 1 test article
paragraphs ranked by              corpus          L' = 5
tf-idf similarity with the title  this build       25.00
tf-idf similarity with the title  paper, WikiSum   24.86
learned ranker                    this build       50.00
learned ranker                    paper, WikiSum   39.38

The paper's rows are Table 1 of Liu & Lapata 2019, on WikiSum with its 1.6 million articles of some
525 paragraphs each. This corpus is different, also in size: compare the order of rows, not figures.

Summaries: truth, and ROUGE F1, %; 1 test article
system         ROUGE-1  ROUGE-2  ROUGE-L  values F1  values F1, 95 % interval
ht+similarity    50.00    50.00    50.00      50.00            50.00 to 50.00
lead             25.00    25.00    25.00      25.00            25.00 to 25.00

ht+similarity is 25.00 points of values F1 above lead (95 % interval 25.00 to 25.00): not
significant (p = 1.000 after Holm's correction; scores that differ on 1 article give no p below
1.000). With only 1 test articles these intervals are rough.
"""
    )


def test_the_page_says_what_was_built_and_counts_every_drop(report: Path) -> None:
    text = Page((report / "report.html").read_text()).text

    for expected in (
        "records (paths ['topics.jsonl'])",
        "ht with the similarity graph, 12 weights",
        "3 used; 1 of the test split scored",
        "entity pipeline rules 1 (spaCy 3.8)",
        "paragraphs 10 7 3 70.0",
        "slow.example 4 2 50.0 timeout 2",
        "paragraphs clone 2 20.0 it repeats the lead section",
        "paragraphs navigation 1 10.0 a menu or a list of links",
        "search.endpoint: http://search.example/",
        "One stone. not supported: no paragraph has half of its words Two stones. other.example/, paragraph 2, 75 %",
    ):
        assert expected in text
    assert "secret" not in text
    assert "counts are inconsistent" not in text


def test_three_figures_and_the_samples_come_first_and_the_rest_is_folded(report: Path) -> None:
    tree = lxml_html.document_fromstring((report / "report.html").read_text())
    assert [(one.get("id"), one.getparent().tag) for one in tree.xpath("//section")][:3] == [
        ("headline", "main"),
        ("samples", "main"),
        ("built", "details"),
    ]
    figures = [one.text_content().split("\n") for one in tree.xpath("//dl//div")]
    assert figures == [
        ["values F1, ht+similarity50.00 %", "50.00 to 50.00; lead 25.00"],
        ["ROUGE-1, ht+similarity50.00 %", "50.00 to 50.00; lead 25.00"],
        ["ROUGE-2, ht+similarity50.00 %", "50.00 to 50.00; lead 25.00"],
    ]
    (others,) = tree.xpath("//section[@id='samples']//details")
    assert others.find("summary").text == "Summaries by lead"
    shown = (report / "artifacts/report-headline.md").read_text()
    assert shown.startswith("## In short\n\n- **50.00 %** values F1, ht+similarity (50.00 to 50.00; lead 25.00)\n")
    assert "## Sample summaries" in shown


def test_figures_name_the_rows_behind_them_for_the_explorer(report: Path) -> None:
    tree = lxml_html.document_fromstring((report / "report.html").read_text())
    refused = [(cell.get("data-rows"), cell.text_content()) for cell in tree.xpath("//*[@id='funnel']//*[@data-rows]")]
    assert refused == [
        ("of=articles&reason=empty_lead", "1"),
        ("of=documents&reason=timeout", "2"),
        ("of=paragraphs&reason=clone", "2"),
        ("of=paragraphs&reason=navigation", "1"),
    ]
    scores = [cell.get("data-rows") for cell in tree.xpath("//section[@id='scores']//*[@data-rows]")]
    assert scores[0] == "of=scores&metric=values&system=ht%2Bsimilarity&order=value"


def test_every_column_of_a_table_has_a_heading(report: Path) -> None:
    tree = lxml_html.document_fromstring((report / "report.html").read_text())
    assert all(heading.text_content().strip() for heading in tree.xpath("//th[@scope='col']"))
    for artifact in (report / "artifacts").glob("*.md"):
        assert not re.search(r"\|\s+\|.*\n\| ---", artifact.read_text()), artifact.name


def test_the_page_needs_nothing_but_itself(report: Path) -> None:
    text = (report / "report.html").read_text()
    page = Page(text)

    assert not {"script", "link", "iframe", "object", "form", "base"} & {tag for tag, _ in page.tags}
    assert len(page.of("img")) == 11
    assert all((image["src"] or "").startswith("data:image/png;base64,") and image["alt"] for image in page.of("img"))
    assert "@import" not in text
    assert "url(" not in text
    links = [a for a in page.of("a") if "data-rows" not in a]  # the explorer gives those an address
    outside = [a for a in links if not (a["href"] or "").startswith("#")]
    assert {a["href"] for a in outside} == {"https://page.example/", "https://other.example/"}
    assert {a["rel"] for a in outside} == {"noreferrer nofollow"}
    anchors = {(a["href"] or "")[1:] for a in links if (a["href"] or "").startswith("#")}
    assert anchors == {section["id"] for section in page.of("section")}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_axe_finds_nothing(
    browser: Any, report: Path, axe_faults: Callable[[Any], list[str]], scheme: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto((report / "report.html").as_uri())
    assert axe_faults(page) == []
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert axe_faults(page) == []
    page.close()


@pytest.mark.parametrize("url", ["javascript:alert(1)", 'https://e.example/"><script>', f"https://{HOSTILE}"])
def test_nothing_from_a_page_is_markup(tmp_path: Path, url: str) -> None:
    given = shards(lead=HOSTILE, url=url)
    articles, *others = given["samples"][0]
    title = pa.array([HOSTILE], pa.string())
    given["samples"][0] = (articles.set_column(articles.schema.get_field_index("title"), "title", title), *others)
    wild, _ = write(
        tmp_path,
        given,
        config={**CONFIG, "preset": HOSTILE},
        counts={
            **COUNTS,
            "paragraphs": count(10, {HOSTILE: 2, "navigation": 1}),
            "pages": {**count(8, {"timeout": 2}), "worst": {HOSTILE: {"rows": 4, "drops": {HOSTILE: 2}}}},
        },
    )

    page = Page((wild / "report.html").read_text())

    def elements(page: Page) -> list[str]:
        return [tag for tag, _ in page.tags if tag not in ("a", "span")]

    plain, _ = write(tmp_path / "plain", shards(lead="Harmless"))  # one sentence, as the hostile text is
    assert elements(page) == elements(Page((plain / "report.html").read_text()))
    assert {name for _, attributes in page.tags for name in attributes if name.startswith("on")} == set()
    assert all(re.match(r"#|https://", a["href"] or "") for a in page.of("a") if "data-rows" not in a)
    assert page.text.count(" ".join(HOSTILE.split())) >= 9  # titles, lead, baseline's summary, preset, reasons, host
    for artifact in sorted((wild / "artifacts").glob("*.md")):
        plain = artifact.read_text()
        assert "<" not in plain.replace("<br>", "")  # a cell's own line breaks; one from a page would be escaped
        assert "](javascript" not in plain
    for control in ("\x1b", "\r"):
        assert control not in (wild / "summary.txt").read_text()


def test_equal_inputs_give_equal_bytes(report: Path, tmp_path: Path) -> None:
    again, _ = write(tmp_path, shards())

    names = [path.relative_to(report) for path in sorted(report.rglob("*")) if path.is_file()]
    assert len(names) == 11
    assert [(report / name).read_bytes() for name in names] == [(again / name).read_bytes() for name in names]


@pytest.mark.parametrize("shards_there", [0, 1])
def test_a_build_without_anything_to_show_says_so(tmp_path: Path, shards_there: int) -> None:
    empty = {
        "baseline_scores": [(SCORES.schema,)],
        "trained_scores": [(SCORES.schema,)],
        "ranking_scores": [(RANKING_SCORES.schema,)],
        "baselines": [(PREDICTIONS.schema,)],
        "predictions": [(PREDICTIONS.schema,)],
        "samples": [(ARTICLES.schema, RANKED.schema, GRAPHS.schema)],
        "texts": [(ARTICLES.schema, PARAGRAPHS.schema, FEATURES.schema)],
    }
    given = {
        name: [tuple(schema.empty_table() for schema in schemas) for schemas in rows[:shards_there]]
        for name, rows in empty.items()
    }
    nowhere = tmp_path / "nowhere"

    directory, metrics = write(tmp_path, given, counts={}, config={}, ranker=nowhere, summarizer=nowhere)

    text = Page((directory / "report.html").read_text()).text
    for sentence in (
        "No stage was counted.",
        "No fetch of a page failed.",
        "No article of the test split has ranked paragraphs",
        "No summary of the test split was scored",
        "The ranker has no metrics of its training.",
        "The summarizer has no metrics of its training.",
        "No paragraph was kept and no lead section used.",
        "No article of the test split has a summary to show.",
        "No system with attention has a summary to show.",
        "No sample article has a graph.",
    ):
        assert sentence in text
    everything = text + "".join(path.read_text() for path in directory.rglob("*.md"))
    assert not re.search(r"\b(nan|None|inf)\b", everything)
    assert (metrics["test_articles"], metrics["headline_scores"], metrics["table1"]) == (0, {}, {})


def test_the_first_column_and_the_numbers_are_told_apart_for_readers(report: Path) -> None:
    page = Page((report / "report.html").read_text())

    assert page.of("html") == [{"lang": "en"}]
    assert all(cell["scope"] in ("row", "col") for cell in page.of("th"))
    assert (
        len(page.of("caption")) == len(page.of("table")) == len([d for d in page.of("div") if d["class"] == "scroll"])
    )
