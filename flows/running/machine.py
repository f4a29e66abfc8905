"""Checks that this machine has what the settings need, before any work; a dry run lists everything that is missing."""

import importlib.util
import os
import socket
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

from flows.config import BuildConfig
from flows.running.temporary_server import check_prefect_api
from models.presets import find_preset
from tasks.evaluation.judges import check_judges
from tasks.ranking.folders import read_ranking_folder

Check = Callable[[BuildConfig], object]
_CONNECT_SECONDS = 5.0
_RANKER_BYTES = 12  # a parameter of the ranker: weight, gradient and Adagrad's sum
_SUMMARIZER_BYTES = 16  # a parameter of the summarizer: weight, gradient and Adam's two moments


def check_machine(config: BuildConfig) -> None:
    """Check that this machine has what the settings name; files that stages read are checked by the plan. If there is a
    Dask cluster, only its scheduler is checked, because its machines need the devices and files, not this one. Raises
    ValueError: something is lacking; the message names the setting; FileNotFoundError: the model of a judge is;
    ConnectionError: the scheduler does not answer."""
    for check in _ON_A_CLUSTER if config.engine.kind == "dask" else _HERE:
        check(config)


def lacking(config: BuildConfig) -> list[str]:
    """Return everything that would stop a run at its start, also a missing Prefect server."""
    results = []
    checks: list[Check] = [*(_ON_A_CLUSTER if config.engine.kind == "dask" else _HERE), lambda _: check_prefect_api()]
    for check in checks:
        try:
            check(config)
        except (ValueError, FileNotFoundError, ConnectionError) as error:
            results.append(str(error))
    return results


def _check_device(config: BuildConfig) -> None:
    device = config.engine.device
    if device in ("auto", "cpu"):  # which every machine has
        return
    from models.training.distributed import find_device  # here, because torch takes seconds to import

    try:
        find_device(device)
    except ValueError as error:
        raise ValueError(f"engine.device: {error}") from error


def _check_authorities(config: BuildConfig) -> None:
    if (file := config.crawl.ca_bundle) is None:
        return
    try:
        ssl.create_default_context(cafile=file)
    except ssl.SSLError as error:
        raise ValueError(f"crawl.ca_bundle is {file!r}: expected certificates in PEM form, but {error}") from error
    except OSError as error:
        raise ValueError(
            f"crawl.ca_bundle is {file!r}: expected a file of certificate authorities, but {error.strerror}"
        ) from error


def _check_sizes(config: BuildConfig) -> None:
    """Compare models with the memory, so that a size that can never be trained is named before the corpus is made."""
    for _, further in config.further_builds():
        _check_sizes(further)
    words, hidden = config.vocabulary.pieces, config.ranker.hidden
    ranker = words * hidden + 18 * hidden**2  # embeddings, two LSTMs, and the layer over both
    _check_size(f"ranker.hidden is {hidden:,}", ranker * _RANKER_BYTES)
    name = config.summarizer.preset
    sizes = {**find_preset(name).settings, **config.summarizer.overrides}
    size, inner = (int(sizes.get(field, 0)) for field in ("model_size", "feed_forward_size"))
    summarizer = words * size + 4 * size**2 + 2 * size * inner  # embeddings, and at least one layer
    what = f"summarizer.preset is {name!r} with model_size {size:,} and feed_forward_size {inner:,}"
    _check_size(what, summarizer * _SUMMARIZER_BYTES)


def _check_size(what: str, wanted: int) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted > memory:
        raise ValueError(
            f"{what}: its training wants at least {wanted / 1e9:,.0f} GB, and this machine has {memory / 1e9:,.0f} GB: "
            "expected a smaller one"
        )


def _check_dask(config: BuildConfig) -> None:
    if importlib.util.find_spec("prefect_dask") is None:
        raise ValueError("engine.kind is 'dask', but prefect-dask is not installed: pip install prefect-dask")
    address = config.engine.dask_address
    if address is None:
        return
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        if not parts.hostname or parts.port is None:
            raise ValueError("it has no host or port")
        socket.create_connection((parts.hostname, parts.port), _CONNECT_SECONDS).close()
    except ValueError as error:
        raise ValueError(
            f"engine.dask_address is {address!r}: expected one such as tcp://10.0.0.1:8786, but {error}"
        ) from error
    except OSError as error:
        raise ConnectionError(
            f"engine.dask_address is {address!r}: expected a Dask scheduler that answers, but {error}"
        ) from error


def _check_tensorboard(config: BuildConfig) -> None:
    if config.report.tensorboard and importlib.util.find_spec("tensorboard") is None:
        raise ValueError("report.tensorboard needs the library tensorboard, found none: pip install tensorboard")


_HERE: tuple[Check, ...] = (
    _check_device,
    _check_authorities,
    lambda config: check_judges(config.scoring),
    lambda config: read_ranking_folder(config.ranking),
    _check_sizes,
    _check_tensorboard,
)
_ON_A_CLUSTER = (_check_dask, _check_tensorboard)
