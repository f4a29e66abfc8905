"""How a flow runs: command line, session, Prefect executor, publishing, server, notification."""
