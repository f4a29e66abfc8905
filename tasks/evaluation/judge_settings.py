"""Settings of the optional judges: models in local folders, and a language model behind a URL."""

from typing import Literal, get_args

from pydantic import Field

from tasks.chat.settings import ChatSettings
from tasks.engine.settings import Settings, tuning

Judge = Literal["nli", "bertscore", "judge"]  # sections of `scoring`, each null where its judge is not asked


class NliSettings(Settings):
    """A model that says whether one text entails another; the digest of its files is part of the recipe."""

    folder: str = tuning(...)
    """local folder of a sequence classification model in Hugging Face's layout: config.json with the labels entailment
    and contradiction, safetensors, tokenizer"""


class BertScoreSettings(Settings):
    """An encoder whose word vectors are compared; the digest of its files is part of the recipe."""

    folder: str = tuning(...)
    """local folder of an encoder in Hugging Face's layout: config.json, safetensors, tokenizer"""
    layer: int = Field(ge=1)
    """whose vectors count (`num_layers`; Zhang et al. 2020: 17 of roberta-large, 9 of bert-base)"""


class JudgeSettings(ChatSettings):
    """A language model that gives marks; the texts of articles and summaries are sent to it."""

    most_calls: int = Field(1_000, ge=1)
    """requests of one shard of articles; summaries beyond have no marks"""


class JudgesSettings(Settings):
    """Which judges are asked; a metric of one that is not set cannot be."""

    nli: NliSettings | None = None
    """SummaC, NED and citations by entailment; null = off"""
    bertscore: BertScoreSettings | None = None
    """BERTScore against the lead; null = off"""
    judge: JudgeSettings | None = None
    """marks of a language model; null = off"""

    @property
    def judged(self) -> bool:
        """Whether a judge is asked, which takes a while."""
        return any(getattr(self, judge) is not None for judge in get_args(Judge))
