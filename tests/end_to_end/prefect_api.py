"""A program that asks a Prefect server as its clients do: with the password, and the token that `serve` wants."""

import tomllib
from pathlib import Path
from uuid import uuid4

import requests

from tests.patience import PATIENCE


def kept(home: Path) -> str:
    """The user:password that `serve` keeps in a Prefect home."""
    profiles = tomllib.loads((home / "profiles.toml").read_text())
    return str(profiles["profiles"]["wikisum"]["PREFECT_API_AUTH_STRING"])


def signed_in(api: str, credentials: str) -> requests.Session:
    """What asks the API at a URL, with user:password."""
    user, _, password = credentials.partition(":")
    session = requests.Session()
    session.auth = (user, password)
    client = str(uuid4())
    token = session.get(f"{api}/csrf-token", params={"client": client}, timeout=PATIENCE)
    token.raise_for_status()
    session.headers.update({"Prefect-Csrf-Client": client, "Prefect-Csrf-Token": token.json()["token"]})
    return session
