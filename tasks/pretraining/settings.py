"""Whether a summarizer can have denoising pre-training; loads nothing heavy, because plans use it."""

from models.presets import find_preset
from tasks.summarization.settings import SummarizerSettings


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
