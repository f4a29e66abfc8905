"""The client of a language model, against a real server on loopback that answers and fails as scripted."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest

from storage.errors import BudgetSpentError
from storage.spending import Account, spent, this_month
from storage.store import Store
from tasks.chat.budget import Budget, Price
from tasks.chat.client import ChatClient, ChatError
from tasks.chat.completions import NoAnswerError
from tasks.chat.settings import ChatSettings
from tasks.fetching.answers import Answers
from tests.patience import PATIENCE
from tests.tasks.chat.chat_server import Chat, Reply, chat_server, said

HELLO = [{"role": "user", "content": "Hello"}]
KEY = "WIKISUM_TEST_CHAT_KEY"


def client(chat: Chat, folder: Path | None = None, budget: Budget | None = None, **more: Any) -> ChatClient:
    settings = {name: more.pop(name) for name in ("url", "model", "key_variable") if name in more}
    return ChatClient(
        ChatSettings(**{"url": chat.url, "model": "m", **settings}),
        "writer",
        None if folder is None else Answers(pafs.LocalFileSystem(), str(folder), rows=20),
        budget or Budget(),
        **{"total_seconds": 60.0, "backoff_seconds": 0.01, **more},
    )


def reason(asked: ChatClient, **fields: Any) -> str:
    with pytest.raises(NoAnswerError) as fault:
        asked.ask(HELLO, **fields)
    return fault.value.reason


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, "{}"),
        Reply(429, "{}", {"Retry-After": "0"}),
        Reply(500, "{}"),
        Reply(503, "{}"),
        Reply(200, said("Half an answer."), cut=True),
    ],
)
def test_what_fails_for_now_is_asked_again(fault: Reply) -> None:
    with chat_server(lambda number, _: fault if number == 1 else (200, said("Hi"))) as chat, client(chat) as asked:
        assert asked.ask(HELLO).text == "Hi"
    assert len(chat.asked) == 2


def test_retry_after_is_waited_for() -> None:
    times = []

    def script(number: int, _: dict[str, Any]) -> Reply:
        times.append(time.monotonic())
        return Reply(429, "{}", {"Retry-After": "1"}) if number == 1 else Reply(200, said("Hi"))

    with chat_server(script) as chat, client(chat) as asked:
        assert asked.ask(HELLO).text == "Hi"
    assert times[1] - times[0] >= 1.0  # of the server's own asking, however quick the machine


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (Reply(500, "{}"), "http_500"),
        (Reply(429, "{}"), "rate_limited"),
        (Reply(200, said("x" * 10_000_000)), "too_large"),
        (Reply(200, said("Half an answer."), cut=True), "truncated_body"),
        (Reply(400, "{}"), "http_400"),
    ],
)
def test_what_fails_for_good_has_a_reason(fault: Reply, named: str) -> None:
    with chat_server(lambda number, _: fault) as chat, client(chat) as asked:
        assert reason(asked) == named


def test_silence_ends_at_the_limit() -> None:
    waiting = threading.Event()

    def script(number: int, _: dict[str, Any]) -> Reply:
        waiting.wait(PATIENCE)
        return Reply(200, said("too late"))

    with chat_server(script) as chat, client(chat, total_seconds=0.2, retries=0) as asked:
        assert reason(asked) == "timeout"
        waiting.set()


@pytest.mark.parametrize("heard", [None, lambda tokens: None])
def test_our_own_limit_is_not_asked_again(heard: Any) -> None:
    waiting = threading.Event()

    def script(number: int, _: dict[str, Any]) -> Reply:
        waiting.wait(PATIENCE)
        return Reply(200, said("too late"))

    with chat_server(script) as chat, client(chat, total_seconds=0.2) as asked:
        with pytest.raises(NoAnswerError, match="timeout: no more came within the limit of silence"):
            asked.ask(HELLO, heard)
        waiting.set()
    assert len(chat.asked) == 1


def test_a_model_that_repeats_itself_is_stopped_and_not_kept(tmp_path: Path) -> None:
    """Of 100,000 words 24 have a pattern of 120 characters four times; it is looked for every 400 characters."""
    endless = Reply(200, said("It has a lamp. " + "and so on " * 50_000))
    with chat_server(lambda number, _: endless) as chat, client(chat, tmp_path) as asked:
        answer = asked.ask(HELLO, lambda tokens: None)
        assert answer.cut and answer.text.startswith("It has a lamp. and so on") and len(answer.text) < 2_000
        asked.ask(HELLO, lambda tokens: None)
    assert len(chat.asked) == 2


def test_of_a_stream_that_falls_silent_the_part_that_came_is_used_and_not_kept(tmp_path: Path) -> None:
    with chat_server(lambda number, _: Reply(200, said("One two."), silent=True)) as chat:
        for _ in range(2):
            with client(chat, tmp_path, total_seconds=0.3) as asked:
                answer = asked.ask(HELLO, lambda tokens: None)
                assert (answer.text, answer.cut) == ("One", True)
    assert len(chat.asked) == 2


def test_a_slow_stream_may_take_longer_than_its_limit_of_silence() -> None:
    slow = Reply(200, said("a b c d e f g h i j"), pause=0.35)
    with chat_server(lambda number, _: slow) as chat, client(chat, total_seconds=3.0) as asked:
        assert asked.ask(HELLO, lambda tokens: None).text == "a b c d e f g h i j"


ERROR = '{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'
SAYS = "server_error: Unexpected endpoint or method. (POST /chat/completions)"
CHOICE_ERROR = '{"choices": [{"error": {"message": "upstream died"}, "message": {"content": "x"}}]}'
THOUGHT = '{"choices": [{"message": {"content": "", "reasoning": "Hm"}, "finish_reason": "length"}]}'
REFUSAL = '{"choices": [{"message": {"content": null, "refusal": "I cannot."}}]}'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no JSON", "no_completion"),
        ("[]", "no_completion"),
        ("{}", "no_completion"),
        ('{"choices": []}', "no_completion"),
        ("[" * 100_000, "no_completion"),
        (said("x")[:-20], "no_completion"),
        (said(""), "no_text: the model wrote nothing"),
        (said(" \n"), "no_text: the model wrote nothing"),
        (THOUGHT, "no_text: the model only thought, to its limit of tokens: raise writer.thinking"),
        (REFUSAL, "no_text: I cannot."),
        (ERROR, SAYS),
        ('{"error": {"message": "out of memory", "code": 500}}', "server_error: out of memory"),
        (CHOICE_ERROR, "server_error: upstream died"),
        ('{"detail": "moved"}', "no_completion: moved"),
    ],
)
def test_a_success_without_a_completion_is_a_failure_and_asked_again(text: str, named: str, tmp_path: Path) -> None:
    with chat_server(lambda number, _: (200, text if number == 1 else said("Hi"))) as chat:
        with client(chat, tmp_path) as asked:
            with pytest.raises(NoAnswerError) as fault:
                asked.ask(HELLO)
            assert str(fault.value) == named
        with client(chat, tmp_path) as again:
            assert again.ask(HELLO).text == "Hi"


def test_an_answer_without_text_that_an_earlier_release_kept_is_asked_again(tmp_path: Path) -> None:
    with chat_server(lambda number, _: (200, said("Hi"))) as chat:
        with client(chat, tmp_path) as asked:
            asked.ask(HELLO)
        [file] = tmp_path.iterdir()
        question, kept = json.loads(file.read_text())
        file.write_text(json.dumps([question, {**kept, "text": ""}]) + "\n")
        with client(chat, tmp_path) as asked:
            assert asked.ask(HELLO).text == "Hi"
    assert len(chat.asked) == 2


@pytest.mark.parametrize(
    ("status", "body", "said_so"),
    [
        (500, '{"error": "model requires more system memory (5.6 GiB) than is available"}', "more system memory"),
        (429, '{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}', "quota"),
    ],
)
def test_what_the_server_says_ends_the_asking_at_once_and_is_shown(status: int, body: str, said_so: str) -> None:
    with (
        chat_server(lambda number, _: (status, body)) as chat,
        client(chat) as asked,
        pytest.raises(ChatError, match=said_so),
    ):
        asked.ask(HELLO)
    assert len(chat.asked) == 1


def test_a_limit_of_tokens_with_another_name_and_a_fixed_temperature_are_learned_once() -> None:
    """As gpt-5 and the o-series refuse."""

    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
        elif "temperature" in body:
            words = "Unsupported value: 'temperature' does not support 0 with this model."
        else:
            return 200, said("Hi")
        return 400, json.dumps({"error": {"message": words, "type": "invalid_request_error"}})

    with chat_server(script) as chat, client(chat) as asked:
        for seed in (1, 2):
            assert asked.ask(HELLO, max_tokens=7, seed=seed).text == "Hi"
    bodies = [body for _, _, body in chat.asked]
    assert len(bodies) == 4
    expected = {"model": "m", "messages": HELLO, "max_completion_tokens": 7}
    assert bodies[2:] == [{**expected, "seed": 1}, {**expected, "seed": 2}]


def test_a_proxy_of_the_environment_is_used_and_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(lambda number, _: (200, said("Hi"))) as chat:
        monkeypatch.setenv("HTTP_PROXY", chat.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        settings = ChatSettings(url="http://models.example/v1", model="m")
        with ChatClient(settings, "writer", None, Budget(), retries=0) as asked:
            assert asked.ask(HELLO).text == "Hi"
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with client(chat) as asked:
            assert asked.ask(HELLO).text == "Hi"
    assert [path for path, _, _ in chat.asked] == ["http://models.example/v1/chat/completions", "/v1/chat/completions"]


@pytest.mark.parametrize("status", [400, 422])
def test_fields_that_a_server_does_not_know_are_left_out_from_then_on(status: int) -> None:
    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        return (status, "{}") if {"seed", "response_format"} & set(body) else (200, said("Hi"))

    with chat_server(script) as chat, client(chat) as asked:
        for text in ("one", "two"):
            assert asked.ask([{"role": "user", "content": text}], seed=1, response_format={}).text == "Hi"
    assert ["seed" in body for _, _, body in chat.asked] == [True, False, False]
    assert all(body["temperature"] == 0 for _, _, body in chat.asked)


def test_an_answer_is_paid_for_once_whatever_the_server_takes(tmp_path: Path) -> None:
    usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 5}, "model": "m-2026-01"}
    with chat_server(lambda number, _: (200, said("Hi", **usage))) as chat:
        for form in ({}, {"response_format": {"type": "json_object"}}):
            budget = Budget()
            with client(chat, tmp_path, budget) as asked:
                for _ in range(2):
                    answer = asked.ask(HELLO, **form)
                    assert (answer.text, answer.model, answer.read, answer.written) == ("Hi", "m-2026-01", 7, 5)
            assert (budget.asked, budget.read, budget.written) == (1, 7, 5)
        with client(chat, tmp_path) as asked:
            asked.ask(HELLO, seed=2)
            asked.ask([*HELLO, *HELLO])
    assert len(chat.asked) == 3


def test_the_ledger_gets_what_answers_cost_and_may_refuse_a_request(tmp_path: Path) -> None:
    """A request takes at most 9 + 30 tokens, which is 309 millionths, and in fact 7 + 5, which is 57."""
    usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 5}}
    account = Account(str(tmp_path), run_dollars=0.0004)
    with chat_server(lambda number, _: (200, said("Hi", **usage))) as chat, account.ledger() as ledger:
        budget = Budget(price=Price(1.0, 10.0), ledger=ledger)
        with client(chat, tmp_path / "answers", budget) as asked:
            asked.ask(HELLO, max_tokens=30)
            asked.ask(HELLO, max_tokens=30)  # kept
            asked.ask(HELLO, max_tokens=29)
            with pytest.raises(BudgetSpentError, match=r"budget.run_dollars is 0.0004: 0.000114 are spent"):
                asked.ask(HELLO, max_tokens=31)
    assert len(chat.asked) == 2
    assert spent(Store(str(tmp_path)), this_month())[0]["endpoints"] == pytest.approx(2 * 57e-6)


@pytest.mark.parametrize(
    ("budget", "fewest", "most"),
    [(Budget(requests=3), 3, 3), (Budget(dollars=0.0005, price=Price(1.0, 10.0)), 1, 17), (Budget(), 20, 20)],
)
def test_no_budget_is_exceeded_by_requests_at_the_same_time(budget: Budget, fewest: int, most: int) -> None:
    """A request takes at most 9 + 30 tokens and in fact 8 + 2; its reservation counts until its answer is there."""

    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        return 200, said("Hi", usage={"prompt_tokens": 8, "completion_tokens": 2})

    def ask(number: int) -> bool:
        try:
            asked.ask([{"role": "user", "content": f"{number}"}], max_tokens=30)
        except NoAnswerError as fault:
            assert fault.reason == "not_asked"
            return False
        return True

    with chat_server(script) as chat, client(chat, None, budget, connections=8) as asked, ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(ask, range(20)))
    assert fewest <= done == len(chat.asked) <= most
    spent = budget.read + budget.written
    assert spent == 10 * done
    assert budget.dollars is None or budget.price.of(budget.read, budget.written) <= budget.dollars


def test_as_many_requests_as_connections_are_in_flight() -> None:
    gate = threading.Barrier(5)

    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        gate.wait(PATIENCE)
        return 200, said("Hi")

    with chat_server(script) as chat, client(chat, connections=5) as asked, ThreadPoolExecutor(5) as pool:
        texts = pool.map(lambda n: asked.ask([{"role": "user", "content": str(n)}]).text, range(10))
        assert list(texts) == ["Hi"] * 10
    assert chat.most_at_once == 5


def test_a_server_says_how_much_its_model_reads() -> None:
    with chat_server(lambda number, _: (200, said("Hi"))) as chat:
        for models, context in [
            (None, None),
            ([], None),
            ([{"id": "m"}], None),
            ([{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 8192}], 8192),
            ([{"id": "m:latest", "meta": {"n_ctx": 2048}}], 2048),
            ([{"id": "m", "max_model_len": "many"}], None),
        ]:
            chat.models = models
            with client(chat) as asked:
                assert asked.check() == context
    assert chat.asked == []


def test_a_model_that_is_not_listed_is_tried_and_named() -> None:
    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        return (200, said("H")) if body["model"] == "/folder" else (404, "{}")

    with chat_server(script) as chat:
        chat.models = [{"id": "llama3.2:latest"}, {"id": "qwen3:8b"}]
        with client(chat, model="/folder") as asked:
            assert asked.check() is None
        with client(chat, model="qwen") as asked, pytest.raises(ChatError) as wrong:
            asked.check()
    assert "writer.model is 'qwen': expected one" in str(wrong.value)
    assert str(wrong.value).endswith("such as llama3.2:latest, qwen3:8b; asked, it says http_404")
    assert [body["max_tokens"] for _, _, body in chat.asked] == [1, 1]


def test_an_address_without_its_version_is_named() -> None:
    """Ollama and LM Studio answer below /v1 only; a server that answers elsewhere is not refused."""
    refusing = True
    with chat_server(lambda number, _: (200, ERROR) if refusing else (200, said("H"))) as chat:
        url = chat.url.removesuffix("/v1")
        with client(chat, url=url) as asked:
            with pytest.raises(ChatError) as wrong:
                asked.check()
            refusing = False
            assert asked.check() is None
    expected = f"writer.url is '{url}/': expected a base address such as {chat.url}; asked, it says {SAYS}"
    assert str(wrong.value) == expected


def test_nobody_there_is_said_in_one_line() -> None:
    with chat_server(lambda number, _: (200, "")) as chat:
        pass
    with client(chat, retries=0) as asked, pytest.raises(ChatError) as away:
        asked.check()
    assert f"writer.url is {chat.url!r}: expected a server that answers, but connect_error" in str(away.value)
    assert "\n" not in str(away.value)


def test_a_key_is_sent_and_one_that_is_refused_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    with chat_server(lambda number, _: (401, "{}")) as chat, client(chat, key_variable=KEY) as asked:
        with pytest.raises(ChatError, match="gave no answer: http_401") as refused:
            asked.ask(HELLO)
        assert "secret" not in str(refused.value)
    assert chat.asked[0][1]["Authorization"] == "Bearer secret"
    monkeypatch.delenv(KEY)
    with pytest.raises(ValueError, match=rf"writer\.key_variable is '{KEY}': expected an environment variable"):
        client(chat, key_variable=KEY)


@pytest.mark.parametrize("variable", [KEY, None])
def test_a_key_that_is_refused_or_lacks_is_said_before_anything_is_asked(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "secret")
    with chat_server(lambda number, _: (200, said("Hi"))) as chat:
        chat.refuses = True
        with client(chat, key_variable=variable) as asked, pytest.raises(ChatError) as refused:
            asked.check()
    assert "it refuses the key (http_401): expected writer.key_variable to name an environment" in str(refused.value)
    assert str(refused.value).endswith(f"it is {variable!r}") and "secret" not in str(refused.value)
    assert chat.asked == []


def test_no_answer_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    with chat_server(lambda number, _: (200, said("Hi"))) as chat, client(chat, tmp_path, key_variable=KEY) as asked:
        asked.ask(HELLO)
    [file] = tmp_path.iterdir()
    assert "secret" not in file.read_text()
    assert json.loads(file.read_text())[1]["text"] == "Hi"


USED = {"usage": {"prompt_tokens": 7, "completion_tokens": 5}, "model": "m-2026"}


def test_a_stream_is_heard_as_it_comes_and_read_as_one_answer(tmp_path: Path) -> None:
    heard: list[int] = []
    text = "Skerry Point has a lighthouse. Größe: 31 m.\n"
    with chat_server(lambda number, _: Reply(200, said(text, **USED), pause=0.02)) as chat:
        with client(chat, tmp_path) as asked:
            answer = asked.ask(HELLO, heard.append)
            assert asked.ask(HELLO) == answer  # the kept one, however it came
        assert (answer.text, answer.model, answer.read, answer.written) == (text.rstrip(), "m-2026", 7, 5)
        assert heard == sorted(heard) and len(set(heard)) > 1  # before it was all there
        ((_, _, body),) = chat.asked
    assert body["stream"] is True and body["stream_options"] == {"include_usage": True}


def test_a_part_of_a_stream_is_never_an_answer(tmp_path: Path) -> None:
    cut = Reply(200, said("Half an answer of the model.", **USED), cut=True)
    with chat_server(lambda number, _: cut if number == 1 else Reply(200, said("Hi"))) as chat:
        with client(chat, tmp_path / "again") as asked:
            assert asked.ask(HELLO, lambda tokens: None).text == "Hi"
        assert len(chat.asked) == 2
    with chat_server(lambda number, _: cut) as chat:
        for _ in range(2):  # and none is kept
            with client(chat, tmp_path / "never", retries=0) as asked, pytest.raises(NoAnswerError) as fault:
                asked.ask(HELLO, lambda tokens: None)
            assert fault.value.reason == "truncated_body"
        assert len(chat.asked) == 2


STREAM = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('data: {"error": {"message": "out of memory"}}\n\ndata: [DONE]\n\n', "server_error: out of memory"),
        ('data: {"choices": [{"delta": {"content": "Hal', "truncated_body"),
        ("", "truncated_body"),
        ("data: [DONE]\n\n", "no_text: the model wrote nothing"),
        (': a comment\n\ndata:{"choices": [{"delta": {"content": "Hi"}}]}\n\ndata:[DONE]\n\n', "Hi"),
        ('data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "length"}]}\n\n', "Hi"),
    ],
)
def test_what_streams_may_hold(body: str, text: str) -> None:
    with chat_server(lambda number, _: Reply(200, body, STREAM)) as chat, client(chat, retries=0) as asked:
        if text != "Hi":
            with pytest.raises(NoAnswerError) as fault:
                asked.ask(HELLO, lambda tokens: None)
            assert str(fault.value) == text
        else:
            answer = asked.ask(HELLO, lambda tokens: None)
            assert (answer.text, answer.cut) == (text, "length" in body)


def test_a_server_that_does_not_stream_answers_all_the_same() -> None:
    def script(number: int, body: dict[str, Any]) -> Reply:
        return Reply(400, "{}") if "stream" in body else Reply(200, said("Hi"))

    with chat_server(script) as chat, client(chat) as asked:
        assert asked.ask(HELLO, lambda tokens: None).text == "Hi"
