"""Settings of a language model that writes summaries."""

from typing import Literal, Self

from pydantic import Field, model_validator

from tasks.chat.budget import Budget, Price
from tasks.chat.settings import ChatSettings
from tasks.engine.settings import MOST_TOKENS, tuning
from tasks.text.language import LanguageCode

OUTLINED = 600  # words from which a summary has headings


class WriterSettings(ChatSettings):
    """A language model that writes summaries; titles and passages are sent to it."""

    unsupported: Literal["left out", "marked"] = "left out"
    """what becomes of a sentence that no passage says, after it was sent back once"""
    entailment: str | None = tuning(None)
    """local folder of a model of entailment, as `scoring.nli.folder`, which each sentence has to pass as well; null =
    none. The digest of its files is part of the recipe"""
    context: int | None = Field(None, ge=512, le=100_000_000)
    """tokens that the model reads and writes together; null = as the server says, or 4096"""
    thinking: int = Field(0, ge=0, le=MOST_TOKENS)
    """tokens for thinking before each answer; 0 = thinking is off where the server can turn it off"""
    seed: int = Field(1, ge=0, le=2**32 - 1)
    """sent with temperature 0, where the server takes one"""
    concurrency: int = tuning(4, ge=1, le=1000)
    """requests at the same time"""
    silent_seconds: float = tuning(300.0, gt=0, le=86_400)
    """limit for the next part of an answer, which comes as a stream; not asked again, it would take as long"""
    most_requests: int | None = Field(None, ge=1, le=10**9)
    """requests, at most; null = no limit"""
    most_tokens: int | None = Field(None, ge=1, le=10**15)
    """tokens read and written, at most; null = no limit"""
    most_dollars: float | None = Field(None, gt=0, le=1e9)
    """US dollars, at most, by the prices; null = no limit"""
    price_read: float = Field(0.0, ge=0, le=1e6)
    """US dollars for a million tokens that the model reads"""
    price_written: float = Field(0.0, ge=0, le=1e6)
    """US dollars for a million tokens that it writes"""

    @property
    def price(self) -> Price:
        """What tokens cost."""
        return Price(self.price_read, self.price_written)

    def budget(self, parts: int = 1) -> Budget:
        """Return what one of so many equal parts of the work may spend."""
        limits = (self.most_requests, self.most_tokens)
        requests, tokens = (None if limit is None else limit // parts for limit in limits)
        return Budget(requests, tokens, None if self.most_dollars is None else self.most_dollars / parts, self.price)

    @model_validator(mode="after")
    def _dollars_have_a_price(self) -> Self:
        if self.most_dollars is not None and not (self.price_read or self.price_written):
            raise ValueError(
                f"most_dollars is {self.most_dollars:g}: expected price_read or price_written, by which it is counted"
            )
        return self


class BuildWriterSettings(WriterSettings):
    """A language model as one more system of a build."""

    words: int = Field(150, ge=20, le=5000)
    """length to ask for; from 600 on, with headings"""
    language: LanguageCode | None = "en"
    """ISO 639-1 code; null = that of the passages"""
