"""Settings of what a summarizer reads, of the summarizer, its attention predictor and its search."""

import dataclasses
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from models.presets import COPYING, LEARNED_POSITIONS, OF_TRANSFORMERS, check_library, find_preset, sees_sentences
from models.search.settings import Guidance, SearchSettings
from models.tokenization.contract import TextForm
from tasks.engine.settings import MOST_STEPS, MOST_TOKENS, Settings, tuning
from tasks.text.entities import RULES

Graph = Literal["none", "similarity", "discourse"]


class VocabularySettings(Settings):
    """How the shared subword vocabulary is estimated, or where it comes from."""

    folder: str | None = tuning(None)
    """local folder of a Hugging Face model whose tokenizer.json, or vocab.json and merges.txt, is the vocabulary,
    instead of an estimated one; its content is part of the recipe, its path is not; null = that of
    summarizer.pretrained, if there is one"""
    pieces: int = Field(32_000, ge=300, le=10_000_000)
    """pieces wanted, special ones and bytes included (Liu & Lapata 2019, sec. 4); fewer where the corpus has fewer"""
    model_type: Literal["unigram", "bpe", "byte-bpe"] = "unigram"
    """segmentation model: unigram (as the released WikiSum vocabulary) and bpe by SentencePiece; byte-bpe is the
    byte-level BPE of BART (Lewis et al. 2020), in which any text can be spelt; it uses only `pieces` of this section"""
    character_coverage: float = Field(0.9995, gt=0.9, le=1)
    """share of characters that get a piece; the rest is spelt in bytes"""
    threads: int = Field(4, ge=1, le=128)
    """threads of SentencePiece; part of the recipe, because its sums, and so its bytes, depend on it"""


class GraphSettings(Settings):
    """How the graphs over ranked paragraphs are drawn."""

    similarity_threshold: float = Field(0.2, ge=0, le=1)
    """tf-idf cosine below which two paragraphs have no edge, 0-1 (Liu & Lapata 2019, app. A.1)"""
    spacy_pipeline: str = RULES
    """spaCy pipeline that finds entities: `rules` is shipped and goes by capitals; any other, such as en_core_web_sm,
    must be installed (Liu & Lapata 2019, app. A.2 footnote 3)"""


class ExampleSettings(Settings):
    """How much of an article an example keeps of each ranked paragraph (`ranking.keep` of them) and of the lead. A
    summarizer's own layout cuts further (24 paragraphs in training, Liu & Lapata 2019, sec. 4), so that one set of
    examples serves systems, and tests on longer inputs than were trained on."""

    paragraph_tokens: int = Field(200, ge=1, le=MOST_TOKENS)
    """tokens of a paragraph kept"""
    target_tokens: int = Field(1_000, ge=2, le=MOST_TOKENS)
    """tokens of the lead kept, begin and end included; a cut lead has no end token"""
    supported_by: int | None = Field(None, ge=1, le=1_000)
    """learn only those sentences of a lead whose names, numbers and dates all occur in the title or in this many best
    paragraphs, because the others teach to invent (Nan et al. 2021); leads of test articles stay whole; null = all
    sentences"""


