"""The module for people who program."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import wikisum
from storage.builds import Build, save_build
from storage.schemas import SCORES
from storage.store import Store
from tests.tasks.explorer.small_corpus import small_corpus

NOTEBOOK = Path(wikisum.__file__).parent / "docs" / "notebook.ipynb"

NOTES = """# Skerry Point

Skerry Point Lighthouse was lit in 1901. Ada Lund designed the tower, which is 45 metres high.
"""


def test_a_summary_cites_its_sources(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(NOTES)
    steps: list[str] = []
    summary = wikisum.summarize([notes], "Skerry Point Lighthouse", progress=lambda now: steps.append(now.text))
    assert summary.sentences[0].text == "Skerry Point Lighthouse was lit in 1901."
    assert summary.sentences[0].verdict == "said"
    assert [source.name for source in summary.sources] == ["notes.md"]
    assert steps[0] == "reading 1 source"


def test_a_note_of_five_words_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ferry leaves at noon daily.")
    (tmp_path / "b.txt").write_text("Ferry")
    summary = wikisum.summarize([tmp_path / "a.txt", tmp_path / "b.txt"], "Ferry")
    assert [one.text for one in summary.sentences] == ["Ferry leaves at noon daily."]
    assert [source.refused for source in summary.sources] == [None, "it has only one word: expected at least 3"]


def test_a_german_page_is_summarized_in_german_if_asked(tmp_path: Path) -> None:
    sentence = "Die Fähre nach Ostley wurde 1931 gebaut und bringt seit diesem Jahr auch Autos über den Fluss."
    page = tmp_path / "page.html"
    page.write_text(f"<html><body><h1>Fähre</h1><p>{sentence}</p></body></html>", encoding="utf-8")
    assert not wikisum.summarize([page], "Fähre").sentences
    assert [one.text for one in wikisum.summarize([page], "Fähre", language="de").sentences] == [sentence]


def test_a_missing_file_and_no_source_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.md"):
        wikisum.summarize([tmp_path / "nothing.md"])
    with pytest.raises(ValueError, match="no source"):
        wikisum.summarize([])


def test_a_sentence_is_verified() -> None:
    result = wikisum.verify("It was lit in 1901.", ["Otters live here.", "It was lit in 1901 by Ada Lund."])
    assert (result.support, result.passages) == ("said", (1,))
    assert wikisum.verify("It was lit in 1910.", ["It was lit in 1901 by Ada Lund."]).support == "unsupported"


def test_text_is_extracted_from_html_and_files(tmp_path: Path) -> None:
    text = "The lighthouse was lit in 1901 by Ada Lund, who had designed its tower of granite for the town of Skerry."
    page = f"<html><head><title>Skerry</title></head><body><article><p>{text}</p></article></body></html>"
    assert wikisum.extract(page).paragraphs == (text,)
    (tmp_path / "notes.md").write_text(NOTES)
    assert "Skerry Point Lighthouse was lit in 1901." in wikisum.extract(tmp_path / "notes.md").paragraphs[0]


def test_the_tables_of_a_root_are_read(tmp_path: Path) -> None:
    corpus = wikisum.open(small_corpus(tmp_path))
    assert corpus.articles().num_rows > 0
    assert corpus.articles() == corpus.table("articles")
    with pytest.raises(ValueError, match=r"no table 'nothing': expected one of articles"):
        corpus.table("nothing")
    with pytest.raises(ValueError, match="has no build"):
        wikisum.open(tmp_path / "elsewhere")


def scored(root: Path) -> str:
    """A build in which two systems were scored on two articles, each in a stage of its own."""
    store, stages = Store(str(root)), {}
    values = {"scores": ("ours", [0.5, 0.7]), "baseline_scores": ("lead", [0.1, 0.3])}
    for stage, (system, of_articles) in values.items():
        rows = [
            {**dict.fromkeys(SCORES.schema.names), "article_id": str(number), "system": system, "metric": "rouge1"}
            | {"value": value}
            for number, value in enumerate(of_articles)
        ]
        stages[stage] = {"0": f"{stage}/part-00000.{'0' * 16}.parquet"}
        store.write_table(stages[stage]["0"], pa.Table.from_pylist(rows, schema=SCORES.schema), SCORES)
    counts = {stage: {"rows": 2, "drops": {}} for stage in stages}
    save_build(store, Build("20260101-000000-abc", "2026-01-01T00:00:00+00:00", {}, stages, {}, counts))
    return str(root)


def test_the_scores_of_all_systems_are_read_and_drawn(tmp_path: Path) -> None:
    corpus = wikisum.open(scored(tmp_path / "root"))
    assert corpus.scores()["system"].to_pylist() == ["lead", "lead", "ours", "ours"]
    assert repr(corpus).endswith("root; rows: baseline_scores 2, scores 2>")
    plot = corpus.plot("rouge1")
    assert plot.caption == "ROUGE-1 of each system, with its 95 % interval"
    plot.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no system was scored under 'values': expected one of rouge1"):
        corpus.plot()
    with pytest.raises(ValueError, match="has no scores"):
        wikisum.open(small_corpus(tmp_path / "unscored")).scores()


def test_a_notebook_shows_a_summary_in_a_frame_that_links_leave(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES)
    shown = wikisum.summarize([tmp_path / "notes.md"], 'Skerry "Point"')._repr_html_()
    assert shown.startswith('<iframe title="Skerry &quot;Point&quot;" sandbox="allow-popups ')
    assert "&lt;a href=&quot;#passage-1&quot;&gt;[1]&lt;/a&gt;" in shown


@pytest.mark.integration
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("PREFECT_API_URL", "")
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)
    assert [sentence.verdict for sentence in names["summary"].sentences] == ["said", "said"]
    assert names["finding"].support == "unsupported"
    assert len(names["page"].paragraphs) == 1
    assert {"articles", "paragraphs", "scores"} <= set(names["corpus"].tables)
    assert names["plot"].png.startswith(b"\x89PNG")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    heavy = "('torch', 'prefect', 'pyarrow')"
    code = f"import sys, wikisum; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["tasks.py", "models.py", "storage/__init__.py"])
def test_a_file_of_the_user_with_one_of_our_names_is_named(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import wikisum"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(wikisum.__file__).parent, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert f"Python finds {file}: rename that file" in ended.stderr.splitlines()[-1]


def test_a_question_is_answered(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The tower was built in 1847.\nThe last keeper of the tower was Ann Molloy.\n")
    answer = wikisum.summarize([notes], title="Skerry Tower", question="Who was the keeper?")
    assert [one.text for one in answer.sentences] == ["The last keeper of the tower was Ann Molloy."]
