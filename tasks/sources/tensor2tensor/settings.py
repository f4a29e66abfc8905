"""Settings of the published WikiSum shards."""

from typing import Literal

from tasks.engine.settings import Settings


class Tensor2TensorSettings(Settings):
    """Where the published shards are stored."""

    urls: str = ""
    """folder or pattern of the URL shards, such as wiki_urls/ or wiki_urls.json-0004?-of-01000"""
    content: str = ""
    """folder or pattern of the content shards, such as wiki_content/ (wiki_content.tfrecords-…)"""
    split: Literal["files", "hash"] = "files"
    """files: theirs, by the number of the file: of every thousand dev 0-99, test 100-199, train 200-999 (the same
    tenths of another number of files); hash: ours, by title"""
