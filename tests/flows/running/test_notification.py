"""A webhook that real Prefect runs tell of their end."""

from collections.abc import Iterator

import pytest
from prefect import flow, get_client, runtime
from prefect.states import Crashed

from benchmarks.webhook import Webhook, receiving
from flows.config import BuildConfig
from flows.running.notification import notify
from flows.running.settings import WEBHOOK


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with receiving() as server:
        yield server


@flow(name="inner", on_failure=[notify])
def inner(config: BuildConfig) -> None:
    raise ValueError("root 'x' is busy")


@flow(name="outer", flow_run_name="build-{config.seed}", on_failure=[notify])
def outer(config: BuildConfig) -> None:
    inner(config)


CONFIG = BuildConfig.model_validate({"seed": 7})


def test_a_failed_run_tells_the_webhook_once_with_a_link(
    prefect_server: None, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEBHOOK, webhook.url)
    with pytest.raises(ValueError, match="is busy"):
        outer(CONFIG)
    (told,) = webhook.told
    assert (told["flow"], told["run"], told["state"]) == ("outer", "build-7", "Failed")
    assert "root 'x' is busy" in told["message"]
    assert told["url"].startswith("http://")
    assert "/runs/flow-run/" in told["url"]
    assert told["text"].startswith("outer: run build-7 is Failed. ")


@flow(name="lost", on_failure=[notify])
def lost(marked: bool) -> None:
    if marked:
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(runtime.flow_run.id, Crashed(message="No heartbeat"), force=True)
    raise ValueError("lost")


@pytest.mark.parametrize(("marked", "alarms"), [(False, 1), (True, 0)])
def test_a_run_that_the_server_has_marked_as_crashed_sends_no_second_alarm(
    marked: bool, alarms: int, prefect_server: None, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEBHOOK, webhook.url)
    with pytest.raises(ValueError, match="lost"):
        lost(marked)
    assert len(webhook.told) == alarms


@pytest.mark.parametrize("named", ["", "slack-webhook/ops"])
def test_a_block_of_the_server_is_left_to_the_server(
    named: str, prefect_server: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEBHOOK, named)
    with pytest.raises(ValueError, match="is busy"):
        inner(CONFIG)
    assert "webhook" not in caplog.text


def test_a_webhook_that_fails_changes_nothing_and_its_path_is_not_logged(
    prefect_server: None, webhook: Webhook, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook.status = 500
    for url in (webhook.url, "http://127.0.0.1:9/hook/secret"):
        monkeypatch.setenv(WEBHOOK, url)
        with pytest.raises(ValueError, match="is busy"):
            inner(CONFIG)
    said = [record.getMessage() for record in caplog.records if "notifying the webhook" in record.getMessage()]
    assert said == [
        "notifying the webhook at 127.0.0.1 failed: 500",
        "notifying the webhook at 127.0.0.1 failed: ConnectionError",
    ]
    assert "hook/secret" not in "".join(record.getMessage() for record in caplog.records)
