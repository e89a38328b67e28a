"""Whole files between this machine and an object store or HDFS."""

from collections.abc import Iterable
from pathlib import Path

import obstore

from pipeline.store.address import object_address
from pipeline.store.object_files import object_store

#: Bytes that are read at a time.
_PART_BYTES = 1 << 22


def fetch(uri: str, to: Path) -> None:
    """Write the file at `uri` to a path of this machine. Raises FileNotFoundError."""
    place = object_address(uri)
    parts: Iterable[bytes]
    if place is not None:
        parts = obstore.get(object_store(place.bucket), place.key).stream()
    else:
        from pipeline.store.hdfs_files import parts_of

        parts = parts_of(uri)
    with to.open("wb") as file:
        for part in parts:
            file.write(part)


def send(path: Path, uri: str) -> None:
    """Write a file of this machine to `uri`."""
    place = object_address(uri)
    if place is not None:
        obstore.put(object_store(place.bucket), place.key, path)
        return
    from pipeline.store.hdfs_files import begun

    with path.open("rb") as file, begun(uri) as there:
        while part := file.read(_PART_BYTES):
            there.write(part)
