"""Files that are ZIP archives of XML: Word, slides, OpenDocument and EPUB, each read into the tree of a page."""
