"""A client of OpenAI's chat completions, as Ollama, vLLM, llama.cpp, SGLang and hosted services speak them."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from tasks.chat.budget import Budget
from tasks.chat.completions import NOT_ASKED, THINKING_OFF, TOO_LONG, ChatAnswer, Message, NoAnswerError, tokens
from tasks.chat.connection import Connection
from tasks.chat.settings import ChatSettings, read_key
from tasks.engine.closing import Closing
from tasks.fetching.answers import Answers
from tasks.fetching.reasons import http_reason

_RETRIES = 3  # of a request that failed for now
_SILENT_IN_A_ROW = 5  # requests without an answer after which the service counts as unavailable
_WRONG_SETTINGS = frozenset(map(http_reason, (401, 403, 404)))  # every further request would fail too
_NOT_UNDERSTOOD = frozenset(map(http_reason, (400, 422)))
_STREAMED = {"stream": True, "stream_options": {"include_usage": True}}
_NEEDED = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "temperature"})
_UNNAMED = frozenset({"response_format", *THINKING_OFF})  # they do not change answers, so kept ones stay valid
_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"  # the name of gpt-5 and the o-series
# Where servers of /models say how many tokens a model reads and writes together: vLLM and SGLang, others, llama.cpp.
_CONTEXTS = ("max_model_len", "context_length", "n_ctx")


class ChatError(ValueError):
    """The language model cannot be asked, by these settings or for now; another request now would fail too."""


class LocalAnswers(Protocol):
    """A model of this process, which answers as `Connection` does."""

    url: str  # says which model it is: answers are kept by it

    def chat(self, body: Mapping[str, Any], heard: Callable[[int], None]) -> tuple[ChatAnswer, bool]:
        """As of `Connection`."""

    def models(self) -> tuple[int, bytes]:
        """As of `Connection`."""

    def close(self) -> None:
        """As of `Connection`."""


class ChatClient(Closing):
    """Asks one model, each request once; a context manager, usable from many threads. `budget`: what may be and was
    spent, kept answers included: they were paid for."""

    def __init__(
        self,
        settings: ChatSettings,
        section: str,
        answers: Answers | None,
        budget: Budget,
        *,
        connections: int = 1,
        total_seconds: float = 300.0,
        retries: int = _RETRIES,
        backoff_seconds: float = 2.0,
        here: LocalAnswers | None = None,
    ) -> None:
        """Make the client. Raises ValueError: the key is not there.

        `section`: name of the settings' section, for messages. `answers`: where they are kept, so that none is paid for
        twice, None = nowhere. `budget`: what may be spent. `connections`: requests at the same time. `total_seconds`:
        limit for one answer, and of a stream for its next part: a model on your own machine may take minutes.
        `retries`: further requests after one that failed for now. `backoff_seconds`: wait before the first, each
        further wait is twice as long. `here`: a model of this process that answers instead of the server."""
        self._settings, self._section, self._answers, self.budget = settings, section, answers, budget
        self._url = chat_url(settings.url) if here is None else here.url
        self._connection: Connection | LocalAnswers = here or Connection(
            self._url,
            read_key(settings, section),
            connections=connections,
            silent_seconds=total_seconds,
            retries=retries,
            backoff_seconds=backoff_seconds,
        )
        self._lock = threading.Lock()
        self._counted: set[str] = set()  # requests whose answers the budget has
        self._silent = 0
        self._refused: frozenset[str] = frozenset()  # fields that the server does not understand

    def close(self) -> None:
        """Close the connections and the file of answers."""
        self._connection.close()
        if self._answers is not None:
            self._answers.close()

    def ask(self, messages: Sequence[Message], heard: Callable[[int], None] | None = None, **fields: Any) -> ChatAnswer:
        """Return the model's answer, the kept one if there is one. `messages`: with `role` and `content`; `heard`: the
        answer is streamed, and this called with about how many tokens have come; `fields`: further fields of the
        request; those that the server refuses are left out. Only a whole completion with text is kept; of one that
        falls silent or repeats itself the part that came is returned. Raises NoAnswerError: there is none to this
        request; ChatError: the server refuses everybody, or does not answer any more."""
        request = {"model": self._settings.model, "temperature": 0, "messages": list(messages), **fields}
        known = {name: value for name, value in request.items() if name not in _UNNAMED}
        name = hashlib.sha256(json.dumps([self._url, known], sort_keys=True).encode()).hexdigest()
        with self._lock:
            kept = self._answers[name] if self._answers is not None and name in self._answers else None
            first = name not in self._counted
            self._counted.add(name)
        if kept is not None and kept["text"].strip():  # an earlier release kept answers without text
            answer = ChatAnswer(**kept)
            if first:
                self.budget.count(answer.read, answer.written)
            return answer
        most_read, most_written = tokens(messages), int(fields.get("max_tokens", 0))
        if not self.budget.take(most_read, most_written):
            raise NoAnswerError(NOT_ASKED)
        read = written = 0
        try:
            answer, whole = self._sent(request, heard)
            read, written = answer.read, answer.written
        except NoAnswerError as fault:
            self._check_there(fault)
            raise
        finally:
            self.budget.settle(read - most_read, written - most_written)
        if self._answers is not None and whole:
            with self._lock:
                self._answers.add(name, asdict(answer))
        return answer

    def check(self) -> int | None:
        """Check that the model can be asked; return the tokens that it reads and writes together, None if unknown.
        Raises ChatError: nobody answers, the key is refused, or the server has no such model; it names the setting."""
        where = f"{self._section}.url is {self._settings.url!r}"
        try:
            status, body = self._connection.models()
        except NoAnswerError as fault:
            raise ChatError(f"{where}: expected a server that answers, but {fault}") from fault
        if status in (401, 403):
            key = self._settings.key_variable
            raise ChatError(
                f"{where}: it refuses the key ({http_reason(status)}): expected {self._section}.key_variable to "
                f"name an environment variable with a valid one; it is {key!r}"
            )
        models = _models(body)
        if not models:  # a server without a list, or another address of one that has it
            if not urlsplit(self._settings.url).path.strip("/"):
                self._try(f"{where}: expected a base address such as {self._settings.url.rstrip('/')}/v1")
            return None
        mine = next((model for model in models if self._is_asked_for(str(model["id"]))), None)
        if mine is None:
            names = ", ".join(str(model["id"]) for model in models[:10])
            wanted = f"expected one that {self._settings.url} has, such as {names}"
            self._try(f"{self._section}.model is {self._settings.model!r}: {wanted}")
            return None
        places = (mine, mine.get("meta"))
        said = (place.get(name) for place in places if isinstance(place, dict) for name in _CONTEXTS)
        return next((number for number in said if isinstance(number, int) and number > 0), None)

    def _is_asked_for(self, name: str) -> bool:
        return self._settings.model in (name, name.removesuffix(":latest"))  # as Ollama calls a model without a tag

    def _try(self, wrong: str) -> None:
        """Ask for a token: some servers load models that they do not list. Raises ChatError, which begins with `wrong`,
        the setting that is the likely cause: there is none."""
        try:
            self._sent(
                {"model": self._settings.model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
            )
        except NoAnswerError as error:
            raise ChatError(f"{wrong}; asked, it says {error}") from error

    def _sent(self, request: Mapping[str, Any], heard: Callable[[int], None] | None = None) -> tuple[ChatAnswer, bool]:
        """Return the answer to a request that is sent now, and whether it is whole. A request that is not understood is
        sent again without the fields that the server names, and then without all that it may not know. Raises
        NoAnswerError: there is none."""
        request = request if heard is None else {**request, **_STREAMED}
        refused = self._refused
        while True:
            body = _without(request, refused)
            try:
                answer = self._connection.chat(body, heard or (lambda events: None))
            except NoAnswerError as fault:
                more = frozenset(_refused_in(fault, body))
                if not more:
                    raise
                refused |= more
                continue
            with self._lock:
                self._silent = 0
                self._refused |= refused
            return answer

    def _check_there(self, fault: NoAnswerError) -> None:
        """Raise ChatError if a request without an answer shows that further ones would fail too."""
        with self._lock:
            self._silent += fault.reason != TOO_LONG
            silent = self._silent
        if fault.hopeless or fault.reason in _WRONG_SETTINGS or silent >= _SILENT_IN_A_ROW:
            times = f", {silent} times in a row" if silent > 1 else ""
            raise ChatError(
                f"the language model at {self._url} gave no answer{times}: {fault}. What it "
                f"answered before is kept; check {self._section} and run again, or leave it out"
            ) from fault


def _without(request: Mapping[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    """Return a request without fields that were refused; the limit of tokens has a second name."""
    body = {name: value for name, value in request.items() if name not in refused}
    if _LIMIT in refused and _LIMIT in request and _NEW_LIMIT not in refused:
        body[_NEW_LIMIT] = request[_LIMIT]
    return body


def _refused_in(fault: NoAnswerError, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of a request that its refusal names, or all that not every server knows; none if they are not
    the cause."""
    if fault.reason not in _NOT_UNDERSTOOD:
        return
    # "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead." names the first of them.
    words = fault.words.replace(_NEW_LIMIT, "") if _LIMIT in body else fault.words
    named = [name for name in body if name in words and name not in ("model", "messages")]
    thinking = [name for name in body if name in THINKING_OFF]
    yield from named or thinking or (name for name in body if name not in _NEEDED)


def chat_url(url: str) -> str:
    """Return the address that chats are sent to, given it or the base address of the interface."""
    parts = urlsplit(url)
    path = parts.path.removesuffix("/").removesuffix("/chat/completions")
    return urlunsplit(parts._replace(path=f"{path}/chat/completions"))


def _models(body: bytes) -> list[dict[str, Any]]:
    try:
        result = json.loads(body)["data"]
        return [item for item in result if isinstance(item, dict) and "id" in item]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
