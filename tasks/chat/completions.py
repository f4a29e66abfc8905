"""A server's answer to a chat: a completion with text, or the reason and the server's own words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.engine.data_files import read_data
from tasks.fetching.reasons import PageReason, http_reason

_CHARACTERS = 3  # a token, at least: English has 4, and the budget must not be exceeded
_MOST_WORDS = 300  # characters of a server's own words
_LOOP = 120  # characters that a looping model repeats
_LOOPS = 4  # times that they occur in what was written last
_LAST = 4_000  # characters of what was written last
_CHECKED = 400  # characters between two looks for a loop
_REFUSALS: dict[str, list[str]] = read_data("tasks.chat", "servers.toml")["refusals"]

NOT_ASKED = "not_asked"  # the reason where the budget is spent
TOO_LONG = "context"  # the reason where the request is longer than the model reads
NO_TEXT = "no_text"  # the reason where a completion has no text
SERVER_ERROR = "server_error"  # the reason where a success holds an error
NO_COMPLETION = "no_completion"  # the reason where a success holds something else
# Reasons that are due to the request: it would fail again. All others are temporary failures.
OF_THE_REQUEST = frozenset({NOT_ASKED, TOO_LONG, NO_TEXT, PageReason.TOO_LARGE, *map(http_reason, (400, 413, 422))})
# vLLM, SGLang and llama.cpp know the first, Ollama, OpenRouter and OpenAI the second.
THINKING_OFF: Mapping[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "none"}
Message = Mapping[str, str]


class NoAnswerError(Exception):
    """A request got no answer; `reason` says why, and `words` are the server's own, or empty."""

    def __init__(self, reason: str, words: str = "") -> None:
        super().__init__(f"{reason}: {words}" if words else reason)
        self.reason, self.words = reason, words

    @property
    def hopeless(self) -> bool:
        """Whether the server says that every further request would end so."""
        return _holds(self.words, "hopeless")


@dataclass(frozen=True)
class ChatAnswer:
    """An answer, as it is kept."""

    text: str  # what the model wrote
    model: str = ""  # who wrote it, as the server says; a name may stand for another model later
    read: int = 0  # tokens
    written: int = 0  # tokens
    cut: bool = False  # whether it ended before the model had finished: at its limit of tokens, or in silence


