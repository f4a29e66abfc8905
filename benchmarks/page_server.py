"""The real application on a real port of this machine, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from benchmarks.waiting import wait_until
from flows.running.child_processes import free_port
from flows.running.hosts import known_hosts
from flows.summary_page.app import create_app
from flows.summary_page.jobs import Jobs, SummaryJob, Work
from flows.summary_page.kept import KeptSummaries
from flows.summary_page.server import OfferedSystems
from storage.store import Store
from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import Report, SourcePage, summarize
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import chosen_system
from tasks.explorer.corpus import ExplorerCorpus


@contextmanager
def page_server(
    *,
    work: Work | None = None,
    settings: SummarySettings | None = None,
    corpus: ExplorerCorpus | None = None,
    credentials: str | None = None,
    at_once: int = 2,
    model: str | None = None,
    root: Path | None = None,
    local: bool = True,
) -> Iterator[str]:
    """Serve; yield the address. `root`: where summaries are kept; None = in a folder that is removed."""
    chosen = settings or SummarySettings()

    def made_here(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        system, how = chosen_system(model, job.choice)
        title, question = job.topic
        return summarize(title, job.given, system, job.settings, question=question, choice=how, progress=report)

    port = free_port("127.0.0.1")
    with TemporaryDirectory() as folder:
        kept = KeptSummaries(Store(str(root or folder)), chosen)
        with Jobs(work or made_here, at_once, keep=kept.save) as jobs:
            systems = OfferedSystems(model, chosen)
            hosts = known_hosts("127.0.0.1", {})
            app = create_app(
                jobs, kept, chosen, corpus, systems=systems, credentials=credentials, hosts=hosts, local=local
            )
            server = uvicorn.Server(
                uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
            )
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            wait_until(lambda: server.started, "the page's server")
            yield f"http://127.0.0.1:{port}"
            server.should_exit = True
            thread.join()
