"""Settings of denoising pre-training."""

from pydantic import Field

from tasks.engine.settings import Settings


class PretrainingSettings(Settings):
    """How passages are made and spoilt; the summarizer and its training are those of their own sections."""

    passage_tokens: int = Field(
        256,
        ge=16,
        description="most tokens of a passage: consecutive sentences of a page (Lewis et al. 2020: 512; here less, as "
        "summarizers for laptops read a few hundred tokens)",
    )
    masked_share: float = Field(
        0.3, gt=0, lt=1, description="share of tokens hidden, 0-1 (Lewis et al. 2020, sec. 4: .3)"
    )
    permute_sentences: bool = Field(
        True, description="whether a passage's sentences are in random order (Lewis et al. 2020, sec. 2.2)"
    )
