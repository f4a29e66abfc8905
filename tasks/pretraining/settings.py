"""Settings of denoising pre-training."""

from pydantic import Field

from tasks.engine.settings import Settings


class PretrainingSettings(Settings):
    """How passages are made and spoilt; the summarizer and its training are those of their own sections."""

    passage_tokens: int = Field(256, ge=16)
    """most tokens of a passage: consecutive sentences of a page (Lewis et al. 2020: 512; here less, as summarizers for
    laptops read a few hundred tokens)"""
