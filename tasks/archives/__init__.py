"""Web archives: captures of pages in WARC files, Common Crawl and the Internet Archive, and their answers."""
