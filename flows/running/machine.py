"""Check before any work that this machine has the devices, files and ports that the settings name."""

import socket
import ssl
from collections.abc import Iterator

from flows.config import BuildConfig
from models.training.distributed import find_device
from tasks.engine.settings import Settings


def check_machine(config: BuildConfig) -> None:
    """Check that devices, certificate authorities and the embedded web's port are available.

    With a Dask cluster nothing is checked, because its machines need the devices and files, not this one.

    Raises:
        ValueError: one is not available; the message names the setting.
    """
    if config.engine.kind != "dask":
        for name, device in _devices(config):
            try:
                find_device(device)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        if config.crawl.ca_bundle is not None:
            _check_authorities(config.crawl.ca_bundle)
    if config.miniweb is not None and config.miniweb.port:
        _check_port(config.miniweb.port)


def _devices(settings: Settings, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and value of every setting that names a device, in all sections."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, Settings):
            yield from _devices(value, f"{prefix}{name}.")
        elif name == "device":
            yield f"{prefix}{name}", value


def _check_authorities(file: str) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except ssl.SSLError as error:
        raise ValueError(f"crawl.ca_bundle is {file!r}: expected certificates in PEM form, but {error}") from error
    except OSError as error:
        raise ValueError(
            f"crawl.ca_bundle is {file!r}: expected a file of certificate authorities, but {error.strerror}"
        ) from error


def _check_port(port: int) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise ValueError(
            f"source.miniweb.port is {port}: expected one that is free, or 0 for any, but {error.strerror}"
        ) from error
