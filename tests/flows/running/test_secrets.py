"""User and password in a URL: refused by name in every setting, and shown nowhere."""

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from flows.config import BuildConfig
from flows.running.command_line import explain, options
from storage.builds import Build, read_build, save_build
from storage.errors import StorageError
from storage.redaction import holds_secret, redacted
from storage.registry import Version, read_version, save_version
from storage.store import Store
from tasks.cited_summary.settings import SummarySettings
from tasks.engine.settings import Settings
from tasks.exchange.shared_corpus.settings import SharedCorpusSettings
from tasks.human_evaluation.settings import StudySettings


def _takes(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_takes(part, kind) for part in get_args(annotation))


def texts(section: type[Settings]) -> list[str]:
    """The names of all settings of a section, nested ones included, that take a text."""
    return [name for name, field in options(section) if _takes(field.annotation, str)]


SECTIONS = [BuildConfig, SummarySettings, SharedCorpusSettings, StudySettings]
SETTINGS = [(section, name) for section in SECTIONS for name in texts(section)]
WORD = st.text("abcXYZ019._~-%", min_size=6, max_size=12).map(lambda text: f"s3cret{text}")
SCHEMES = st.sampled_from(["https", "http", "s3", "hdfs", "tcp", "tls", "postgresql", "mysql+pymysql", "HTTPS"])


def nested(name: str, value: object) -> dict[str, Any]:
    given: Any = value
    for part in reversed(name.split(".")):
        given = {part: given}
    return dict(given)


def test_the_settings_that_take_a_url_are_among_those_tried() -> None:
    names = {name for _, name in SETTINGS}
    assert names >= {
        *("root", "search.endpoint", "crawl.contact", "crawl.common_crawl.indexes", "crawl.common_crawl.tables"),
        *("crawl.common_crawl.data_url", "source.mediawiki.api", "source.records.paths", "engine.dask_address"),
        *("report.tensorboard", "summarizer.pretrained"),
    }


@settings(max_examples=5, deadline=None)
@given(user=WORD, password=WORD, scheme=SCHEMES, before=st.sampled_from(["", "a.jsonl,", "see "]))
@example(user="s3cretuser", password="s3cretp@ss:word", scheme="https", before="")
def test_no_setting_takes_a_password_in_a_url_and_no_error_shows_it(
    user: str, password: str, scheme: str, before: str
) -> None:
    url = f"{before}{scheme}://{user}:{password}@host.example:8080/path?q=1"
    for section, name in SETTINGS:
        for value in (url, [url]):
            with pytest.raises(ValidationError) as raised:
                section.model_validate(nested(name, value))
            said = explain(raised.value)
            assert f"{name}: its URL holds a user or password" in said
            for shown in (said, str(raised.value)):
                assert "s3cret" not in shown


@settings(max_examples=200, deadline=None)
@given(user=WORD, password=st.one_of(st.none(), WORD), scheme=SCHEMES, around=st.sampled_from(["", " ", "'", "("]))
def test_what_is_redacted_holds_no_secret_and_the_rest_of_the_text(
    user: str, password: str | None, scheme: str, around: str
) -> None:
    secret = user if password is None else f"{user}:{password}"
    text = f"asked {around}{scheme}://{secret}@host/a@b?c=d for //{secret}@other/"
    hidden = redacted(text)
    assert hidden == f"asked {around}{scheme}://***@host/a@b?c=d for //***@other/"
    assert redacted(hidden) == hidden
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        *("https://example.org/@name", "me@example.org", "mailto:me@example.org", "https://h/?to=a:b@c", "data/a:b@c"),
        *("s3://bucket/a@b:c", "hdfs://me@namenode/x", "https://example.org:8080/a", "http://[::1]:8080/a", "//"),
    ],
)
def test_what_is_no_secret_is_taken_as_it_is(text: str) -> None:
    assert not holds_secret(text)
    assert redacted(text) == text.replace("me@namenode", "***@namenode")


def test_a_token_in_place_of_a_user_is_a_secret_too() -> None:
    assert holds_secret("https://ghp_token@example.org/repository")
    assert redacted("https://ghp_token@example.org/repository") == "https://***@example.org/repository"


def test_a_root_with_a_password_is_refused_without_it() -> None:
    with pytest.raises(StorageError, match="the root's URI holds a password") as raised:
        Store("s3://KEY:s3cret@bucket/folder")
    assert "s3cret" not in str(raised.value)


def test_settings_of_before_are_shown_without_their_secrets(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    config = {"source": {"records": {"paths": ["https://u:s3cret@h/a.jsonl"]}}, "search": {"endpoint": "http://t@h"}}
    name = "20260101-000001-abcdef"
    save_build(store, Build(name, "", config, {}, {}, {}))
    save_version(store, Version(1, "", "", name, None, {}, "", config, {}, {}))
    shown = {"source": {"records": {"paths": ["https://***@h/a.jsonl"]}}, "search": {"endpoint": "http://***@h"}}
    assert read_build(store, name).config == read_version(store, 1).settings == shown