class SummarizerSettings(Settings):
    """Which summarizer, and what it reads of an article."""

    preset: str = "ht"
    """a summarizer of models/registry.py; ht is that of Liu & Lapata 2019 as released"""
    pretrained: str | None = tuning(None)
    """local folder of a Hugging Face checkpoint of the preset's architecture and size, from whose weights training
    starts and whose tokenizer is the vocabulary; its content is part of the recipe, its path is not. Nothing is
    downloaded; null = fresh weights"""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """fields of the preset's architecture to change, such as {decoder_layers: 6}"""
    graph: Graph = "none"
    """paragraph graph instead of one learned attention head (Liu & Lapata 2019, eq. 24): none | similarity |
    discourse"""
    copying: bool = False
    """whether words of the source may be copied, as a pointer-generator does (See et al. 2017)"""
    slots: bool = False
    """whether each name and number of an article becomes one piece, which differs between articles
    (`models/value_slots.py`); needs copying, because such pieces have no meaning of their own, and a vocabulary that
    the build estimates"""
    max_paragraphs: int = Field(24, ge=1, le=100_000)
    """best ranked paragraphs read (Liu & Lapata 2019, sec. 4: 24)"""
    max_paragraph_tokens: int = Field(100, ge=2, le=MOST_TOKENS)
    """tokens read of a paragraph, the title in the first one included (Ma & Zong 2020, sec. 4.2: 100)"""
    max_source_tokens: int | None = Field(None, ge=1, le=MOST_TOKENS)
    """tokens read of all paragraphs together; null = all (Liu & Lapata 2019, sec. 4: FT reads 600 to 1,200)"""
    truncation: Literal["end", "each"] = "end"
    """where a source of more tokens than may be read is cut: at the end of all paragraphs together, or each at the end
    of an equal share (Shen et al. 2023, app. C)"""
    max_target_tokens: int = Field(400, ge=2, le=MOST_TOKENS)
    """tokens of a lead learned, begin and end included"""

    @property
    def form(self) -> TextForm:
        """In which form the summarizer reads text."""
        if sees_sentences(self.preset, self.overrides):
            return "sentences"
        return "slots" if self.slots and self.copying and self.pretrained is None else "plain"

    @property
    def extracts_first(self) -> bool:
        """Whether the summarizer's encoder is first trained to extract sentences (BERTSUMEXTABS)."""
        return bool({**find_preset(self.preset).settings, **self.overrides}.get("extraction_layers"))

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        architecture = find_preset(self.preset).architecture
        if self.copying and architecture not in COPYING:
            raise ValueError(
                f"copying: preset {self.preset!r} is of architecture {architecture!r}, which cannot copy, expected one "
                f"of: {', '.join(COPYING)}"
            )
        try:
            check_library(architecture)
        except ValueError as error:
            raise ValueError(f"preset {self.preset!r}: {error}") from error
        if self.graph != "none" and architecture in ("bart", *OF_TRANSFORMERS):
            raise ValueError(
                f"graph is {self.graph!r}: preset {self.preset!r} is of architecture {architecture!r}, which reads no "
                "graph, expected 'none'"
            )
        if self.overrides:
            from models.registry import check_configuration  # here, because it loads torch, which takes seconds

            check_configuration(self.preset, self.overrides)
        return self


