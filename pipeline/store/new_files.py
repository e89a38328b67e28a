"""Files that a task writes by columns, where no table knows them yet."""

import os
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa

from pipeline.store.address import hdfs_address, local_path, object_address
from pipeline.store.object_files import object_store


def begun_file(uri: str) -> pa.NativeFile:
    """Begin the file; whoever writes it closes it."""
    place = object_address(uri)
    if place is not None:
        return pa.PythonFile(_Upload(place.bucket, place.key), mode="w")
    if hdfs_address(uri) is not None:
        from pipeline.store.hdfs_files import begun

        return pa.PythonFile(begun(uri), mode="w")
    path = Path(str(local_path(uri)))
    path.parent.mkdir(parents=True, exist_ok=True)
    return pa.OSFile(str(path), mode="wb")


def size_and_time(uri: str) -> tuple[int, int]:
    """(bytes, when it was written: ms since 1970) of a file that is whole."""
    if hdfs_address(uri) is not None:
        from pipeline.store import hdfs_files

        return hdfs_files.size_and_time(uri)
    place = object_address(uri)
    if place is None:
        found = os.stat(str(local_path(uri)))
        return found.st_size, int(found.st_mtime * 1000)
    about = obstore.head(object_store(place.bucket), place.key)
    return about["size"], int(about["last_modified"].timestamp() * 1000)


class _Upload:
    """An object that is written part by part, as a file of Python."""

    def __init__(self, bucket: str, key: str) -> None:
        self._writer = obstore.open_writer(object_store(bucket), key)
        self._bytes = 0
        self.closed = False

    def writable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes that were written."""
        return self._bytes

    def write(self, part: Any) -> int:
        """The next part."""
        written = bytes(part)
        self._writer.write(written)
        self._bytes += len(written)
        return len(written)

    def flush(self) -> None:
        """Parts are sent when they are large enough, the last one at the end."""

    def close(self) -> None:
        """The object is whole."""
        if not self.closed:
            self.closed = True
            self._writer.close()
