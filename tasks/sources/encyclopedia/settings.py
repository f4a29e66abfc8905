"""Settings of encyclopedias that others have already parsed."""

from typing import Literal

from tasks.engine.settings import Settings

EncyclopediaLayout = Literal["structured", "megawika", "html"]


class EncyclopediaSettings(Settings):
    """Which files, in which layout. What counts as an article and as a reference is set in `source.wikitext`."""

    layout: EncyclopediaLayout = "structured"
    """structured: structured contents of Wikimedia Enterprise, such as wikimedia/structured-wikipedia on the hub;
    megawika: MegaWika 2 (jhu-clsp/megawika-2), whose cited pages are crawled; html: HTML dumps of Wikimedia Enterprise
    (enwiki-NS0-20250820-ENTERPRISE-HTML.json.tar.gz)"""
    paths: tuple[str, ...] = ()
    """files of one kind: .jsonl, .ndjson or .json with an object a line, also .gz; .tar.gz archives of such files;
    .parquet. Lines and Parquet are read in parts; a .gz or .tar.gz is one part, so unpack large ones. A path may hold
    *, ? or [ ]"""
