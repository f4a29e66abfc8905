"""Export a corpus, or with --model a summarizer, as a folder that other people's tools read; run again to continue."""

import argparse
import sys

from flows.running.root_command import read_root_options, run_on_root

if __name__ == "__main__":  # help and mistakes are answered before the imports below, which take seconds
    options = read_root_options(
        "python -m flows.export",
        __doc__,
        {
            "--to": {"required": True, "metavar": "FOLDER", "help": "new or empty folder or URI"},
            "--build": {"metavar": "BUILD", "help": "build whose corpus is exported (default: the latest)"},
            "--columns": {
                "metavar": "A,B",
                "help": "some of summary, urls, documents, labels, ranked, graphs (default: all the build has)",
            },
            "--page-text": {
                "choices": ["licensed", "free", "all", "none"],
                "default": "licensed",
                "help": "documents whose text is exported: of a licence without ND (default), a free one, all, none",
            },
            "--model": {"metavar": "MODEL", "help": "export its summarizer: a version, champion, a build, latest"},
            "--push": {"metavar": "ORG/NAME", "help": "then upload it to this repository on the Hugging Face hub"},
            "--dry-run": {"action": "store_true", "help": "only say how much would be written"},
        },
    )

from prefect import flow

from flows.running.notification import notify
from flows.running.temporary_server import use_prefect_api
from tasks.engine.failure_logs import log_expected_failures_in_one_line
from tasks.exchange.sharing import Sharing, share


@flow(name="export", flow_run_name="export", on_failure=[notify], on_crashed=[notify])
def export(
    root: str,
    to: str,
    build: str | None = None,
    columns: str | None = None,
    page_text: str = "licensed",
    model: str | None = None,
    push: str | None = None,
) -> str:
    """Export a corpus or model of the root to the folder `to`; return what happened.

    The arguments are those of `tasks.exchange.sharing.Sharing`.
    """
    log_expected_failures_in_one_line()
    return share(Sharing(root, to, build, columns, page_text, model, push), tell=print)


def _act(options: argparse.Namespace) -> int:
    fields = {name: getattr(options, name) for name in Sharing.__dataclass_fields__}
    if options.dry_run:
        print(share(Sharing(**fields), dry_run=True, tell=print))
    else:
        use_prefect_api()
        print(export(**fields))
    return 0


if __name__ == "__main__":
    sys.exit(run_on_root(options, _act))
