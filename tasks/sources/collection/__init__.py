"""Published summarization corpora: files whose rows hold the documents of a topic and its summary."""
