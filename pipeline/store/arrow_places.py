"""Arrow's file systems: of this machine, of object stores, of HDFS. Files are opened by them to be read."""

import os
from functools import lru_cache
from urllib.parse import urlencode

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSystem, LocalFileSystem, PyFileSystem

from pipeline.store.address import hdfs_address, local_path, object_address

#: A request to a store takes some ten milliseconds, so each brings as much.
_REQUEST_BYTES = 8 << 20


def opened_to_read(uri: str) -> pa.NativeFile:
    """The bytes of a file as they are, from the first to the last. Whoever reads them closes it. Raises FileNotFoundError."""
    path, filesystem = _file(uri)
    return filesystem.open_input_stream(path, compression=None, buffer_size=_REQUEST_BYTES if local_path(uri) is None else None)


def opened_anywhere(uri: str) -> pa.NativeFile:
    """A file of which any part may be read, as Parquet is. Whoever reads it closes it. Raises FileNotFoundError."""
    path, filesystem = _file(uri)
    return filesystem.open_input_file(path)


def _file(uri: str) -> tuple[str, FileSystem]:
    if hdfs_address(uri) is None:
        return arrow_place(uri)
    folder, _, name = uri.rpartition("/")
    return name, arrow_place(folder)[1]


def arrow_place(uri: str) -> tuple[str, FileSystem]:
    """(the folder, Arrow's file system that it is in)."""
    if hdfs_address(uri) is not None:
        return "", PyFileSystem(DeltaStorageHandler(uri))  # Arrow's own needs a JVM and its library
    place = object_address(uri)
    if place is None:
        return str(local_path(uri)), LocalFileSystem()
    filesystem, root = _object_filesystem(place.bucket, os.environ.get("AWS_ENDPOINT_URL", ""))
    return f"{root}/{place.key}", filesystem


@lru_cache(maxsize=64)
def _object_filesystem(bucket: str, endpoint: str) -> tuple[FileSystem, str]:
    """Of a bucket, by its URL. Credentials are the environment's; Arrow does not look for the endpoint there."""
    scheme, _, host = endpoint.partition("://")
    asked = {"endpoint_override": host, "scheme": scheme} if endpoint and bucket.startswith("s3:") else {}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region and bucket.startswith("s3:"):
        asked["region"] = region
    filesystem, root = FileSystem.from_uri(f"{bucket}?{urlencode(asked)}" if asked else bucket)
    return filesystem, root.rstrip("/")
