"""Common Crawl's columnar index: millions of URLs looked up in Parquet tables."""
