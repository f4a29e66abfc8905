"""A client of OpenAI's chat completions, as Ollama, vLLM, llama.cpp, SGLang and hosted services speak them."""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tasks.chat.budget import Budget
from tasks.chat.settings import ChatSettings, read_key
from tasks.crawl.answers import Answers
from tasks.crawl.http import Response
from tasks.crawl.reasons import PageReason, http_reason
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Patience, Service
from tasks.crawl.settings import CrawlSettings
from tasks.engine.closing import Closing

_MOST_BYTES = 1_000_000  # of an answer
_EVENT = 40  # times as many where each token is an event
_RETRIES = 3  # of a request that failed for now
_LONGEST_WAIT = 120.0  # seconds before a retry, whatever the service asks for
_SILENT_IN_A_ROW = 5  # requests without an answer after which the service is taken to be away
_WRONG_SETTINGS = frozenset(map(http_reason, (401, 403, 404)))  # every further request would end so too
_NOT_UNDERSTOOD = frozenset(map(http_reason, (400, 422)))
_STREAMED = {"stream": True, "stream_options": {"include_usage": True}}
_OPTIONAL = frozenset({"response_format", "seed", *_STREAMED})  # fields that not every server knows
_CHARACTERS = 3  # a token, at least: English has 4, and the budget must not be exceeded
# Where servers of /models say how many tokens a model reads and writes together: vLLM and SGLang, others, llama.cpp.
_CONTEXTS = ("max_model_len", "context_length", "n_ctx")

NOT_ASKED = "not_asked"  # the reason where the budget is spent
Message = Mapping[str, str]


class ChatError(ValueError):
    """The language model cannot be asked at all, by these settings or for now; asked again at once, it would end so."""


