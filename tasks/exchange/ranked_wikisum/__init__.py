"""Other people's ranked WikiSum: `.pt` shards of Liu & Lapata and GraphSum's JSON to `examples`, and back."""
