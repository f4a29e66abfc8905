"""A Prefect server that ends with its parent: `python -m flows.running.server_process PORT PARENT`."""

import sys

from flows.running.parent_watch import end_with_parent


def main(port: int, parent: int) -> None:
    """Serve on 127.0.0.1; slow imports come after the start of the parent's watch."""
    end_with_parent(parent)
    import uvicorn
    from prefect.server.api.server import create_app

    uvicorn.run(create_app(ephemeral=True, final=True), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