def tokens(messages: Sequence[Message]) -> int:
    """Return how many tokens messages have at most, by their bytes, because the model's tokenizer is not here."""
    return sum(len(message["content"].encode()) // _CHARACTERS + 8 for message in messages)


def refused(status: int, body: bytes) -> NoAnswerError:
    """Return why a server that answers with an error does not write. `body`: of its answer."""
    words = _words(_loaded(body)) or " ".join(body[:_MOST_WORDS].decode(errors="replace").split())
    words = "" if words.startswith(("<", "{}")) else words
    too_long = status in (400, 413, 422, 500) and _holds(words, "context")
    return NoAnswerError(TOO_LONG if too_long else http_reason(status), words)


def completion(found: Any, asked: Sequence[Message]) -> ChatAnswer:
    """Return the answer that a decoded body holds. `asked`: the messages, whose tokens are estimated where the server
    counts none. Raises NoAnswerError: it is not a completion with text."""
    choices = found.get("choices") if isinstance(found, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    fault = _fault(found) or _fault(choice)
    if fault is not None:
        raise fault
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NoAnswerError(NO_COMPLETION, _words(found))
    text, cut = _text(message), choice.get("finish_reason") == "length"
    if not text.strip():
        raise NoAnswerError(NO_TEXT, _without_text(message, cut))
    usage = found.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return ChatAnswer(
        text,
        str(found.get("model") or ""),
        _count(counts.get("prompt_tokens"), tokens(asked)),
        _count(counts.get("completion_tokens"), len(text.encode()) // _CHARACTERS),
        cut,
    )


@dataclass
class Stream:
    """A completion that comes in server-sent events."""

    texts: list[str] = field(default_factory=list)
    events: int = 0  # about the tokens so far, also of thinking
    ended: bool = False  # whether the server said that it is complete
    looping: bool = False  # whether the model repeats itself
    _whole: dict[str, Any] = field(default_factory=dict)  # fields of the events
    _thought: str = ""
    _end: str | None = None
    _unchecked: int = 0

    def add(self, line: str) -> None:
        """Read a line. Raises NoAnswerError: it reports a failure; ValueError: it is cut."""
        if not line.startswith("data:"):
            return
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            self.ended = True
            return
        event = json.loads(data)
        fault = _fault(event)
        if fault is not None:
            raise fault
        self.events += 1
        self._whole |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in (event.get("choices") or [])[:1]:
            self._choose(choice)

    def _choose(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta") or choice.get("message") or {}
        text = _text(delta)
        self.texts.append(text)
        self._thought = self._thought or _thought(delta)
        self._end = choice.get("finish_reason") or self._end
        self.ended |= self._end is not None
        self._unchecked += len(text)
        if self._unchecked >= _CHECKED:
            self._unchecked = 0
            last = "".join(self.texts[-_LAST:])[-_LAST:]
            self.looping = last.count(last[-_LOOP:]) >= _LOOPS

    @property
    def has_text(self) -> bool:
        """Whether some of the answer is there."""
        return any(map(str.strip, self.texts))

    def answer(self, asked: Sequence[Message]) -> ChatAnswer:
        """Return what came so far, as of `completion`; it is cut unless it ended."""
        message = {"content": "".join(self.texts), "reasoning_content": self._thought}
        end = self._end if self.ended else "length"
        return completion({**self._whole, "choices": [{"message": message, "finish_reason": end}]}, asked)


def _text(message: Mapping[str, Any]) -> str:
    """Return what a message says: its text, the texts of its parts (Mistral), or what it hands to a tool."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            item for item in content if isinstance(item, dict) and item.get("type") in ("text", "output_text", None)
        ]
        content = "".join(text for part in parts if isinstance(text := part.get("text"), str))
    if isinstance(content, str) and content:
        return content
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if arguments:
            return arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ""


def _thought(message: Mapping[str, Any]) -> str:
    thoughts = (message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
    return next((thought for thought in thoughts if isinstance(thought, str) and thought), "")


def _without_text(message: Mapping[str, Any], cut: bool) -> str:
    """Return why a completion has no text, in words."""
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        return _short(message["refusal"])
    if _thought(message):
        return "the model only thought" + (", to its limit of tokens: raise writer.thinking" if cut else "")
    return "the model wrote nothing" + (" within its limit of tokens" if cut else "")


def _fault(found: Any) -> NoAnswerError | None:
    """Return the error that an answer with status 200 holds."""
    if isinstance(found, dict) and found.get("error"):
        words = _words(found) or "an error without words"
        return NoAnswerError(TOO_LONG if _holds(words, "context") else SERVER_ERROR, words)
    return None


def _words(found: Any) -> str:
    """Return what a server says of an error: OpenAI's `error`, FastAPI's `detail`, or a bare message."""
    for _ in range(4):
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            names = ("error", "detail", "message", "msg")
            code = found.get("code") if isinstance(found.get("code"), str) else ""
            found = next((found[name] for name in names if found.get(name)), None)
            if code and isinstance(found, str):
                found = f"{found} ({code})"
    return _short(found) if isinstance(found, str) else ""


def _short(words: str) -> str:
    """Return a server's words on one line of printable characters."""
    return "".join(item for item in " ".join(words.split())[:_MOST_WORDS] if item.isprintable())


def _holds(words: str, kind: str) -> bool:
    return any(phrase in words.lower() for phrase in _REFUSALS[kind])


def _loaded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _count(number: Any, otherwise: int) -> int:
    return number if isinstance(number, int) and number >= 0 else otherwise
