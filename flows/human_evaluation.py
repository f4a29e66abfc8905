"""Human evaluation (Liu & Lapata 2019, sec. 5): prepare a blinded study of a build's summaries, score its answers."""

import argparse
import sys
from pathlib import Path

from flows.running.root_command import ROOT, options_of, read_action_options, run_on_root, settings_from
from tasks.human_evaluation.settings import StudySettings

if __name__ == "__main__":  # help and mistakes are answered before the imports below, which take seconds
    options = read_action_options(
        "python -m flows.human_evaluation",
        __doc__,
        {
            "prepare": (
                "Draw test articles of a build and write a form for each rater, with the key in a separate file.",
                {
                    **ROOT,
                    "--build": {"help": "name of a finished build (default: the latest)"},
                    "--to": {"type": Path, "required": True, "metavar": "FOLDER", "help": "folder of the study"},
                    **options_of(StudySettings),
                },
            ),
            "score": (
                "Score the answers of raters, and write a report and an artifact.",
                {
                    "--study": {"type": Path, "required": True, "metavar": "FOLDER", "help": "a prepared study"},
                    "answers": {
                        "nargs": "+",
                        "type": Path,
                        "metavar": "ANSWERS",
                        "help": "answers of forms (.json), results of a crowd platform (.csv), folders of Potato",
                    },
                },
            ),
        },
    )

from prefect import flow

from flows.config import name_of
from flows.running.graph import tagged
from flows.running.notification import notify
from flows.running.temporary_server import use_prefect_api
from storage.root_format import check_root
from storage.store import Store
from tasks.engine.failure_logs import log_expected_failures_in_one_line
from tasks.engine.finished import finished_build
from tasks.human_evaluation.preparing import prepare_study
from tasks.human_evaluation.results import read_folder, score_study
from tasks.reporting.publishing import publish_page


@flow(name="human-evaluation", flow_run_name="human-evaluation", on_failure=[notify], on_crashed=[notify])
def human_evaluation(study: str, answers: list[str]) -> str:
    """Score the answers of a study's raters; return the scores and the path of the report, as text.

    Raises:
        ValueError: files are inconsistent with the study or with each other.
    """
    log_expected_failures_in_one_line()
    results = score_study(Path(study), *read_folder(Path(study), [Path(file) for file in answers]))
    judged = results.study
    shown = (
        f"{judged.name}: {len(judged.systems)} systems judged by people ({judged.settings.task}), "
        f"{len(judged.articles):,} articles of build {judged.build}."
    )
    with tagged(judged.name):
        publish_page(judged.name, f"human-{judged.settings.task}", results.markdown, shown)
    return results.text


def _act(options: argparse.Namespace) -> int:
    if options.action == "prepare":
        settings = settings_from(StudySettings, options)
        store = Store(options.root)
        check_root(store)
        build = finished_build(store, options.build)
        print(prepare_study(store, build, name_of(build.config, options.root), settings, options.to))
    else:
        read_folder(options.study, options.answers)  # mistakes are answered before a server is started
        use_prefect_api()
        print(human_evaluation(str(options.study), [str(file) for file in options.answers]))
    return 0


if __name__ == "__main__":
    sys.exit(run_on_root(options, _act))
