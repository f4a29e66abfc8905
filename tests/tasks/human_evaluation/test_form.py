"""The form in a real browser, from a file: fill in, reload, go on, download, score."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tasks.human_evaluation.answers import judgements, read_answers, said
from tasks.human_evaluation.forms import form_page
from tasks.human_evaluation.study import Study
from tests.patience import PATIENCE
from tests.tasks.human_evaluation.studies import study

pytestmark = pytest.mark.integration


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(accept_downloads=True, viewport={"width": 390, "height": 800})
    opened = context.new_page()
    opened.set_default_timeout(1000 * PATIENCE)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert problems == []


def opened(page: Any, of: Study, folder: Path) -> None:
    file = folder / "rater-01.html"
    file.write_text(form_page(of, 1), encoding="utf-8")
    page.goto(file.as_uri())
    # A browser drops keys that are pressed before it has drawn the page.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def downloaded(page: Any, folder: Path) -> tuple[str, str]:
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(folder / waiting.value.suggested_filename)
    return waiting.value.suggested_filename, (folder / waiting.value.suggested_filename).read_text()


def test_best_and_worst_are_kept_over_a_reload_and_scored(page: Any, tmp_path: Path) -> None:
    tiny = study(articles=3, raters=2)
    opened(page, tiny, tmp_path)
    assert "of study" in page.inner_text("h1")
    page.keyboard.press("1")  # the first text is the best
    page.keyboard.press("Shift+Digit3")
    page.fill("textarea", "clear <i>winner</i>")
    page.click("#next")
    page.check('input[name="best"][value="1"]')
    assert page.inner_text("#done") == "1 of 3 articles done"
    page.reload()

    assert page.inner_text("#done") == "1 of 3 articles done"
    assert page.inner_text("h2").startswith("2. "), "it goes on where it was left"
    assert page.is_checked('input[name="best"][value="1"]')
    page.click("#download")
    assert page.inner_text("#message") == (
        "2 of 3 articles still need answers; this is the first of them. Click again to hand in the others alone."
    )
    assert page.title() == "1/3 done: form 1"
    _, part = downloaded(page, tmp_path)
    ((answered, _),) = read_answers(tiny, [("part.json", part)])[0].items
    assert answered.article.id == tiny.items(1)[0].article.id
    page.check('input[name="worst"][value="1"]')
    assert not page.is_checked('input[name="best"][value="1"]'), "one text cannot be both"
    page.check('input[name="best"][value="0"]')
    page.click("h2")
    page.keyboard.press("n")
    page.check('input[name="best"][value="2"]')
    page.check('input[name="worst"][value="0"]')
    name, content = downloaded(page, tmp_path)

    assert name == f"answers-{tiny.id}-01.json"
    (answered,) = read_answers(tiny, [(name, content)])
    values = {(one.article, one.system): one.value for one in judgements([answered])}
    for item, (best, worst) in zip(tiny.items(1), [(0, 2), (0, 1), (2, 0)], strict=True):
        assert values[item.article.id, item.systems[best]] == 1
        assert values[item.article.id, item.systems[worst]] == -1
    assert answered.items[0][1]["comment"] == "clear <i>winner</i>"


@pytest.mark.parametrize("task", ["best-worst", "ratings"])
def test_choices_stay_in_view_beside_long_texts(browser: Any, tmp_path: Path, task: str) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    of = study(task, articles=1)
    long = form_page(of, 1).replace("Text 0000", "Text " + "of many words " * 400 + "0000")
    (tmp_path / "form.html").write_text(long, encoding="utf-8")
    page.goto((tmp_path / "form.html").as_uri())
    for choices in page.locator("#choices, .choices").all():
        if choices.locator("input").count():
            expect(choices.locator("input").first).to_be_in_viewport()
    page.close()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("task", ["best-worst", "ratings", "qa"])
def test_axe_finds_nothing(
    browser: Any, tmp_path: Path, axe_faults: Callable[[Any], list[str]], task: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    opened(page, study(task, articles=1), tmp_path)
    assert axe_faults(page) == []
    page.close()


def test_nothing_shown_names_a_system_or_is_taken_as_markup(page: Any, tmp_path: Path) -> None:
    tiny = study(articles=2)
    opened(page, tiny, tmp_path)
    source = (tmp_path / "rater-01.html").read_text()
    assert [system for system in ("t-dmca", '"ht"', '"lead"') if system in source] == []
    assert "<b>" in page.inner_text(".text p"), "markup of a text is shown as it is"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "it fits the width of a phone"


def test_questions_are_answered_or_said_to_have_no_answer(page: Any, tmp_path: Path) -> None:
    tiny = study("qa", articles=2, questions=2)
    opened(page, tiny, tmp_path)
    for number in range(2):
        page.fill("#said\\ 0", f"answer {number}")
        page.locator(".question").nth(1).get_by_text("The text does not say").click()
        if number == 0:
            page.click("#next")
    name, content = downloaded(page, tmp_path)
    assert [one.text for one in said(read_answers(tiny, [(name, content)]))] == ["answer 0", None, "answer 1", None]
    assert "Reference" not in page.inner_text("main"), "the lead has the answers"


def test_ratings_of_every_text_and_criterion(page: Any, tmp_path: Path) -> None:
    tiny = study("ratings", articles=1, criteria=("fluency", "coverage"))
    opened(page, tiny, tmp_path)
    for place, fluency, coverage in ((0, 5, 2), (1, 3, 4)):
        page.check(f'input[name="{place} fluency"][value="{fluency}"]')
        page.check(f'input[name="{place} coverage"][value="{coverage}"]')
    found = judgements(read_answers(tiny, [downloaded(page, tmp_path)]))
    first, second = tiny.items(1)[0].systems
    assert {(one.system, one.measure): one.value for one in found} == {
        (first, "fluency"): 5,
        (first, "coverage"): 2,
        (second, "fluency"): 3,
        (second, "coverage"): 4,
    }


def test_an_edited_form_is_noticed(page: Any, tmp_path: Path) -> None:
    tiny = study(articles=1, systems=("a", "b"), texts=2)
    file = tmp_path / "rater-01.html"
    file.write_text(form_page(tiny, 1).replace("Text 0000", "Test 0000"), encoding="utf-8")
    page.goto(file.as_uri())
    page.keyboard.press("1")
    page.keyboard.press("Shift+Digit2")
    name, content = downloaded(page, tmp_path)
    assert json.loads(content)["study"] == tiny.id
    with pytest.raises(ValueError, match=r"the texts judged are not those of the study"):
        read_answers(tiny, [(name, content)])
