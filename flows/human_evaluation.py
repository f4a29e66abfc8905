"""Human evaluation (Liu & Lapata 2019, sec. 5): prepare a blinded study of a build's summaries, score its answers."""

from collections.abc import Sequence
from pathlib import Path

from flows.config import name_of
from flows.running.display import tagged
from flows.running.notification import notifying_flow
from flows.running.temporary_server import use_prefect_api
from storage.schemas import PREDICTIONS
from storage.store import Store
from tasks.engine.recipe import finished_build
from tasks.human_evaluation.preparing import prepare_study
from tasks.human_evaluation.results import read_folder, score_study
from tasks.human_evaluation.settings import StudySettings
from tasks.reporting.publishing import publish_page


@notifying_flow("human-evaluation")
def human_evaluation(study: str, answers: list[str]) -> str:
    """Return scores and report path of a study's answers. Raises ValueError: its files are inconsistent."""
    judged, answered = read_folder(Path(study), [Path(file) for file in answers])
    text, report = score_study(Path(study), judged, answered)
    shown = (
        f"{judged.name}: {len(judged.systems)} systems judged by people ({judged.settings.task}), "
        f"{len(judged.articles):,} articles of build {judged.build}."
    )
    with tagged(judged.name):
        publish_page(judged.name, f"human-{judged.settings.task}", report, shown)
    return text


def prepare(root: str, build: str | None, settings: StudySettings, to: Path) -> None:
    """Prepare a study of a build (None = the latest) in the folder `to`, and print what is in it."""
    store = Store(root)
    result = finished_build(store, build, having=PREDICTIONS.name)
    print(prepare_study(store, result, name_of(result.config, root), settings, to))


def score(study: Path, answers: Sequence[Path]) -> None:
    """Score the answers, and print the result; mistakes are reported before a server starts."""
    read_folder(study, list(answers))
    use_prefect_api()
    print(human_evaluation(str(study), [str(file) for file in answers]))
