"""The webhook as a real server on loopback, told by real Prefect runs."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from prefect import flow
from pydantic import ValidationError

from flows.config import BuildConfig
from flows.running.notification import notify
from flows.running.settings import WEBHOOK, NotificationSettings


class Webhook(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.told: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook/secret"


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append(json.loads(body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    server = Webhook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@flow(name="inner", on_failure=[notify])
def inner(config: BuildConfig) -> None:
    raise ValueError("root 'x' is busy")


@flow(name="outer", flow_run_name="build-{config.seed}", on_failure=[notify])
def outer(config: BuildConfig) -> None:
    inner(config)


def config_of(url: str | None) -> BuildConfig:
    return BuildConfig.model_validate({"seed": 7, "notification": {"webhook": url}})


def test_a_failed_run_tells_the_webhook_once_with_a_link(prefect_server: None, webhook: Webhook) -> None:
    with pytest.raises(ValueError, match="is busy"):
        outer(config_of(webhook.url))
    (told,) = webhook.told
    assert (told["flow"], told["run"], told["state"]) == ("outer", "build-7", "Failed")
    assert "root 'x' is busy" in told["message"]
    assert told["url"].startswith("http://")
    assert "/runs/flow-run/" in told["url"]
    assert told["text"].startswith("outer: run build-7 is Failed. ")


def test_the_environment_names_a_webhook_too(
    prefect_server: None, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEBHOOK, webhook.url)
    with pytest.raises(ValueError, match="is busy"):
        inner(config_of(None))
    assert [told["flow"] for told in webhook.told] == ["inner"]


def test_a_webhook_that_fails_changes_nothing_and_its_path_is_not_logged(
    prefect_server: None, webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.status = 500
    with pytest.raises(ValueError, match="is busy"):
        inner(config_of(webhook.url))
    with pytest.raises(ValueError, match="is busy"):
        inner(config_of("http://127.0.0.1:9/hook/secret"))
    said = [record.getMessage() for record in caplog.records if "notifying the webhook" in record.getMessage()]
    assert said == [
        "notifying the webhook at 127.0.0.1 failed: 500",
        "notifying the webhook at 127.0.0.1 failed: ConnectionError",
    ]
    assert "hook/secret" not in "".join(record.getMessage() for record in caplog.records)


def test_a_webhook_has_to_be_a_web_address() -> None:
    with pytest.raises(ValidationError, match="expected a URL that begins with http"):
        NotificationSettings(webhook="file:///etc/passwd")
    assert NotificationSettings(webhook="https://chat.test/hook").recipe() == {}
