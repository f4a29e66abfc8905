"""Settings of ranked WikiSum shards that are read."""

from typing import Literal

from tasks.engine.settings import Settings, tuning


class ImportSettings(Settings):
    """The folder of ranked shards, and what is kept of them."""

    folder: str = tuning(...)
    """folder or URI with the shards, such as WIKI.train.0.pt"""
    vocabulary: str = tuning(...)
    """file or URI of the SentencePiece model that the shards' ids are of"""
    texts: Literal["evaluated", "all"] = "evaluated"
    """articles whose token ids are turned back into text: evaluated = those of valid and test, which baselines and
    report need | all = every one, which graphs of .pt shards and a ranker of your own need"""
    sentence_marks: Literal["keep", "drop"] = "keep"
    """the mark <Q> between the sentences of a lead: keep, as the released models learn it | drop, as corpora built here
    are without it; decoded text never shows it"""
