"""Small files in HDFS, by a client that needs no JVM. The name node decides who makes a file; HADOOP_CONF_DIR names the services."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from hdfs_native import Client, FileReader, WriteOptions

from pipeline.faults import BadWarehouse, invariant
from pipeline.store.address import hdfs_address
from pipeline.store.small_files import SmallFiles


class HdfsFiles(SmallFiles):
    """`SmallFiles` of HDFS, by URI. Raises BadWarehouse where HDFS does not answer."""

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""
        return _status(uri) is not None

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder."""
        found = _status(uri)
        return found is not None and bool(found.isdir)

    def absolute(self, uri: str) -> str:
        """`uri`: it has its scheme."""
        return uri

    def names(self, folder: str, after: str = "") -> list[str]:
        """Names of what lies in `folder` and is greater than `after`, sorted; empty if it does not exist."""
        with _asked(folder) as (client, path):
            try:
                found = [status.path.rpartition("/")[2] for status in client.list_status(path)]
            except FileNotFoundError:
                return []
            return sorted(name for name in found if name > after)

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file."""
        with _asked(uri) as (client, path):
            try:
                with client.read(path) as file:
                    return bytes(file.read()).decode()
            except FileNotFoundError:
                return None

    def modified_at(self, uri: str) -> datetime | None:
        """When the file was written last, by the name node's clock; None if there is none."""
        found = _status(uri)
        return None if found is None else datetime.fromtimestamp(found.modification_time / 1000, UTC)

    def below(self, uri: str) -> Iterator[tuple[str, int]]:
        """(absolute URI, bytes) of every file in a folder and in the folders below, in any order, or of the file that is at `uri`."""
        with _asked(uri) as (client, path):
            node = uri.rstrip("/").removesuffix(path.rstrip("/"))
            try:
                yield from ((f"{node}{found.path}", found.length) for found in client.list_status(path, recursive=True) if not found.isdir)
            except FileNotFoundError:
                return

    def write(self, uri: str, text: str) -> None:
        """Make or replace the file, and the folders that it is in."""
        with _asked(uri) as (client, path), client.create(path, WriteOptions(overwrite=True)) as file:
            file.write(text.encode())

    def create(self, uri: str, text: str) -> bool:
        """Make the file unless it is there; False if it is. Of several callers one wins: a name is given once, to a whole file."""
        with _asked(uri) as (client, path):
            begun = f"{path}.{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
            with client.create(begun, WriteOptions(overwrite=True)) as file:
                file.write(text.encode())
            try:
                client.rename(begun, path)
            except FileExistsError:
                return False
            finally:
                client.delete(begun)
            return True

    def delete(self, uri: str) -> bool:
        """Remove a file, or a folder with all in it; False if there was none."""
        with _asked(uri) as (client, path):
            return bool(client.delete(path, recursive=True))


def opened(uri: str) -> FileReader:
    """A file of which any part may be read, as Python has files. Raises FileNotFoundError."""
    with _asked(uri) as (client, path):
        return client.read(path)


def parts_of(uri: str) -> Iterator[bytes]:
    """Content of a file, a part at a time. Raises FileNotFoundError."""
    with _asked(uri) as (client, path), client.read(path) as file:
        yield from file.read_range_stream(0, len(file))


def begun(uri: str) -> Any:
    """A new file to write to, as Python has files; it replaces what is there."""
    with _asked(uri) as (client, path):
        return client.create(path, WriteOptions(overwrite=True))


def size_and_time(uri: str) -> tuple[int, int]:
    """(bytes, when it was written: ms since 1970) of a file that is whole."""
    found = _status(uri)
    if found is None:
        raise FileNotFoundError(uri)
    return int(found.length), int(found.modification_time)


@lru_cache(maxsize=16)
def _client(node: str, process: int) -> Client:
    """The client of a name node or name service, by its URL. Each process has its own: a fork has not the threads of its parent's."""
    return Client(node)


def _status(uri: str) -> Any:
    with _asked(uri) as (client, path):
        try:
            return client.get_file_info(path)
        except FileNotFoundError:
            return None


@contextmanager
def _asked(uri: str) -> Iterator[tuple[Client, str]]:
    """The client for the URI, and the path. What the client raises when HDFS does not answer becomes one line."""
    place = hdfs_address(uri)
    invariant(place is not None, f"{uri} is not in HDFS")
    assert place is not None
    try:
        yield _client(place.node, os.getpid()), place.path
    except (FileNotFoundError, FileExistsError):
        raise
    except (OSError, RuntimeError) as fault:
        told = str(fault).splitlines()[0]
        raise BadWarehouse(f"{place.node} failed: {told}; see the address, HADOOP_CONF_DIR and the network, then repeat this") from fault
