"""Export of a corpus as a folder of Parquet files with a data card, which other people's tools read."""