class TrainingSettings(Settings):
    """How a summarizer is trained."""

    steps: int = Field(500_000, ge=0, le=MOST_STEPS)
    """updates of the weights; 0 = the weights of summarizer.pretrained unchanged (Liu & Lapata 2019, sec. 4:
    500,000)"""
    batch_tokens: int = Field(10_500, ge=16, le=MOST_TOKENS)
    """source tokens, and target tokens, of a batch, padding included (released HT: 10,500)"""
    accumulation: int = Field(4, ge=1, le=100_000)
    """batches an update sees, on all processes together (released HT: 4)"""
    processes: int | None = Field(None, ge=1, le=10_000)
    """processes that train together and share the batches of an update equally; null = one for each GPU of the machine,
    as far as they divide accumulation, 1 on a CPU. Device auto allows at most as many as GPUs. Each draws its
    own dropout, so the result depends on it"""
    schedule: Literal["noam", "linear", "constant"] = "noam"
    """learning rate after the warm-up: noam falls with the square root of steps (Vaswani et al. 2017), linear falls to
    0 at the last step, constant stays (without warm-up)"""
    learning_rate_factor: float = Field(3.0, gt=0, le=1_000)
    """factor of the noam schedule (released HT: 3)"""
    learning_rate: float = Field(2e-5, gt=0, le=10)
    """learning rate of the constant schedule, and the highest of the linear one"""
    warmup: int = Field(8000, ge=1, le=MOST_STEPS)
    """steps of warm-up, of a linear schedule at most half of all (Liu & Lapata 2019, sec. 4: 8,000)"""
    label_smoothing: float = Field(0.1, ge=0, lt=1)
    """probability spread over all pieces (Liu & Lapata 2019, sec. 4: .1)"""
    dropout: float | None = Field(None, ge=0, lt=1)
    """dropout; null = the preset's (Liu & Lapata 2019, sec. 4: .1)"""
    clip_norm: float | None = Field(None, gt=0, le=1e6)
    """largest gradient norm; null = no limit"""
    validation_articles: int = Field(4000, ge=1, le=10_000_000)
    """articles of the valid split that are validated on, at most"""
    validation_interval: int = Field(2500, ge=1, le=MOST_STEPS)
    """steps between validations, each with a checkpoint"""
    keep_best: int = Field(5, ge=1, le=10_000)
    """checkpoints kept, best by validation loss (Liu & Lapata 2019, sec. 4: 5)"""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """bfloat16 computes in it and keeps float32 weights; auto: bfloat16 on CUDA, else float32"""
    max_seconds: float | None = Field(None, gt=0, le=366 * 86_400)
    """time budget in seconds; null = no limit. With one, the result depends on the machine"""
    torch_threads: int = Field(2, ge=1, le=1_024)
    """threads of torch on a CPU; part of the recipe, because the last bits of sums depend on it"""
    log_interval: int = tuning(50, ge=1, le=MOST_STEPS)
    """steps between lines of metrics.jsonl and reports of progress"""
    decoded_articles: int = tuning(8, ge=0, le=100_000)
    """validation articles decoded greedily for ROUGE at each validation; 0 = none"""
    compile: bool = tuning(False)
    """compile the model with torch.compile"""

    @model_validator(mode="after")
    def _processes_share_equally(self) -> Self:
        if self.processes is not None and self.accumulation % self.processes:
            raise ValueError(
                f"processes is {self.processes}: expected a divisor of accumulation, which is {self.accumulation}, so "
                "that each process has as many batches of an update"
            )
        return self


class AttentionSettings(Settings):
    """How the attention predictor is trained; its batches and validations are those of `training`."""

    steps: int = Field(100_000, ge=1, le=MOST_STEPS)
    """updates of the weights (Ma & Zong 2022, sec. 5.2: about 100,000)"""
    learning_rate_factor: float = Field(1.0, gt=0, le=1_000)
    """factor of the noam schedule, Vaswani et al. 2017 (unstated in Ma & Zong 2022)"""
    warmup: int = Field(16_000, ge=1, le=MOST_STEPS)
    """steps of warm-up (Ma & Zong 2022, sec. 5.2, of PHT: 16,000)"""


