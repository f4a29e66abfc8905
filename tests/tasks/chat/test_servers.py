"""Servers as they behave, by their documentation and issue threads: each refusal and form of answer is replayed over
HTTP, and the writer reads it."""

import json
from typing import Any

import pytest

from tests.tasks.chat.chat_server import Reply
from tests.tasks.writing.scripted import IS, LAMP, PASSAGES, TITLE, writing

OBJECT = json.dumps({"sentences": [{"text": IS, "passages": [1]}, {"text": LAMP, "passages": [2]}]})
STREAM = {"Content-Type": "text/event-stream"}


def events(*deltas: dict[str, Any], end: str | None = "stop", done: bool = True, comment: str = "") -> Reply:
    """A stream of deltas; `end`: its finish_reason; `done`: whether [DONE] follows; `comment`: a line before each."""
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": end})
    lines = [f"{comment}data: {json.dumps({'model': 'served', 'choices': [one]})}\n\n" for one in choices]
    return Reply(200, "".join(lines) + ("data: [DONE]\n\n" if done else ""), STREAM)


def completion(**message: Any) -> Reply:
    """A completion that is not streamed, whatever was asked for."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Reply(200, json.dumps({"id": "x", "choices": [choice]}))


def refusal(words: str, status: int = 400) -> Reply:
    return Reply(status, json.dumps({"error": {"message": words, "type": "invalid_request_error"}}))


def openai_gpt5(body: dict[str, Any]) -> Reply:
    """gpt-5 takes neither the old limit nor a temperature, nor fields of other servers."""
    if "chat_template_kwargs" in body:
        return refusal("Unrecognized request argument supplied: chat_template_kwargs")
    if "max_tokens" in body:
        return refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    if "temperature" in body:
        return refusal("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is.")
    if body.get("reasoning_effort") == "none":
        return refusal("Unsupported value: 'reasoning_effort' does not support 'none' with this model.")
    return events({"content": OBJECT[:40]}, {"content": OBJECT[40:]})


def transformers_serve(body: dict[str, Any]) -> Reply:
    """`transformers serve` names fields that it does not know with status 422."""
    unknown = {"chat_template_kwargs", "reasoning_effort", "stream_options"} & set(body)
    if unknown:
        return Reply(422, json.dumps({"detail": f"Unexpected keys in the request: {sorted(unknown)}"}))
    return events({"role": "assistant"}, {"content": f"{IS} [1] {LAMP} [2]"})


def llama_cpp(_: dict[str, Any]) -> Reply:
    """llama.cpp's grammar lets a model write one long text, which the limit of tokens cuts."""
    text = f'{{"sentences": [{{"text": "{IS} {LAMP} The keeper of the'
    return events({"content": text}, end="length")


def vllm(_: dict[str, Any]) -> Reply:
    """vLLM parts the thinking from the text."""
    return events({"reasoning_content": "The user wants"}, {"content": OBJECT})


SERVERS = {
    "Ollama, which ignores the schema": lambda _: events({"content": f"```json\n{OBJECT}\n```"}),
    "vLLM": vllm,
    "llama.cpp": llama_cpp,
    "LM Studio, which does not stream": lambda _: completion(content=OBJECT, reasoning="Hm"),
    "SGLang": lambda _: events({"role": "assistant", "content": ""}, {"content": OBJECT}, done=False),
    "transformers serve": transformers_serve,
    "OpenRouter, with comments": lambda _: events({"content": OBJECT}, comment=": OPENROUTER PROCESSING\n\n"),
    "gpt-5": openai_gpt5,
    "Magistral, in parts": lambda _: completion(
        content=[{"type": "thinking", "thinking": [{"type": "text", "text": "No."}]}, {"type": "text", "text": OBJECT}]
    ),
    "Magistral, in marks": lambda _: events({"content": f"[THINK]Hm {{}}[/THINK]{OBJECT}"}),
    "Qwen3": lambda _: events({"content": "<think>\nHm\n</think>\n\n"}, {"content": OBJECT}),
    "a tool call": lambda _: completion(
        content=None, tool_calls=[{"type": "function", "function": {"name": "answer", "arguments": OBJECT}}]
    ),
}


@pytest.mark.parametrize("server", SERVERS)
def test_what_each_server_answers_is_read(server: str) -> None:
    with writing(lambda number, body: SERVERS[server](body)) as (writer, chat):
        made = writer.write(TITLE, PASSAGES)
    assert [draft.text for _, drafts in made.sections for draft in drafts] == [IS, LAMP]
    assert len(chat.asked) == {"gpt-5": 5, "transformers serve": 2}.get(server, 1)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(200, '{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'), "Unexpected endpoint"),
        (Reply(500, '{"error": {"message": "model requires more system memory (9 GiB)"}}'), "more system memory"),
        (refusal("You exceeded your current quota, please check your plan", 429), "exceeded your current quota"),
        (Reply(200, '{"error": {"code": 502, "message": "Provider returned error"}}'), "Provider returned error"),
        (events({"content": "<think>Hm"}, end="length"), "no_sentence"),
        (events({"reasoning": "Hm"}, end="length"), "raise writer.thinking"),
    ],
)
def test_what_each_server_says_is_shown(reply: Reply, words: str) -> None:
    with writing(lambda number, _: reply) as (writer, _), pytest.raises(Exception, match=words) as fault:
        writer.write(TITLE, PASSAGES)
    assert type(fault.value).__name__ in {"NoAnswerError", "ChatError"}


def test_room_for_thinking_is_added_and_without_it_thinking_is_off() -> None:
    bodies = {}
    for thinking in (0, 2000):
        with writing(lambda number, _: completion(content=OBJECT), thinking=thinking) as (writer, chat):
            writer.write(TITLE, PASSAGES)
            bodies[thinking] = chat.asked[0][2]
    assert bodies[2000]["max_tokens"] == bodies[0]["max_tokens"] + 2000
    assert bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}
    assert bodies[0]["reasoning_effort"] == "none"
    assert "reasoning_effort" not in bodies[2000] and "chat_template_kwargs" not in bodies[2000]
