"""Serve the page: paste addresses or drop files, read a cited summary, explore a corpus."""

import argparse
import os
import sys

import uvicorn

from flows.running.child_processes import free_port
from flows.running.serve_options import authentication
from flows.summary.app import create_app
from flows.summary.processes import Processes
from storage.errors import StorageError
from storage.store import Store
from tasks.explorer.corpus import Corpus
from tasks.summary.jobs import Jobs
from tasks.summary.systems import find_system

_CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"  # those of the Prefect server beside it


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C, with the options of `flows.summary.options`; return the exit code.

    Raises:
        ValueError: the model or the corpus cannot be used, or host, port or password are wrong.
    """
    try:
        find_system(options.model)  # its faults are shown now, not with the first summary
        corpus = _corpus(options)
    except StorageError as error:
        raise ValueError(error) from error
    given = os.environ.get(_CREDENTIALS)
    credentials = authentication(options.host, given)
    port = free_port(options.host, options.port)
    with (
        Processes(options.model, options.settings, options.jobs) as processes,
        Jobs(processes, options.jobs) as jobs,
    ):
        app = create_app(jobs, options.settings, corpus, has_model=options.model is not None, credentials=credentials)
        host = f"[{options.host}]" if ":" in options.host else options.host
        print(f"summaries      http://{host}:{port}   (Ctrl-C stops)", file=sys.stderr)
        if credentials is not None and not given:
            print(f"sign in with   {credentials}    (shown once; {_CREDENTIALS} sets it)", file=sys.stderr)
        uvicorn.run(app, host=options.host, port=port, log_level="warning", server_header=False, access_log=False)
    return 0


def _corpus(options: argparse.Namespace) -> Corpus | None:
    """Return the corpus to explore: the one asked for, or that of the model's root if it has one."""
    if options.explore is not None:
        return Corpus(Store(options.explore))
    return None if options.model is None else Corpus.beside(options.model)
