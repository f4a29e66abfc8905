"""Settings of ranked WikiSum shards: which are read, and how they are written."""

from typing import Literal

from pydantic import Field

from tasks.engine.settings import Settings, tuning


class ImportSettings(Settings):
    """Where ranked shards are, and what is kept of them."""

    folder: str = tuning(..., "folder or URI with the shards, such as WIKI.train.0.pt")
    vocabulary: str = tuning(..., "file or URI of the SentencePiece model that the shards' ids are of")
    layout: Literal["pt", "json"] | None = tuning(
        None, "pt (Liu & Lapata) | json (GraphSum, with graphs); null = whichever the folder holds"
    )
    texts: Literal["evaluated", "all"] = Field(
        "evaluated",
        description="articles whose paragraphs are decoded into text: those of valid and test, as baselines and the "
        "report need it | all, as graphs of .pt shards and a ranker of one's own do",
    )
    sentence_marks: Literal["keep", "drop"] = Field(
        "keep",
        description="what becomes of <Q> between the sentences of a lead's ids: keep, as the released models learn "
        "them | drop, as the examples of our own corpora are; decoded text never shows them",
    )


class ExportSettings(Settings):
    """How ranked shards are written."""

    layout: Literal["pt", "json"] = Field("pt", description="pt (Liu & Lapata) | json (GraphSum, with graphs)")
    name: str = Field("WIKI", pattern=r"^[\w-]+$", description="first part of the shards' file names")
    sentence_marks: Literal["add", "keep"] = Field(
        "add",
        description="add: <Q> between the sentences of a lead's ids, as in the release | keep: the ids as they stand; "
        "a lead whose ids are not those of its sentences, one by one, is always left as it stands",
    )