class NoAnswerError(Exception):
    """There is no answer to one request; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class ChatAnswer:
    """An answer, as it is kept."""

    text: str  # what the model wrote; empty where the server sent no completion
    model: str = ""  # who wrote it, as the server says; a name may stand for another model later
    read: int = 0  # tokens
    written: int = 0  # tokens
    cut: bool = False  # whether it ended at its limit of tokens


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
    ) -> None:
        """Make the client. Raises ValueError: the key is not there.

        `section`: where the settings stand, for messages; `answers`: where they are kept, so that none is paid for
        twice, None = nowhere; `budget`: what may be spent; `connections`: requests at the same time; `total_seconds`:
        limit for one answer: a model on a machine of one's own may take minutes; `retries`: further requests after one
        that failed for now; `backoff_seconds`: wait before the first, each further wait is twice as long."""
        key = read_key(settings, section)
        self._settings, self._section, self._answers, self.budget = settings, section, answers, budget
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._url = chat_url(settings.url)
        # Nothing comes before the whole answer does, so that one wait for data may take as long as all of it.
        web = CrawlSettings(read_seconds=total_seconds)
        at_once = Patience(total_seconds, 0, backoff_seconds, _LONGEST_WAIT)
        open_service = partial(Service, self._url, web, connect_to={}, delay_seconds=0, connections=connections)
        self._service = open_service(patience=replace(at_once, retries=retries))
        self._checking = open_service(patience=at_once)  # nobody waits for a server that is not there
        self._lock = threading.Lock()
        self._counted: set[str] = set()  # requests whose answers the budget has
        self._silent = 0
        self._plain = False  # whether the server does not understand the optional fields

    def close(self) -> None:
        """Close the connections and the file of answers."""
        self._service.close()
        self._checking.close()
        if self._answers is not None:
            self._answers.close()

    def ask(self, messages: Sequence[Message], heard: Callable[[int], None] | None = None, **fields: Any) -> ChatAnswer:
        """Return the model's answer, the kept one if there is one. `messages`: with `role` and `content`; `heard`: the
        answer is streamed, and this called with about how many tokens have come; `fields`: further fields of the
        request; those that not every server knows are left out for such a one. A part of an answer is none. Raises
        NoAnswerError: there is none to this request; ChatError: the server refuses everybody, or does not answer any
        more."""
        request = {"model": self._settings.model, "temperature": 0, "messages": list(messages), **fields}
        known = {name: value for name, value in request.items() if name != "response_format"}
        name = hashlib.sha256(json.dumps([self._url, known], sort_keys=True).encode()).hexdigest()
        with self._lock:
            kept = self._answers[name] if self._answers is not None and name in self._answers else None
            first = name not in self._counted
            self._counted.add(name)
        if kept is not None:
            answer = ChatAnswer(**kept)
            if first:
                self.budget.count(answer.read, answer.written)
            return answer
        most_read, most_written = tokens(messages), int(fields.get("max_tokens", 0))
        if not self.budget.take(most_read, most_written):
            raise NoAnswerError(NOT_ASKED)
        read = written = 0
        try:
            answer = self._sent(request, heard)
            read, written = answer.read, answer.written
        except NoAnswerError as fault:
            self._check_there(fault.reason)
            raise
        finally:
            self.budget.settle(read - most_read, written - most_written)
        if self._answers is not None:
            with self._lock:
                self._answers.add(name, asdict(answer))
        return answer

    def check(self) -> int | None:
        """See that the model can be asked; return the tokens that it reads and writes together, None if nobody says.
        Raises ChatError: nobody answers, the key is refused, or the server has no such model; it names the setting."""
        where = f"{self._section}.url is {self._settings.url!r}"
        try:
            found = self._checking.get(
                self._url.replace("/chat/completions", "/models"), max_bytes=_MOST_BYTES, headers=self._headers
            )
        except FetchError as fault:
            raise ChatError(f"{where}: expected a server that answers, but {fault}") from fault
        if found.status in (401, 403):
            key = self._settings.key_variable
            raise ChatError(
                f"{where}: it refuses the key ({http_reason(found.status)}): expected {self._section}.key_variable to "
                f"name an environment variable with a valid one; it is {key!r}"
            )
        models = _models(found)
        if not models:  # a server without a list
            return None
        mine = next((one for one in models if self._is_asked_for(str(one["id"]))), None)
        if mine is None:
            self._try(", ".join(str(one["id"]) for one in models[:10]))
            return None
        places = (mine, mine.get("meta"))
        said = (place.get(name) for place in places if isinstance(place, dict) for name in _CONTEXTS)
        return next((number for number in said if isinstance(number, int) and number > 0), None)

    def _is_asked_for(self, name: str) -> bool:
        return self._settings.model in (name, name.removesuffix(":latest"))  # as Ollama calls a model without a tag

    def _try(self, names: str) -> None:
        """Ask for a token: some servers load models that they do not list."""
        try:
            self._sent(
                {"model": self._settings.model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
            )
        except NoAnswerError as error:
            raise ChatError(
                f"{self._section}.model is {self._settings.model!r}: expected one that {self._settings.url} has, such "
                f"as {names}; asked for this one, it says {error}"
            ) from error

    def _sent(self, request: Mapping[str, Any], heard: Callable[[int], None] | None = None) -> ChatAnswer:
        """Return the answer to a request that is sent now. Raises NoAnswerError: there is none."""
        plain = {name: value for name, value in request.items() if name not in _OPTIONAL}
        request = request if heard is None else {**request, **_STREAMED}
        for body in [plain] if self._plain or plain == request else [request, plain]:
            reason = None
            try:
                status, answer = self._service.read(
                    self._url,
                    partial(_read, body),
                    body=json.dumps(body).encode(),
                    max_bytes=_MOST_BYTES if heard is None else _EVENT * _MOST_BYTES,
                    headers=self._headers,
                    heard=None if heard is None else _Counter(heard),
                )
                if answer is not None:
                    with self._lock:
                        self._silent = 0
                        self._plain |= body != request
                    return answer
                reason = http_reason(status)
            except FetchError as fault:
                reason = fault.reason
            if reason not in _NOT_UNDERSTOOD:
                break
        assert reason is not None
        raise NoAnswerError(reason)

    def _check_there(self, reason: str) -> None:
        """Raise ChatError if, after a request without an answer, no further one would have any."""
        with self._lock:
            self._silent += 1
            silent = self._silent
        if reason in _WRONG_SETTINGS or silent >= _SILENT_IN_A_ROW:
            raise ChatError(
                f"the language model at {self._url} gave no answer, {silent} times in a row: {reason}. What it "
                f"answered before is kept; check {self._section} and run again, or leave it out"
            )


def chat_url(url: str) -> str:
    """Return the address that chats are sent to, given it or the base address of the interface."""
    parts = urlsplit(url)
    path = parts.path.removesuffix("/").removesuffix("/chat/completions")
    return urlunsplit(parts._replace(path=f"{path}/chat/completions"))


def tokens(messages: Sequence[Message]) -> int:
    """Return how many tokens messages have at most, by their bytes, as no tokenizer of theirs is here."""
    return sum(len(message["content"].encode()) // _CHARACTERS + 8 for message in messages)


def _models(answer: Response) -> list[dict[str, Any]]:
    try:
        found = json.loads(answer.body)["data"]
        return [one for one in found if isinstance(one, dict) and "id" in one]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


class _Counter:
    """Counts the events of a stream, which are about its tokens, and says how many have come."""

    def __init__(self, heard: Callable[[int], None]) -> None:
        self._heard, self._events = heard, 0

    def __call__(self, block: bytes) -> None:
        self._events += block.count(b"data:")
        self._heard(self._events)


def _whole(answer: Response) -> Any:
    """Return a completion, put together where it came in events. Raises FetchError: they end before it does;
    ValueError, KeyError, IndexError, TypeError: it is none."""
    if not answer.headers.get("content-type", "").startswith("text/event-stream"):
        return json.loads(answer.body)
    lines = [line.removeprefix(b"data:").strip() for line in answer.body.splitlines() if line.startswith(b"data:")]
    try:
        events = [json.loads(line) for line in lines if line != b"[DONE]"]
    except ValueError as error:  # it ends within one
        raise FetchError(PageReason.TRUNCATED_BODY, "a stream", transient=True) from error
    choices = [event["choices"][0] for event in events if event.get("choices")]
    ends = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    if any("error" in event for event in events) or not (ends or b"[DONE]" in lines):
        raise FetchError(PageReason.TRUNCATED_BODY, "a stream", transient=True)
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    last = {name: event[name] for event in events for name in ("model", "usage") if event.get(name)}
    return {**last, "choices": [{"message": {"content": text}, "finish_reason": ends[-1] if ends else None}]}


def _read(request: Mapping[str, Any], answer: Response) -> tuple[int, ChatAnswer | None]:
    """Return the status of a response, and what it holds if it is a success; an empty text where that is no completion.
    Raises FetchError: it is not all there."""
    if not answer.success:
        return answer.status, None
    try:
        found = _whole(answer)
        choice = found["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return answer.status, ChatAnswer("")
    text = content if isinstance(content, str) else ""
    usage = found.get("usage")
    counts = usage if isinstance(usage, dict) else {}

    def counted(name: str, otherwise: int) -> int:
        number = counts.get(name)
        return number if isinstance(number, int) and number >= 0 else otherwise

    return answer.status, ChatAnswer(
        text,
        str(found.get("model", "")),
        counted("prompt_tokens", tokens(request["messages"])),
        counted("completion_tokens", len(text.encode()) // _CHARACTERS),
        choice.get("finish_reason") == "length",
    )
