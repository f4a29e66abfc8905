"""The real application on a real port of this machine, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from flows.running.child_processes import free_port
from flows.summary_page.app import create_app
from tasks.cited_summary.jobs import Jobs, Work
from tasks.cited_summary.pipeline import summarize
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system
from tasks.explorer.corpus import ExplorerCorpus
from tests.patience import wait_until


@contextmanager
def page_server(
    *,
    work: Work | None = None,
    settings: SummarySettings | None = None,
    corpus: ExplorerCorpus | None = None,
    credentials: str | None = None,
    at_once: int = 2,
    model: str | None = None,
) -> Iterator[str]:
    """Serve; yield the address."""
    chosen = settings or SummarySettings()
    made: Work = work or (
        lambda job, report: summarize(
            job.title, job.given, find_system(model), chosen, choice=job.choice, progress=report
        )
    )
    port = free_port("127.0.0.1")
    with Jobs(made, at_once) as jobs:
        app = create_app(jobs, chosen, corpus, has_model=model is not None, credentials=credentials)
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        wait_until(lambda: server.started, "the page's server")
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join()
