"""Arrow tables and the files they live in; knows nothing of Prefect, torch or HTML."""
