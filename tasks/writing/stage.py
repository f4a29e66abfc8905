"""The stage: a language model summarizes the articles of the test split, several at a time."""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import pyarrow as pa

from storage.recipes import TALLY
from storage.schemas import PREDICTIONS
from storage.spending import Account
from tasks.chat.budget import Budget
from tasks.chat.client import ChatClient, ChatError
from tasks.chat.completions import NOT_ASKED, OF_THE_REQUEST, NoAnswerError
from tasks.engine.job import Scratch
from tasks.engine.progress import Progress
from tasks.evaluation.baselines import passages_by_article, prediction
from tasks.extractive.pile import PilePassage
from tasks.fetching.answers import Answers
from tasks.writing.checking import Written
from tasks.writing.one_by_one import NO_SENTENCE
from tasks.writing.settings import BuildWriterSettings
from tasks.writing.writer import Writer, open_writer

_ANSWERS_A_FILE = 20  # answers that a stop may cost on an object store, which has a file only once it is closed
_AHEAD = 4  # articles a thread, so that a slow one does not delay the others
Item = TypeVar("Item")
Made = TypeVar("Made")


def write_summaries(
    articles: pa.Table,  # ARTICLES and RANKED rows, sorted by article and rank
    ranked: pa.Table,
    settings: BuildWriterSettings,  # whom to ask, and for what
    *,
    parts: int,  # among how many equal parts of the work the budget is divided; this is one of them
    scratch: Scratch,  # where answers are kept, so that none is paid for twice
    at_once: int,  # articles at the same time
    device: str = "auto",  # where a model of entailment runs: auto | cpu | cuda | cuda:N
    progress: Callable[[Progress], None] | None = None,  # called after each article
    account: Account | None = None,  # where the money is written; None = nowhere
) -> pa.Table:
    """Return PREDICTIONS rows of every article of the test split that has a paragraph; the column of attention has
    their citations. An article whose answers hold nothing that the passages say has an empty summary, one beyond the
    budget no row. The metadata of its schema count requests, tokens, sentences, answers of each model that the server
    named, and articles without a summary by reason. Raises ChatError: the model cannot be asked, or failed for now to
    answer for some; ValueError: its context is too small, or the key is not there; BudgetSpentError: the account
    refuses; answers are kept."""
    every = list(passages_by_article(articles, ranked, "test"))
    if not every:
        return PREDICTIONS.schema.empty_table()
    rows: list[dict[str, Any]] = []
    tally: Counter[str] = Counter()
    failed: list[NoAnswerError] = []
    budget = settings.budget(parts)
    opened = open_writer(
        settings,
        words=settings.words,
        language=settings.language,
        answers=Answers(scratch.filesystem, scratch.path, rows=_ANSWERS_A_FILE),
        budget=budget,
        at_once=at_once,
        device=device,
    )
    ledgers = nullcontext() if account is None else account.ledger()
    with ledgers as budget.ledger, opened as writer, _pool(at_once) as pool:

        def work(article: tuple[str, str, str, Sequence[PilePassage]]) -> tuple[str, Written | NoAnswerError]:
            article_id, title, _, passages = article
            try:
                return article_id, writer.write(title, [passage.text for passage in passages])
            except NoAnswerError as fault:
                return article_id, fault

        for done, (article_id, written) in enumerate(in_order(pool, work, every, _AHEAD * at_once), 1):
            if not (isinstance(written, NoAnswerError) and written.reason == NOT_ASKED):
                rows.append(_row(article_id, settings.model, written))
            _count(tally, written)
            if isinstance(written, NoAnswerError) and written.reason not in OF_THE_REQUEST | {NO_SENTENCE}:
                failed.append(written)
            if progress is not None:
                spent = f"{budget.asked:,} requests, {budget.read + budget.written:,} tokens"
                progress(Progress(f"{done:,} of {len(every):,} articles, {spent}", done / len(every)))
    if failed:  # an absent answer must not become an empty summary that nobody asks for again
        raise ChatError(
            f"the language model {settings.address} gave no answer for {len(failed)} of {len(every)} articles, such as "
            f"{failed[0]}. All others are kept; run again, and these are asked for again"
        )
    tally |= {"requests": budget.asked, "tokens read": budget.read, "tokens written": budget.written}
    table = pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)
    return table.replace_schema_metadata({TALLY: json.dumps(tally)})


def most_asked(articles: pa.Table, ranked: pa.Table, settings: BuildWriterSettings) -> tuple[int, int, int]:
    """Return requests, tokens read and tokens written that a shard takes at most, kept answers not counted."""
    requests = read = written = 0
    with ChatClient(settings.model_copy(update={"key_variable": None}), "writer", None, Budget()) as client:
        writer = Writer(client, settings, settings.words, settings.language)
        for _, title, _, passages in passages_by_article(articles, ranked, "test"):
            try:
                most = writer.most(title, [passage.text for passage in passages])
            except NoAnswerError:  # no passage fits
                continue
            requests, read, written = requests + most[0], read + most[1], written + most[2]
    return requests, read, written


def _row(article_id: str, system: str, written: Written | NoAnswerError) -> dict[str, Any]:
    if isinstance(written, NoAnswerError):
        return prediction(article_id, system, "")
    summary = written.summary()
    attention = [] if summary.attention is None else summary.attention.tolist()
    return prediction(article_id, system, summary.text) | {"tokens": summary.tokens, "attention": attention}


def _count(tally: Counter[str], written: Written | NoAnswerError) -> None:
    if isinstance(written, NoAnswerError):
        tally[f"no summary: {written.reason}"] += 1
        return
    tally["sentences"] += sum(len(sentences) for _, sentences in written.sections)
    tally["sentences mended"] += written.mended
    tally["sentences left out"] += written.left_out
    tally.update({f"answers of {name or 'a model without a name'}": count for name, count in written.models.items()})


def in_order(
    pool: ThreadPoolExecutor, work: Callable[[Item], Made], items: Iterable[Item], ahead: int
) -> Iterator[Made]:
    """Yield what `work` makes of each item, in order, at most so many of them begun or waiting ahead of it."""
    waiting = deque[Future[Made]]()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Run so many threads. After an error no work begins, but answers that are paid for are awaited and kept."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="writer")
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        raise
    pool.shutdown()
