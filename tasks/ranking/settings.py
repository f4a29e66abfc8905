"""Settings of the ranker, and of the order it puts paragraphs in."""

from typing import Literal, Self

from pydantic import Field, model_validator

from tasks.engine.settings import MOST_STEPS, MOST_TOKENS, Settings, tuning

ENCODER = "all-MiniLM-L6-v2"  # the folder's name for the model of the extra `wikisum[encoder]`
FOLDER_METHODS = ("sentence-encoder", "cross-encoder")  # those of a model in a local folder


class RankerSettings(Settings):
    """How the ranker is built and trained."""

    hidden: int = Field(256, ge=1, le=1_000_000)
    """size of both LSTMs (Liu & Lapata 2019, sec. 4), and of word embeddings (unstated there)"""
    learning_rate: float = Field(0.15, gt=0, le=100)
    """of Adagrad (Liu & Lapata 2019, sec. 4)"""
    initial_accumulator: float = Field(0.001, ge=0, le=1_000)
    """initial value of Adagrad's sums of squares (unstated in Liu & Lapata 2019): at 0 the first steps are so large
    that scores collapse, at .1 (See et al. 2017) labels of a few percent are learned slowly"""
    batch_paragraphs: int = Field(128, ge=1, le=1_000_000)
    """paragraphs a step"""
    steps: int = Field(200_000, ge=1, le=MOST_STEPS)
    """most optimizer steps"""
    validation_interval: int = Field(1_000, ge=1, le=MOST_STEPS)
    """steps between validations, each with a checkpoint"""


class RankingSettings(Settings):
    """How paragraphs are ranked."""

    keep: int = Field(40, ge=1, le=100_000)
    """L': best paragraphs kept of each article (Liu & Lapata 2019, Table 1 goes to 40)"""
    method: Literal["ranking", "similarity", "bm25", "sentence-encoder", "cross-encoder", "rouge", "found"] = "ranking"
    """order by the learned ranker, by tf-idf similarity with the title (Liu et al. 2018), by BM25, by the cosine of
    sentence vectors, by a cross-encoder that reads title and paragraph together, by ROUGE-2 recall against the lead
    itself, which only an upper bound may use, or as found (Liu & Lapata 2019, Table 2, no ranking)"""
    folder: str | None = tuning(None)
    """local folder of the model of sentence-encoder and cross-encoder, in Hugging Face's layout; `all-MiniLM-L6-v2` =
    the sentence encoder of the extra `wikisum[encoder]`. Its content is part of the recipe, its path is not. Nothing is
    downloaded"""
    batch_tokens: int = Field(16_384, ge=1, le=MOST_TOKENS)
    """paragraph tokens scored at a time, padding included; about 131,072 suits a GPU. Part of the recipe, because the
    last bits of a score, and so the order of all but equal ones, depend on it"""

    @model_validator(mode="after")
    def _folder_belongs_to_the_method(self) -> Self:
        if (self.folder is not None) != (self.method in FOLDER_METHODS):
            raise ValueError(
                f"method is {self.method!r} and folder {self.folder!r}: expected a folder for "
                f"{' and '.join(FOLDER_METHODS)}, and for no other method"
            )
        return self
