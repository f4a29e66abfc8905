"""The process that makes summaries for the page, one after another, until the page's server ends."""

import logging
import os
import sys
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from flows.running.child_processes import end_with_parent


def main(pipe: Connection) -> None:
    """Answer requests: progress, then summary and pages, or an exception. Raises EOFError: nobody is left to ask."""
    from storage.errors import StorageError
    from tasks.cited_summary.pipeline import summarize
    from tasks.cited_summary.systems import chosen_system
    from tasks.engine.closing import on_sigterm

    model = pipe.recv()
    while True:
        title, question, given, choice, settings = pipe.recv()
        answer: Any
        try:
            with on_sigterm(_stop):  # at any other time there is nothing to remove, and the signal just ends it
                system, how = chosen_system(model, choice)
                answer = summarize(title, given, system, settings, question=question, choice=how, progress=pipe.send)
        except StorageError as error:  # it names folders of this machine, which are for its log
            logging.error("a summary failed: %s", error)
            answer = ValueError("the models of the server cannot be read; its log says why")
        except ValueError as error:
            answer = ValueError(str(error))
        except ConnectionError as error:  # of the pipe: pages that do not answer are not errors here
            raise EOFError from error
        except Exception as error:
            logging.exception("a summary failed")
            answer = RuntimeError(type(error).__name__)
        pipe.send(answer)


def _stop() -> NoReturn:
    raise SystemExit(143)  # as an exception, so that temporary files are removed and child processes ended


if __name__ == "__main__":
    end_with_parent(int(sys.argv[2]))
    try:
        main(Connection(int(sys.argv[1])))
    except (EOFError, ConnectionError):
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    os._exit(code)  # everything is closed by now, and Python would take seconds to take its libraries apart
