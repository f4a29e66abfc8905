"""Serve the page: paste addresses or drop files, read a cited summary, explore a corpus."""

import os
import sys

import uvicorn

from flows.running.child_processes import free_port
from flows.running.serve_options import authentication, web_address
from flows.summary_page.app import create_app
from flows.summary_page.processes import Processes
from storage.store import Store
from tasks.cited_summary.jobs import Jobs
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system
from tasks.explorer.corpus import ExplorerCorpus
from tasks.writing.opening import check_writer

_CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"  # those of the Prefect server beside it


def serve(model: str | None, explore: str | None, host: str, port: int, at_once: int, settings: SummarySettings) -> int:
    """Serve until Ctrl-C; return the exit code. `model`: root of a build, its registry, or a model's folder; None =
    only the extractive system. `explore`: root whose corpus is shown; None = the model's, if it has one. A taken port
    is replaced by a free one. Raises StorageError: the model or the corpus cannot be used; ValueError: host, port or
    password are wrong."""
    find_system(model)  # its faults are shown now, not with the first summary
    if settings.writer is not None:
        check_writer(settings.writer, settings.words)
    if explore is not None:
        corpus: ExplorerCorpus | None = ExplorerCorpus(Store(explore))
    else:
        corpus = None if model is None else ExplorerCorpus.beside(model)
    given = os.environ.get(_CREDENTIALS)
    credentials = authentication(host, given)
    port = free_port(host, port)
    with Processes(model, settings, at_once) as processes, Jobs(processes, at_once) as jobs:
        app = create_app(jobs, settings, corpus, has_model=model is not None, credentials=credentials)
        print(f"summaries      {web_address(host, port)}   (Ctrl-C stops)", file=sys.stderr)
        if credentials is not None and not given:
            print(f"sign in with   {credentials}    (shown once; {_CREDENTIALS} sets it)", file=sys.stderr)
        uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False, access_log=False)
    return 0
