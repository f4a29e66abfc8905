"""Processes that end with the one that started them. Imports nothing heavy: it must run before anything that does."""

import os
import threading
import time

_WATCH_SECONDS = 1.0


def end_with_parent(parent: int) -> None:
    """End this process when `parent`, the process id of the one that started it, is gone, however that ended.

    Otherwise a killed build would go on computing, and training, beside the one that was started in its place. The id
    is given, because the parent may be gone by the time this process can ask for it.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
