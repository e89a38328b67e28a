"""Addresses of files and folders, and what each of those who open them calls the same place.

A URI of this project is Hadoop's: nothing in it is percent-encoded, and Spark opens it as it is. delta-rs and obstore want other names.
Standard library only: arguments are checked before anything is installed.
"""

import os
from pathlib import Path
from typing import NamedTuple

from pipeline.faults import BadWarehouse

#: Object stores, by Hadoop's scheme of their addresses → the scheme by which delta-rs and obstore know them.
OBJECT_STORES = {"s3a": "s3", "gs": "gs", "abfss": "abfss"}
#: Other names for the same.
_ALSO = {"s3": "s3a", "s3n": "s3a", "az": "abfss"}
_HDFS = "hdfs"
#: Characters of a path by which somebody would look elsewhere: delta-rs decodes %, to DuckDB the others are patterns.
_MARKS = "%*?["


class HdfsAddress(NamedTuple):
    """A place in HDFS: the URL of its name node or name service, and the path there, from the root on."""

    node: str
    path: str


class ObjectAddress(NamedTuple):
    """A place in an object store: the URL of its bucket (or container), and the key in it."""

    bucket: str
    key: str

    @property
    def url(self) -> str:
        """As delta-rs and obstore know it."""
        return f"{self.bucket}/{self.key}"


def scheme_of(uri: str) -> str | None:
    """Hadoop's scheme of a URI; None for a path without one."""
    scheme, found, _ = uri.partition(":/")
    return scheme if found and "/" not in scheme else None


def with_hadoops_scheme(uri: str) -> str:
    """The URI by the scheme that Hadoop knows: `s3://b/k` → `s3a://b/k`."""
    scheme = scheme_of(uri)
    return uri if scheme not in _ALSO else _ALSO[scheme] + uri.removeprefix(scheme)


def local_path(uri: str) -> Path | None:
    """The path that the URI of a local file, or an absolute path, names; None for another file system."""
    path = uri.removeprefix("file:")
    return Path("/" + path.lstrip("/")) if path.startswith("/") else None


def object_address(uri: str) -> ObjectAddress | None:
    """The place in an object store that a URI names; None for another file system."""
    scheme = scheme_of(with_hadoops_scheme(uri))
    if scheme not in OBJECT_STORES:
        return None
    bucket, _, key = with_hadoops_scheme(uri).removeprefix(f"{scheme}://").partition("/")
    return ObjectAddress(f"{OBJECT_STORES[scheme]}://{bucket}", key.strip("/"))


def hdfs_address(uri: str) -> HdfsAddress | None:
    """The place in HDFS that a URI names; None for another file system."""
    if scheme_of(uri) != _HDFS:
        return None
    node, _, path = uri.removeprefix(f"{_HDFS}://").partition("/")
    return HdfsAddress(f"{_HDFS}://{node}", "/" + path.strip("/"))


def why_no_warehouse(uri: str) -> str | None:
    """Why no warehouse can be at `uri`, by its name alone; None if one can."""
    scheme = scheme_of(uri)
    if not uri or (scheme is None and uri.startswith("file:")):
        return f"'{uri}': name a folder"
    if scheme not in (None, "file"):
        reason = _why_not_elsewhere(scheme, uri)
        if reason is not None:
            return reason
    if any(mark in (os.path.abspath(uri) if scheme is None else uri) for mark in _MARKS):
        return f"{uri}: a warehouse cannot have one of the characters % * ? [ in its path; name or rename the folder without them"
    return None


def _why_not_elsewhere(scheme: str, uri: str) -> str | None:
    if scheme == "az":
        return f"{uri}: name the account, too: abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
    if scheme not in (_HDFS, *OBJECT_STORES, *_ALSO):
        places = "a folder of this machine, or s3a://, gs://, abfss:// or hdfs://, in small letters"
        return f"{uri}: a warehouse is in {places}; {scheme}: is none of them"
    host, _, folder = uri.removeprefix(f"{scheme}://").partition("/")
    if not uri.startswith(f"{scheme}://") or not host or (scheme == _HDFS and not folder.strip("/")):
        return f"{uri}: name host and folder: {scheme}://{'HOST:PORT' if scheme == _HDFS else 'BUCKET'}/FOLDER"
    return None


def delta_url(uri: str) -> str:
    """What delta-rs calls the folder that a URI, or an absolute path, names.

    Raises BadWarehouse where no warehouse can be.
    """
    reason = why_no_warehouse(uri)
    if reason is not None:
        raise BadWarehouse(reason)
    place, path = object_address(uri), local_path(uri)
    return place.url if place is not None else uri if path is None else path.as_uri()
