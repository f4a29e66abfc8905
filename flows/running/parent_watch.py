"""End a process when its parent ends. Imports nothing heavy, because it must run before heavy imports."""

import os
import threading
import time

_WATCH_SECONDS = 1.0


def end_with_parent(parent: int) -> None:
    """End this process when the process with id `parent`, which started it, has ended for any reason.

    Otherwise the workers of a killed build would continue beside the build that replaces it. The id is passed as an
    argument, because the parent may have ended before this process could ask for it.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
