"""The settings of a search."""

from dataclasses import dataclass
from typing import Literal, get_args

LengthNormalisation = Literal["wu", "average", "none"]
Alignment = Literal["none", "predicted", "ranked"]


@dataclass(frozen=True)
class SearchSettings:
    """How summaries are searched for; the defaults are Liu & Lapata's (2019) (sec. 4 and its released code)."""

    beam: int = 5  # K, hypotheses kept for an article
    # divisor of a log-probability: "wu" ((5 + |y|) / 6)^alpha, "average" |y|^length_exponent (Ma & Zong 2020, sec. 4.2,
    # Ma & Zong 2022, eq. 17: exponent 1), "none" 1. |y| counts the end token
    normalisation: LengthNormalisation = "wu"
    alpha: float = 0.4  # exponent of the Wu length penalty; 0 = no penalty
    # exponent of the length under "average": `lenpen` of fairseq, `length_penalty` of transformers
    length_exponent: float = 1.0
    min_length: int = 20  # minimum number of tokens of a summary, without the end token
    # maximum number of tokens of a summary, without the end token; a hypothesis of this length must end, and the
    # log-probability of its end token counts unless `as_transformers` is set
    max_length: int = 400
    block_ngrams: int = 0  # n: no n-gram may occur twice in a summary (Ma & Zong 2020, sec. 4.2: 3); 0 = off
    # no token may equal one of this many tokens before it (Ma & Zong 2020, sec. 4.2: 2, except commas); 0 = off
    block_recent: int = 0
    allow_unknown: bool = False  # whether the unknown token may be generated
    # whether a search ends as `generate` of the transformers library does by default. At the greatest length the end
    # token is given, not chosen, so its log-probability is 0 (`forced_eos_token_id`); and a search continues until no
    # live hypothesis is better than the worst of the K best that have ended, where ours compares with the best of them
    as_transformers: bool = False

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError(f"beam must be at least 1, got {self.beam}")
        if not 0 <= self.min_length <= self.max_length:
            raise ValueError(
                f"expected 0 <= min_length <= max_length, got {self.min_length} and {self.max_length} tokens"
            )
        if self.normalisation not in get_args(LengthNormalisation):
            raise ValueError(
                f"unknown normalisation {self.normalisation!r}, expected one of {get_args(LengthNormalisation)}"
            )
        if self.block_ngrams < 0 or self.block_recent < 0:
            raise ValueError(
                f"block_ngrams and block_recent cannot be negative, got {self.block_ngrams} and {self.block_recent}"
            )

    def normaliser(self, length: int) -> float:
        """Return the divisor of the log-probability of a hypothesis of `length` tokens, the end token included."""
        if self.normalisation == "wu":
            return float(((5 + length) / 6) ** self.alpha)
        return float(length**self.length_exponent) if self.normalisation == "average" else 1.0


@dataclass(frozen=True)
class Guidance:
    """Score terms besides the log-probability, and compression of the source; all of them can be combined."""

    # which attention to paragraphs is expected of a summary: none, the predictor's output (attAlign), or the ranker's
    # normalised scores (extProb)
    alignment: Alignment = "none"
    beta: float = 0.8  # weight of the alignment, at every step; the released code has it only when a hypothesis ends
    coverage: float = 0.0  # weight of the structural coverage; 0 = off
    kept: int | None = None  # s, number of paragraphs of highest predicted attention to read; None = all

    @property
    def reads_predictor(self) -> bool:
        """Whether an attention predictor is needed."""
        return self.alignment == "predicted" or self.kept is not None

    @property
    def reads_scores(self) -> bool:
        """Whether the ranker's scores are needed."""
        return self.alignment == "ranked"
