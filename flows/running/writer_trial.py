"""The trial request to the language model that a build is to write with."""

from flows.config import BuildConfig
from flows.running.estimates import account_of
from tasks.engine.stage import Run


def try_writer(planned: Run, config: BuildConfig) -> str | None:
    """Ask the writer once before a planned walk starts, and return what is said of its answer; None if the walk asks
    no language model, or has all summaries already. What it costs counts as spent. Raises ChatError: the server gave no
    answer; it has the server's own words. ValueError, FileNotFoundError, BudgetSpentError: as `open_writer`."""
    settings, written = config.writer, planned.stages.get("written")
    if settings is None or written is None or written.complete:
        return None
    from tasks.writing.trial import Trial  # here, because it takes seconds

    budget = settings.budget()
    with account_of(config).ledger() as budget.ledger:
        return Trial.run(settings, settings.words, settings.language, budget).line()
