"""Changes of S3 objects on a condition: one is put or deleted only if it is still what was seen of it.

Pyarrow's streams take no conditions, so this goes through botocore, which finds keys where pyarrow does."""

import functools
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from typing import IO, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from storage.errors import StorageError

T = TypeVar("T")
_PART_BYTES = 16 << 20  # of which S3 takes 10,000 for an object
_GONE = frozenset({"NoSuchKey", "404"})  # the latter of a HEAD, which has no body
_NOT_SO = _GONE | {"PreconditionFailed", "ConditionalRequestConflict"}


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
            with suppress(Exception):  # the first error is the one to tell
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
