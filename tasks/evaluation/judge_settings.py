"""Settings of the optional judges of truth: models in local folders. None is ever fetched by its name."""

from typing import Literal

from pydantic import Field

from tasks.engine.settings import Settings, tuning

Judge = Literal["nli", "bertscore"]  # sections of `scoring`, each null where its judge is not asked


class NliSettings(Settings):
    """A model that says whether one text entails another; the digest of its files is part of the recipe."""

    folder: str = tuning(
        ...,
        "local folder of a sequence classification model in Hugging Face's layout: config.json with the labels "
        "entailment and contradiction, safetensors, tokenizer",
    )
    granularity: Literal["paragraph", "sentence"] = Field(
        "paragraph",
        description="what a sentence of a summary is held against for SummaC and NED: whole paragraphs, or their "
        "sentences, which are about four times as many pairs",
    )


class BertScoreSettings(Settings):
    """An encoder whose word vectors are compared; the digest of its files is part of the recipe."""

    folder: str = tuning(
        ..., "local folder of an encoder in Hugging Face's layout: config.json, safetensors, tokenizer"
    )
    layer: int = Field(
        ge=1, description="whose vectors count (`num_layers`; Zhang et al. 2020: 17 of roberta-large, 9 of bert-base)"
    )


class JudgesSettings(Settings):
    """Which judges are asked; a metric of one that is not set cannot be."""

    nli: NliSettings | None = Field(None, description="SummaC, NED and citations by entailment; null = off")
    bertscore: BertScoreSettings | None = Field(None, description="BERTScore against the lead; null = off")
    device: str = tuning("auto", "where models of judges run: auto | cpu | cuda | cuda:N")
