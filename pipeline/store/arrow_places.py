"""Arrow's file systems: of this machine, of object stores, of HDFS. Files are opened by them to be read."""

from functools import lru_cache
from typing import Any

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import AzureFileSystem, FileSystem, GcsFileSystem, LocalFileSystem, PyFileSystem, S3FileSystem

from pipeline.store import azure, google
from pipeline.store.address import hdfs_address, local_path, object_address
from pipeline.store.credentials import arrow_options

#: A request to a store takes some ten milliseconds, so each brings as much.
_REQUEST_BYTES = 8 << 20


def opened_to_read(uri: str) -> pa.NativeFile:
    """The bytes of a file as they are, from the first to the last. Whoever reads them closes it. Raises FileNotFoundError."""
    if hdfs_address(uri) is not None:
        return pa.BufferedInputStream(opened_anywhere(uri), _REQUEST_BYTES)
    path, filesystem = arrow_place(uri)
    return filesystem.open_input_stream(path, compression=None, buffer_size=_REQUEST_BYTES if local_path(uri) is None else None)


def opened_anywhere(uri: str) -> pa.NativeFile:
    """A file of which any part may be read, as Parquet is. Whoever reads it closes it. Raises FileNotFoundError."""
    if hdfs_address(uri) is not None:
        from pipeline.store.hdfs_files import opened

        return pa.PythonFile(opened(uri), mode="r")
    path, filesystem = arrow_place(uri)
    return filesystem.open_input_file(path)


def arrow_place(uri: str) -> tuple[str, FileSystem]:
    """(the folder, Arrow's file system that it is in)."""
    if hdfs_address(uri) is not None:
        return "", PyFileSystem(DeltaStorageHandler(uri))  # Arrow's own needs a JVM and its library
    place = object_address(uri)
    if place is None:
        return str(local_path(uri)), LocalFileSystem()
    if place.bucket.startswith("s3:"):
        return f"{place.bucket.removeprefix('s3://')}/{place.key}", _s3_filesystem(**arrow_options())
    if place.bucket.startswith("gs:"):
        return f"{place.bucket.removeprefix('gs://')}/{place.key}", _google_filesystem(**google.arrow_options())
    return f"{azure.container(place.bucket)}/{place.key}", _azure_filesystem(**azure.arrow_options(place.bucket))


@lru_cache(maxsize=4)
def _s3_filesystem(**options: Any) -> FileSystem:
    """A key that was renewed gets another one."""
    return S3FileSystem(**options)


@lru_cache(maxsize=4)
def _google_filesystem(**options: Any) -> FileSystem:
    return GcsFileSystem(**options)


@lru_cache(maxsize=16)
def _azure_filesystem(**options: Any) -> FileSystem:
    return AzureFileSystem(**options)
