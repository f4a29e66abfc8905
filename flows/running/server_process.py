"""A Prefect server that ends with its parent: `python -m flows.running.server_process SOCKET PARENT`."""

import socket
import sys

from flows.running.child_processes import end_with_parent


def main(number: int, parent: int) -> None:
    """Serve on the listening socket of this file number; slow imports come after the start of the parent's watch."""
    end_with_parent(parent)
    import uvicorn
    from prefect.server.api.server import create_app

    with socket.socket(fileno=number) as listening:
        config = uvicorn.Config(create_app(ephemeral=True, final=True), log_level="error")
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
