"""The Prefect profile that `wikisum serve` writes: address and password of its server, for every shell of this user.

Prefect's own file of profiles holds it (`profiles.toml` in Prefect's home), which only its owner may read."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from prefect.context import get_settings_context
from prefect.settings import (
    PREFECT_API_AUTH_STRING,
    PREFECT_API_URL,
    Profile,
    get_current_settings,
    load_profiles,
    save_profiles,
)
from prefect.settings.profiles import ProfilesCollection

PROFILE = "wikisum"
_OWNER_ONLY = 0o600
_CONNECT_SECONDS = 5.0


def profiles_file() -> Path:
    """Return the file of profiles."""
    path = get_current_settings().profiles_path
    assert path is not None, "Prefect sets it"
    return path


def kept_credentials() -> str | None:
    """Return user:password of the last `serve` of this user, None before the first."""
    profiles = load_profiles(include_defaults=False)
    kept = profiles[PROFILE].settings.get(PREFECT_API_AUTH_STRING) if PROFILE in profiles.names else None
    return None if kept is None else str(kept)


def keep_profile(api: str, credentials: str) -> bool:
    """Write the profile of a server. Return whether it is the active one, that every shell takes: it becomes so unless
    the active one names another server."""
    profiles = load_profiles()
    active = profiles.active_profile
    if PROFILE in profiles.names:
        profiles.remove_profile(PROFILE)
    profiles.add_profile(Profile(name=PROFILE, settings={PREFECT_API_URL: api, PREFECT_API_AUTH_STRING: credentials}))
    if active is None or active.name == PROFILE or not active.settings.get(PREFECT_API_URL):
        profiles.set_active(PROFILE)
    _save(profiles)
    return profiles.active_name == PROFILE


def leave_profile(api: str) -> None:
    """Let shells no longer take the profile if it is still that of this server, which ends; the password stays."""
    profiles = load_profiles()
    if PROFILE not in profiles.names or profiles[PROFILE].settings.get(PREFECT_API_URL) != api:
        return
    if profiles.active_name == PROFILE:
        profiles.set_active(None)
        _save(profiles)


def is_left_behind() -> bool:
    """Whether the profile of a `serve` that was killed names the server here, at whose address nobody listens."""
    if PREFECT_API_URL.name in os.environ or get_settings_context().profile.name != PROFILE:
        return False
    address = urlsplit(PREFECT_API_URL.value() or "")
    with suppress(TimeoutError, socket.gaierror):
        try:
            socket.create_connection((address.hostname or "", address.port or 80), _CONNECT_SECONDS).close()
        except ConnectionRefusedError:
            return True
    return False


def _save(profiles: ProfilesCollection) -> None:
    """Write the profiles, which hold a password: nobody else may read a byte of it, even while it is written."""
    file = profiles_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(_OWNER_ONLY)
    file.chmod(_OWNER_ONLY)
    save_profiles(profiles)
