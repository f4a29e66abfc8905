"""An OAuth token: sent with every request, and found nowhere else."""

import logging
import pickle
from pathlib import Path

import pytest

from tasks.fetching.http import Patience
from tasks.sources.mediawiki import MediaWikiError, MediaWikiSource
from tasks.sources.settings import MediaWikiSettings, WikitextSettings
from tests.tasks.sources.dump_files import LEAD
from tests.tasks.sources.mediawiki_server import WikiServer

pytestmark = pytest.mark.integration

TOKEN, VARIABLE = "eyJ0eXAi.secret-token.x_Y", "WIKISUM_TEST_TOKEN"


@pytest.fixture
def wiki() -> WikiServer:
    return WikiServer(pages={"Ada": (7, LEAD.format("Ada", "ada"))})


def settings(api: str, folder: Path, variable: str | None = VARIABLE) -> MediaWikiSettings:
    (folder / "titles.txt").write_text("Ada\n")
    return MediaWikiSettings(api=api, titles=str(folder / "titles.txt"), delay_seconds=0, token_variable=variable)


def source(given: MediaWikiSettings) -> MediaWikiSource:
    patience = Patience(total_seconds=120.0, retries=1, backoff_seconds=0.01, max_backoff_seconds=0.05)
    return MediaWikiSource(given, WikitextSettings(), contact="x@y.test", patience=patience)


def test_it_goes_with_every_request_and_the_session_is_kept(
    wiki: WikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, TOKEN)
    caplog.set_level(logging.DEBUG)
    with wiki:
        given = settings(wiki.api, tmp_path)
        opened = source(given)
        wiki.scripted.append((503, {"Retry-After": "0"}, b"later"))
        parts = opened.partitions()
        articles = [article for part in parts for article in opened.read(part)]
    bearer = f"Bearer {TOKEN}"
    assert wiki.headers == [(bearer, None), (bearer, None), (bearer, None), (bearer, "session=s1")]
    assert [article.title for article in articles] == ["Ada"]
    assert TOKEN not in caplog.text
    for held in (given.model_dump_json(), str(given.recipe()), repr(given), pickle.dumps(parts).decode("latin-1")):
        assert TOKEN not in held
    assert VARIABLE not in str(given.recipe())


def test_without_one_nothing_is_sent_and_no_cookie_is_kept(wiki: WikiServer, tmp_path: Path) -> None:
    with wiki:
        opened = source(settings(wiki.api, tmp_path, None))
        for part in opened.partitions():
            list(opened.read(part))
    assert set(wiki.headers) == {(None, None)}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((200, {}, {"error": {"code": "mwoauth-invalid", "info": f"Bad token {TOKEN}."}}), MediaWikiError),
        ((200, {}, f"<html>{TOKEN}".encode()), ConnectionError),
        ((200, {}, {"error": {"code": "ratelimited", "info": f"{TOKEN} asks too often"}}), ConnectionError),
    ],
)
def test_no_error_repeats_it(
    wiki: WikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object, error: type[Exception]
) -> None:
    monkeypatch.setenv(VARIABLE, TOKEN)
    wiki.scripted += [answer, answer]  # type: ignore[list-item]
    with wiki, pytest.raises(error) as caught:
        source(settings(wiki.api, tmp_path)).partitions()
    assert "[token]" in str(caught.value) and TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize("value", [None, "", "two\nlines", "käse"])
def test_a_variable_without_a_token_is_an_error_before_any_request(
    wiki: WikiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with wiki:
        with pytest.raises(
            ValueError, match=f"source.mediawiki.token_variable is '{VARIABLE}': expected an environment"
        ):
            source(settings(wiki.api, tmp_path)).partitions()
        assert wiki.asked == []


def test_it_is_not_sent_unencrypted_to_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, TOKEN)
    with pytest.raises(ValueError, match="expected an https:// URL, since a token is sent to it") as caught:
        source(settings("http://wiki.example/w/api.php", tmp_path)).partitions()
    assert TOKEN not in str(caught.value)
