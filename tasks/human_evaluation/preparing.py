"""Write the folder of a study: forms and tables for raters, and the key, which raters do not get."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from storage.builds import Build
from storage.store import Store
from tasks.human_evaluation import questions as drafts
from tasks.human_evaluation.forms import ON_SOURCES, form_page
from tasks.human_evaluation.questions import LEAST, Question
from tasks.human_evaluation.sampling import SampledArticle, Summaries
from tasks.human_evaluation.settings import StudySettings
from tasks.human_evaluation.sheets import sheet
from tasks.human_evaluation.study import Study, draw_articles, make_study

KEY, QUESTIONS, FORMS = "key.json", "questions.csv", "forms"
_log = logging.getLogger(__name__)


def prepare_study(store: Store, build: Build, name: str, settings: StudySettings, folder: Path) -> str:
    """Draw the sample and write the folder; return what was written and what to do next. Questions are drafted first
    and the forms made when the same command is run again, so that people can edit them. Raises ValueError: the build
    lacks systems or articles that the settings ask for, the edited questions are malformed, or the folder holds another
    study. StorageError: a file of the build is missing."""
    summaries = Summaries(store, build)
    systems = summaries.chosen(settings.systems)
    sources = settings.task == "ratings" and not ON_SOURCES.isdisjoint(settings.criteria)
    if settings.task == "qa":
        articles = _with_questions(summaries, systems, settings)
        file = folder / QUESTIONS
        if not file.exists():
            asked = {article.id: drafts.draft_questions(article.title, article.lead) for article in articles}
            write_whole(file, drafts.to_csv(articles, asked))
            return (
                f"{sum(map(len, asked.values()))} questions on {len(articles)} articles are drafted in {file}.\n"
                "Edit them (they ask about the leads of the articles), then run the same command again: it makes the "
                "forms."
            )
        questions: Mapping[str, Sequence[Question]] = drafts.from_csv(
            file.read_text(encoding="utf-8"), articles, str(file)
        )
    else:
        ids = draw_articles(summaries.common(systems), settings.articles, settings.seed)
        result = summaries.read(ids, systems, sources=sources)
        articles, questions = [result[id_] for id_ in ids], {}
    study = make_study(settings, name=name, build=build.name, systems=systems, articles=articles, questions=questions)
    _write_study(study, folder)
    return describe(study, folder)


def describe(study: Study, folder: Path) -> str:
    """Return a study's size and the use of its files, as text."""
    settings = study.settings
    asked = f", {sum(map(len, study.questions.values()))} questions" if study.questions else ""
    return (
        f"study {study.id}: {settings.task}, {len(study.systems)} systems ({', '.join(study.systems)}), "
        f"{len(study.articles)} articles{asked}, {settings.raters} raters\n"
        f"{folder / FORMS}: a form for each rater, which opens in any browser and ends with a file of answers\n"
        f"{folder / FORMS} also has each as a table (.csv), to fill in elsewhere\n"
        f"{folder / KEY}: which system wrote which text; do not give it to raters\n"
        f"then: wikisum judge score --study {folder} ANSWERS ...\n"
        "ANSWERS: downloaded from forms (.json), or filled-in tables (.csv)"
    )


def _with_questions(summaries: Summaries, systems: tuple[str, ...], settings: StudySettings) -> list[SampledArticle]:
    """Draw among the articles whose lead has something to ask about, reading no more of them than needed."""
    candidates = summaries.common(systems)
    drawn: list[SampledArticle] = []
    order = draw_articles(candidates, len(candidates), settings.seed)
    for start in range(0, len(order), settings.articles):
        result = summaries.read(order[start : start + settings.articles], systems, sources=False)
        drawn += [item for item in result.values() if len(drafts.draft_questions(item.title, item.lead)) >= LEAST]
        if len(drawn) >= settings.articles:
            return drawn[: settings.articles]
    raise ValueError(
        f"articles is {settings.articles}: expected at most {len(drawn)}, the test articles whose lead has values for "
        f"{LEAST} questions"
    )


def _write_study(study: Study, folder: Path) -> None:
    key = folder / KEY
    if key.exists() and key.read_text(encoding="utf-8") != study.to_json():
        raise ValueError(
            f"{folder} holds another study, whose answers would be lost: expected a new folder, or the settings, "
            "questions and build of that study"
        )
    files = {f"{FORMS}/rater-{rater:02}.html": form_page(study, rater) for rater in study.forms}
    files |= {f"{FORMS}/rater-{rater:02}.csv": sheet(study, rater) for rater in study.forms}
    for number, (name, text) in enumerate(files.items(), start=1):
        write_whole(folder / name, text)
        _log.info("%d of %d: %s", number, len(files), name)
    write_whole(key, study.to_json())  # last: a folder with a key is complete


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all; its folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.tmp")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
