"""What asking a language model costs on our side: processor time a request, memory, requests in flight.

    python -m benchmarks.writer --articles 1000

A server in a process of its own answers after `--seconds` with sentences of the passages and one that none says, so
that each article takes two requests. The peer sends as many requests of the same size with httpx, as many at once,
and reads nothing of the answers. Then the articles are written once more, of kept answers."""

import json
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.fs as pafs

from benchmarks.frame import command
from storage.schemas import ARTICLES, RANKED
from tasks.engine.shard import Scratch
from tasks.writing.settings import BuildWriterSettings
from tasks.writing.stage import write_summaries
from tests.tasks.chat.chat_server import chat_server, sentences

PASSAGES = 20


def serve(pipe: Connection, seconds: float) -> None:
    """Serve until told to end; then send the bodies, and the most requests that were open together."""

    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        time.sleep(seconds)
        passages = json.loads(body["messages"][1]["content"].rpartition("\n\n")[0])["passages"]
        true = [(one["text"], [one["number"]]) for one in passages[:6]]
        return 200, sentences(*true, ("It fell down in 1066.", [1]))

    with chat_server(script) as chat:
        pipe.send(chat.url)
        pipe.recv()
        pipe.send(([body for _, _, body in chat.asked], chat.most_at_once))


def corpus(articles: int) -> tuple[pa.Table, pa.Table]:
    """Return articles with passages of 40 words on a tower each."""
    rows = [{"article_id": f"{n:05}", "title": f"Tower {n}", "lead": "", "split": "test"} for n in range(articles)]
    text = "Tower {} in the parish of Lund has {} steps of grey granite, which the mason Thomas Ridley cut in {}."
    ranked = [
        {"article_id": f"{n:05}", "rank": rank, "text": text.format(n, 100 + rank, 1800 + rank)}
        for n in range(articles)
        for rank in range(PASSAGES)
    ]
    return pa.Table.from_pylist(rows, ARTICLES.schema), pa.Table.from_pylist(ranked, RANKED.schema)


def main(articles: int = 1000, at_once: int = 16, seconds: float = 0.5) -> None:
    """Print processor milliseconds a request, of ours and of the peer's, peak memory, and a repeat."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, seconds), daemon=True)
    server.start()
    url = ours.recv()
    given = corpus(articles)
    settings = BuildWriterSettings(url=url, model="m", context=16_384)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("written", "repeated"):
            started, used = time.perf_counter(), time.process_time()
            scratch = Scratch(pafs.LocalFileSystem(), str(Path(folder)))
            table = write_summaries(*given, settings, parts=1, scratch=scratch, at_once=at_once)
            used, wall = time.process_time() - used, time.perf_counter() - started
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name}: {table.num_rows} articles, {wall:.1f} s, processor {used:.1f} s, peak {memory:,.0f} MB")
    requests = 2 * articles
    bodies = [
        {"model": "m", "messages": [{"role": "user", "content": "x"}, {"role": "user", "content": PEER}]}
    ] * requests
    used = time.process_time()
    with (
        httpx.Client(timeout=60, limits=httpx.Limits(max_connections=at_once)) as client,
        ThreadPoolExecutor(at_once) as pool,
    ):
        list(pool.map(lambda body: client.post(f"{url}/chat/completions", json=body).content, bodies))
    peer = time.process_time() - used
    ours.send("end")
    asked, most = ours.recv()
    print(f"{len(asked) - requests} requests of ours, {most} in flight at most")
    print(f"httpx alone: {1000 * peer / requests:.1f} ms of processor time a request")


PEER = json.dumps({"passages": [{"number": n, "text": "x" * 110} for n in range(PASSAGES)]}) + "\n\nWrite."

if __name__ == "__main__":
    command(main, __doc__)
