"""Serve the page: paste addresses or drop files, read a cited summary, explore a corpus."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn

from flows.running.child_processes import free_port
from flows.running.hosts import is_loopback, known_hosts
from flows.running.serve_options import CREDENTIALS, authentication, web_address
from flows.summary_page.app import create_app
from flows.summary_page.jobs import Jobs
from flows.summary_page.kept import FOLDER, KeptSummaries
from flows.summary_page.processes import Processes
from models.exported import CONFIG
from storage.registry import FOLDER as REGISTRY
from storage.store import Store
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system, trained_systems
from tasks.explorer.corpus import ExplorerCorpus
from tasks.writing.writer import check_writer

_USUAL_ROOT = "data"  # as of builds
_LAST_SECONDS = 2  # for answers that are being sent at the end, and browsers that watch a summary
_FRESH_SECONDS = 60.0  # retraining adds systems while the page runs


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
    given = os.environ.get(CREDENTIALS)
    credentials = authentication(host, given)
    port = free_port(host, port)
    root = Store(kept_below(model, explore))
    kept = KeptSummaries(root, settings)
    with Processes(model, at_once) as processes, Jobs(processes, at_once, keep=kept.save) as jobs:
        systems = OfferedSystems(model, settings)
        hosts, local = known_hosts(host, os.environ), is_loopback(host)
        app = create_app(
            jobs, kept, settings, corpus, systems=systems, credentials=credentials, hosts=hosts, local=local
        )
        print(f"summaries      {web_address(host, port)}   (Ctrl-C stops)", file=sys.stderr)
        if credentials is not None and not given:
            print(f"sign in with   {credentials}    (shown once; {CREDENTIALS} sets it)", file=sys.stderr)
        print(f"models of      {model or 'none: sentences of the sources are chosen'}", file=sys.stderr)
        print(f"kept below     {root.path(FOLDER)}", file=sys.stderr)
        quiet: dict[str, Any] = {"log_level": "warning", "server_header": False, "access_log": False}
        uvicorn.run(app, host=host, port=port, timeout_graceful_shutdown=_LAST_SECONDS, **quiet)
    return 0


def kept_below(model: str | None, explore: str | None) -> str:
    """Return the root that summaries are kept on: that of the corpus, else of the model, else the usual one."""
    if explore is not None:
        return explore
    if model is None or Path(model).is_file() or (Path(model) / CONFIG).is_file():  # a model is not a root
        return _USUAL_ROOT
    return model.rstrip("/").removesuffix(f"/{REGISTRY}")


class OfferedSystems:
    """The names of the systems: the choice that `chosen_system` takes -> its name for people."""

    def __init__(self, model: str | None, settings: SummarySettings) -> None:
        """Take the root of trained systems, None for none, and the settings, of which the language model counts."""
        self._model, self._writer = model, settings.writer and settings.writer.model
        self._found: Mapping[str, str] = {}
        self._until = 0.0

    def __call__(self) -> Mapping[str, str]:
        """Return the systems, the usual one first. Raises StorageError: the root cannot be listed."""
        if time.monotonic() > self._until:
            self._found, self._until = self._find(), time.monotonic() + _FRESH_SECONDS
        return self._found

    def _find(self) -> dict[str, str]:
        extractive = {"extractive": "sentences of the sources, as they are"}
        writer = {"suitable": f"the language model {self._writer}, each sentence checked"} if self._writer else {}
        if self._model is None:
            return writer | extractive
        usual = {"suitable": "the trained model if it suits the sources, else their own sentences"} | writer
        names = trained_systems(self._model)
        others = {name: f"the trained model of {name}" for name in names} if len(names) > 1 else {}
        return usual | {"model": "the trained model, whatever it writes"} | others | extractive
