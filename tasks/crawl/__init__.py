"""The crawl of a shard of hosts: the frontier of its URLs, their order, and one row with an outcome for each."""
