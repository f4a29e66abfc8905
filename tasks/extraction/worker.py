"""The extracting process: reads pages from its standard input, writes what it finds, and may die of a page.

It bounds itself, so that nothing is left behind when the shard's process is killed: the kernel ends it when a page has
used up its processor time, in C code too, and refuses memory beyond its address space.
"""

import logging
import os
import resource
import signal
import sys
from dataclasses import asdict
from typing import Any

from lxml import etree

from tasks.extraction.engines import Extracted, extract
from tasks.extraction.frames import read_frame, write_frame
from tasks.extraction.settings import ExtractSettings


def main() -> None:
    """Serve pages until the input ends; end after a page that memory did not suffice for."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the shard's process ends this one
    logging.disable(logging.CRITICAL)  # engines log every page they find nothing in
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with answers
    pages = sys.stdin.buffer
    first = read_frame(pages)
    if first is None:
        return
    settings = ExtractSettings.model_validate(first[0])
    memory = settings.memory_mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    write_frame(answers, {"ready": True})
    while (frame := read_frame(pages)) is not None:
        signal.setitimer(signal.ITIMER_PROF, settings.cpu_seconds)  # SIGPROF ends the process: nobody handles it
        answer = _answer(*frame, settings)
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_frame(answers, answer)
        if answer["reason"] == "extraction_memory":
            return


def _answer(message: dict[str, Any], body: bytes, settings: ExtractSettings) -> dict[str, Any]:
    """Return the fields of `Extracted` for a page, whatever is wrong with it."""
    try:
        return asdict(extract(body, message["mime"], message["charset"], settings))
    except MemoryError:
        reason = "extraction_memory"
    except etree.LxmlError as error:  # without memory libxml2 finds a fault in the document, and no name for it
        lacking = any(sign in str(error) for sign in ("memory", "unknown error"))
        reason = "extraction_memory" if lacking else "extraction_failed"
    except Exception:  # noqa: BLE001  a page may find any fault in any engine; the next page is not concerned
        reason = "extraction_failed"
    return asdict(Extracted(None, (), None, reason))


if __name__ == "__main__":
    main()
