"""Check before any work that this machine has the device, files and packages that the settings name."""

import ssl

from flows.config import BuildConfig
from tasks.evaluation.judges import check_judges


def check_machine(config: BuildConfig) -> None:
    """Check that the device, certificate authorities and packages of judges are available.

    With a Dask cluster nothing is checked, because its machines need the devices and files, not this one.

    Raises:
        ValueError: one is not available; the message names the setting.
    """
    if config.engine.kind != "dask":
        if config.engine.device not in ("auto", "cpu"):  # which every machine has
            _check_device(config.engine.device)
        if config.crawl.ca_bundle is not None:
            _check_authorities(config.crawl.ca_bundle)
        check_judges(config.scoring)


def _check_device(device: str) -> None:
    from models.training.distributed import find_device  # here, because torch takes seconds to import

    try:
        find_device(device)
    except ValueError as error:
        raise ValueError(f"engine.device: {error}") from error


def _check_authorities(file: str) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except ssl.SSLError as error:
        raise ValueError(f"crawl.ca_bundle is {file!r}: expected certificates in PEM form, but {error}") from error
    except OSError as error:
        raise ValueError(
            f"crawl.ca_bundle is {file!r}: expected a file of certificate authorities, but {error.strerror}"
        ) from error
