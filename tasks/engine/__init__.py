"""The engine that runs stages: shards, inputs and settings. It skips shards that are done, and records those that it
makes."""
