"""What the settings name that this machine must have: looked for before any work starts."""

import ssl

from flows.config import BuildConfig
from models.training.distributed import find_device
from tasks.evaluation.judges import check_judges


def check_machine(config: BuildConfig) -> None:
    """See that device, authorities and packages of judges are to be had.

    Where a Dask cluster computes, its machines have the devices and files, and nothing is known of them here.

    Raises:
        ValueError: one is not; it names the setting.
    """
    if config.engine.kind != "dask":
        try:
            find_device(config.engine.device)
        except ValueError as error:
            raise ValueError(f"engine.device: {error}") from error
        if config.crawl.ca_bundle is not None:
            _check_authorities(config.crawl.ca_bundle)
        check_judges(config.scoring)


def _check_authorities(file: str) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except ssl.SSLError as error:
        raise ValueError(f"crawl.ca_bundle is {file!r}: expected certificates in PEM form, but {error}") from error
    except OSError as error:
        raise ValueError(
            f"crawl.ca_bundle is {file!r}: expected a file of certificate authorities, but {error.strerror}"
        ) from error
