"""The one mechanism: stages, shards, their inputs and settings; skipped if done, written whole, recorded."""
