"""The profile that `serve` writes: for its user alone, taken by every shell while the server is there."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.context import use_profile
from prefect.settings import PREFECT_API_URL, PREFECT_PROFILES_PATH, Profile, load_profiles, temporary_settings

from flows.running.child_processes import free_port, listening
from flows.running.profile import PROFILE, is_left_behind, keep_profile, kept_credentials, leave_profile
from flows.running.temporary_server import has_prefect_api

API = "http://127.0.0.1:4200/api"
OTHERS = """active = "team"

[profiles.team]
PREFECT_API_URL = "https://prefect.example.org/api"
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """Where the profiles of a user are."""
    path = tmp_path / "home" / "profiles.toml"
    with temporary_settings({PREFECT_PROFILES_PATH: path}):
        yield path


def test_the_password_is_kept_for_its_owner_alone(file: Path) -> None:
    assert kept_credentials() is None
    assert keep_profile(API, "admin:first-password")
    assert kept_credentials() == "admin:first-password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keep_profile(API, "admin:second-password")
    assert kept_credentials() == "admin:second-password"
    assert "first-password" not in file.read_text()


def test_a_file_that_others_could_read_is_theirs_no_longer(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('[profiles.mine]\nPREFECT_LOGGING_LEVEL = "DEBUG"\n')
    file.chmod(0o644)
    assert keep_profile(API, "admin:long-enough")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {"mine", PROFILE} <= load_profiles().names


def test_shells_take_it_while_the_server_is_there(file: Path) -> None:
    assert keep_profile(API, "admin:long-enough")
    assert load_profiles().active_name == PROFILE
    leave_profile("http://127.0.0.1:4201/api")  # another server's end
    assert load_profiles().active_name == PROFILE
    leave_profile(API)
    assert load_profiles().active_name == "ephemeral"
    assert kept_credentials() == "admin:long-enough"


def test_a_profile_that_names_another_server_stays_active(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(OTHERS)
    assert not keep_profile(API, "admin:long-enough")
    leave_profile(API)
    assert load_profiles().active_name == "team"


def test_a_server_that_was_killed_stops_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with listening("127.0.0.1") as opened:
        address = f"http://127.0.0.1:{opened.getsockname()[1]}/api"
        with use_profile(Profile(name=PROFILE, settings={PREFECT_API_URL: address})):
            assert not is_left_behind()
            assert has_prefect_api()
    gone = f"http://127.0.0.1:{free_port('127.0.0.1')}/api"
    with use_profile(Profile(name=PROFILE, settings={PREFECT_API_URL: gone})):
        assert is_left_behind()
        assert not has_prefect_api()
    with use_profile(Profile(name="team", settings={PREFECT_API_URL: gone})):  # somebody named it: it is an error
        assert has_prefect_api()
    monkeypatch.setenv("PREFECT_API_URL", gone)
    with use_profile(Profile(name=PROFILE, settings={})):
        assert has_prefect_api()
