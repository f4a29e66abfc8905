"""The published WikiSum shards of Liu et al. 2018 as a source of articles."""