class DecodingSettings(Settings):
    """How summaries are searched for; the defaults are those of Liu & Lapata 2019."""

    beam: int = Field(5, ge=1, le=1_000)
    """hypotheses kept for an article (Liu & Lapata 2019, sec. 4: 5)"""
    normalisation: Literal["wu", "average", "none"] = "wu"
    """what a log-probability is divided by: Wu's length penalty (Liu & Lapata 2019), its length (Ma & Zong 2020),
    nothing"""
    alpha: float = Field(0.4, ge=0, le=100)
    """exponent of Wu's length penalty (Liu & Lapata 2019, sec. 4: .4)"""
    length_exponent: float = Field(1.0, ge=0, le=100)
    """exponent of the length of normalisation average (Ma & Zong 2020: 1); of a checkpoint that is fine-tuned the
    length_penalty that its folder states, bart-large-cnn's is 2"""
    min_length: int = Field(20, ge=0, le=MOST_TOKENS)
    """fewest tokens of a summary (released HT: 20)"""
    max_length: int = Field(400, ge=1, le=MOST_TOKENS)
    """most tokens of a summary (released HT: 400)"""
    block_ngrams: int = Field(0, ge=0, le=1_000)
    """n: no n-gram twice in a summary; 0 = off (Ma & Zong 2020, sec. 4.2: 3)"""
    block_recent: int = Field(0, ge=0, le=MOST_TOKENS)
    """no token equals one of this many before it, commas excepted; 0 = off (Ma & Zong 2020, sec. 4.2: 2)"""
    as_transformers: bool = False
    """whether a search ends like generate of the transformers library, which Shen et al. 2023 used: only once no live
    hypothesis beats the worst of the best that ended, and with an end token that costs nothing at max_length"""
    alignment: Literal["none", "predicted", "ranked"] = "none"
    """whether hypotheses are preferred whose attention to paragraphs is as expected: no, as the attention predictor
    expects (attAlign, Ma & Zong 2022, eq. 17-18), or as the ranker's scores say (extProb, Ma & Zong 2022, sec. 5.3)"""
    beta: ClassVar[float] = 0.8  # weight of the alignment in a score (Ma & Zong 2022, sec. 5.3)
    alignment_when: ClassVar[str] = "step"  # Ma & Zong 2022, eq. 17; the released code has it once a hypothesis ends
    coverage: float = Field(0.0, ge=0, le=1_000)
    """weight of the structural coverage of paragraphs (strCov, Ma & Zong 2022, eq. 13); 0 = off"""
    compressed_paragraphs: int | None = Field(None, ge=1, le=100_000)
    """s, paragraphs of highest predicted attention that are read (Ma & Zong 2022, Table 6); null = all"""
    source_values: bool = False
    """whether only names and numbers of the input may be written"""
    prompt_title: ClassVar[bool] = False  # no summary is made to begin with the title
    max_paragraphs: int | None = Field(None, ge=1, le=100_000)
    """paragraphs read; null = as many as in training"""
    max_paragraph_tokens: ClassVar[None] = None  # read of each paragraph: as many as in training
    max_source_tokens: int | None = Field(None, ge=1, le=MOST_TOKENS)
    """tokens read of all; null = as in training (Liu & Lapata 2019 test at 1,600 and 3,000)"""
    checkpoint: int = Field(0, ge=0, le=10_000)
    """which of the best checkpoints by validation loss; 0 = the best"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """of the computation; weights are float32"""
    batch_articles: int = Field(16, ge=1, le=100_000)
    """articles decoded at a time; part of the recipe, because the last bits of sums depend on it"""

    @model_validator(mode="after")
    def _lengths_leave_room(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length is {self.min_length}: expected at most max_length, which is {self.max_length}"
            )
        return self

    @model_validator(mode="after")
    def _predictor_knows_the_best_checkpoint(self) -> Self:
        if self.guidance.reads_predictor and self.checkpoint:
            raise ValueError(
                "the attention predictor learned from the best checkpoint of its summarizer: expected checkpoint 0 "
                f"where predicted attention is asked for, got {self.checkpoint}"
            )
        return self

    @property
    def guidance(self) -> Guidance:
        """The data about paragraphs that a search uses."""
        return Guidance(self.alignment, self.beta, self.coverage, self.compressed_paragraphs)

    @property
    def lengths(self) -> dict[str, Any]:
        """The lengths of a layout that decoding changes."""
        asked = {"max_paragraphs": self.max_paragraphs, "max_source_tokens": self.max_source_tokens}
        return {name: length for name, length in asked.items() if length is not None}

    def search(self) -> SearchSettings:
        """Return the settings of `beam_search`. Raises ValueError: min_length is above max_length."""
        names = (field.name for field in dataclasses.fields(SearchSettings) if field.name in type(self).model_fields)
        return SearchSettings(**{name: getattr(self, name) for name in names})


def check_lengths(settings: SummarizerSettings, longest: int, setting: str) -> None:
    """Check that the `longest` target or summary, in tokens, fits the learned positions of an architecture that has
    such; `setting` asks for it. Raises ValueError: there are fewer positions."""
    preset = find_preset(settings.preset)
    if preset.architecture not in LEARNED_POSITIONS:
        return
    fields = {**preset.settings, **settings.overrides}
    positions = fields.get("max_positions", LEARNED_POSITIONS[preset.architecture])
    if longest > positions:
        raise ValueError(
            f"{setting} needs {longest} positions of the decoder, and preset {settings.preset!r} has {positions} "
            "(max_positions among summarizer.overrides)"
        )
