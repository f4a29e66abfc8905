"""Runs on an object store, which has no locks. The lease of a root is a file with the token of the run that renews it
(`storage.root`). S3 objects are changed on condition that they are still as they were read.

Pyarrow's streams take no conditions, so these go through botocore, which finds keys where pyarrow does."""

import functools
import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from storage.errors import RootBusyError, StorageError

LOCK = ".lock"  # files whose names begin so are changed without a lease
_held: dict[str, "Lease"] = {}  # by root
T = TypeVar("T")
_PART_BYTES = 16 << 20  # of which S3 takes 10,000 for an object
_GONE = frozenset({"NoSuchKey", "404"})  # the latter of a HEAD, which has no body
_NOT_SO = _GONE | {"PreconditionFailed", "ConditionalRequestConflict"}


@dataclass(frozen=True)
class Lease:
    """The lease of a run; small and picklable, for its jobs."""

    token: str  # in the file, as long as it is held
    conditional: bool  # whether the store changes an object on condition that it is what was seen

    def check(self, root: str, now: bytes | None) -> None:
        """Take the content of the file, or None if there is none. Raises RootBusyError: another run took it over."""
        if now is None or token_of(now) != self.token:
            by = "a run that has ended since" if now is None else busy(root, now)
            raise RootBusyError(f"the lease of the root expired and was taken over, nothing more is written: {by}")


@contextmanager
def leased(root: str, lease: Lease) -> Iterator[None]:
    """Let this process hold a lease during the block."""
    _held[root] = lease
    try:
        yield
    finally:
        del _held[root]


def held(root: str) -> Lease | None:
    """Return the lease that this process holds of a root."""
    return _held.get(root)


def holder(token: str = "") -> bytes:
    """Return what a holder writes: another content each time."""
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "token": token}).encode()


def token_of(lease: bytes) -> str | None:
    """Return the token of whoever wrote a file; None if it is not a lease."""
    token = _field(lease, "token")
    return token if isinstance(token, str) else None


def busy(root: str, lease: bytes) -> RootBusyError:
    """Return the error of a run that finds a root held by another, whom it names."""
    pid, host = _field(lease, "pid"), _field(lease, "host")
    who = "another process" if pid is None or host is None else f"process {pid} on {host}"
    return RootBusyError(
        f"another build is running on root {root!r} ({who}). Wait until it ends, stop it, or give another root"
    )


def _field(lease: bytes, name: str) -> object:
    try:
        return json.loads(lease).get(name)
    except (ValueError, AttributeError):
        return None


class ConditionalWrites:
    """Objects of one S3 root, by the path that pyarrow has for them: bucket and key. A tag stands for an object's
    content. Every method raises StorageError: the server does not answer, or refuses for another reason than a
    condition."""

    def __init__(self, root: str) -> None:
        """Take an s3:// URI; nothing is asked yet."""
        import botocore.config  # here, because only leases need it and it takes a quarter of a second
        import botocore.session

        options = dict(parse_qsl(urlsplit(root).query))
        endpoint = options.get("endpoint_override")
        if endpoint and "://" not in endpoint:
            endpoint = f"{options.get('scheme', 'https')}://{endpoint}"
        elsewhere = endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        session = botocore.session.get_session()
        self._client = session.create_client(
            "s3",
            region_name=options.get("region") or session.get_config_variable("region") or "us-east-1",
            endpoint_url=endpoint,
            verify=options.get("tls_ca_file_path") or None,
            config=botocore.config.Config(
                retries={"mode": "standard", "total_max_attempts": 8},
                s3={"addressing_style": "path" if elsewhere else "auto"},
                request_checksum_calculation="when_required",  # servers of others do not know the newer ones
                proxies={},  # as pyarrow
            ),
        )

    def tag(self, path: str) -> str | None:
        """Return the tag of an object, or None if there is none."""
        return self._unless(_GONE, path, lambda place: str(self._client.head_object(**place)["ETag"]))

    def put(self, path: str, file: IO[bytes], tag: str | None) -> bool:
        """Write a whole file, if the object still has this tag, or None: there still is none; else return False."""
        condition = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
        return self._unless(_NOT_SO, path, lambda place: self._send(file, place, condition)) is not None

    def delete(self, path: str, tag: str) -> bool:
        """Delete an object if it still has this tag; else return False."""
        return self._unless(_NOT_SO, path, lambda place: self._client.delete_object(**place, IfMatch=tag)) is not None

    def unheeded(self, folder: str) -> str:
        """Return why the server's conditions cannot be relied on, tried with an object in a folder; "" if they can."""
        path = f"{folder}/.lock.probe-{uuid.uuid4().hex}"
        try:
            created = self.put(path, BytesIO(b"1"), None)
            replaced = self.put(path, BytesIO(b"2"), None) or self.put(path, BytesIO(b"3"), '"another"')
            if (tag := self.tag(path)) is not None:
                self.delete(path, tag)
        except StorageError as error:
            return str(error)
        return "" if created and not replaced else "it ignores them"

    def _send(self, file: IO[bytes], place: dict[str, str], condition: dict[str, str]) -> object:
        file.seek(0)
        part = file.read(_PART_BYTES)
        if len(part) < _PART_BYTES:
            return self._client.put_object(**place, Body=part, **condition)
        place = {**place, "UploadId": self._client.create_multipart_upload(**place)["UploadId"]}
        try:
            sent: list[dict[str, Any]] = []
            while part:
                number = len(sent) + 1
                answer = self._client.upload_part(**place, PartNumber=number, Body=part)
                sent.append({"PartNumber": number, "ETag": answer["ETag"]})
                part = file.read(_PART_BYTES)
            return self._client.complete_multipart_upload(**place, MultipartUpload={"Parts": sent}, **condition)
        except BaseException:
            with suppress(Exception):  # the first error is reported
                self._client.abort_multipart_upload(**place)
            raise

    def _unless(self, codes: frozenset[str], path: str, ask: Callable[[dict[str, str]], T]) -> T | None:
        """Return what a request for an object returns, or None if the server answers with one of these errors."""
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, _, key = path.partition("/")
        try:
            return ask({"Bucket": bucket, "Key": key})
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in codes:
                return None
            raise StorageError(f"{path} could not be read or written: {error}") from error


@functools.cache
def conditional_writes(root: str) -> ConditionalWrites:
    """Return this process's client for an s3:// root."""
    return ConditionalWrites(root)
