"""What the settings name that this machine must have: looked for before any work starts."""

import socket
import ssl
from collections.abc import Iterator

from flows.config import BuildConfig
from models.training.distributed import find_device
from tasks.engine.settings import Settings
from tasks.evaluation.judges import check_judges


def check_machine(config: BuildConfig) -> None:
    """See that devices, authorities, packages of judges and the embedded web's port are to be had.

    Where a Dask cluster computes, its machines have the devices and files, and nothing is known of them here.

    Raises:
        ValueError: one is not; it names the setting.
    """
    if config.engine.kind != "dask":
        for name, device in _devices(config):
            try:
                find_device(device)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        if config.crawl.ca_bundle is not None:
            _check_authorities(config.crawl.ca_bundle)
        check_judges(config.scoring)
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
