"""Settings of denoising pre-training, and whether a summarizer can have it; loads nothing heavy, because plans use
it."""

from pydantic import Field

from models.presets import find_preset
from tasks.engine.settings import MOST_TOKENS, Settings
from tasks.summarization.settings import SummarizerSettings


class PretrainingSettings(Settings):
    """How passages are made and corrupted; the summarizer and its training have their own sections."""

    passage_tokens: int = Field(256, ge=16, le=MOST_TOKENS)
    """most tokens of a passage: consecutive sentences of a page (Lewis et al. 2020: 512; here less, as summarizers for
    laptops read a few hundred tokens)"""


def check_pretraining(summarizer: SummarizerSettings, vocabulary_type: str | None) -> None:
    """Check that the settings are of a plain BART with a mask, else raise ValueError; a folder's vocabulary is None."""
    architecture = find_preset(summarizer.preset).architecture
    if architecture != "bart":
        raise ValueError(
            f"summarizer.preset is {summarizer.preset!r}, of architecture {architecture!r}: expected one of "
            "architecture 'bart', such as bart-small, for denoising pre-training"
        )
    if summarizer.form == "sentences":
        raise ValueError(
            f"summarizer.preset is {summarizer.preset!r}, with heads that see sentences, and passages have no mark "
            "before a sentence: expected a plain BART of the same sizes, from whose weights Hie-BART can start"
        )
    if vocabulary_type not in (None, "byte-bpe"):
        raise ValueError(
            f"vocabulary.model_type is {vocabulary_type!r}, which has no piece for hidden text: expected 'byte-bpe'"
        )
