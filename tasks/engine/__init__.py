"""The engine that runs stages: shards, inputs and settings. What is done is skipped; what is made is recorded."""
