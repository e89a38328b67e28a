"""Small text files in a warehouse (lock, stop file, checkpoints), through Hadoop's file systems: WAREHOUSE may be any URI they know."""

from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.warehouse.local_files import local_path, names_in, text_in


class WarehouseFiles:
    """Reads and writes whole small files by URI or absolute path. Faults of the file system come through as Py4JJavaError or OSError.

    What is local is looked at without Hadoop: each of its steps crosses into the JVM some times, and every micro-batch looks often.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    @property
    def _jvm(self) -> Any:
        return self._spark._jvm

    @property
    def _gateway(self) -> Any:
        return self._spark._sc._gateway

    def _open(self, uri: str) -> tuple[Any, Any]:
        """(file system, path). Of the local one the raw form: its checksum files would contradict files that others write."""
        path = self._jvm.org.apache.hadoop.fs.Path(uri)
        system = path.getFileSystem(self._spark._jsc.hadoopConfiguration())
        if system.getUri().getScheme() == "file":
            system = system.getRawFileSystem() if hasattr(system, "getRawFileSystem") else system
        return system, path

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""
        local = local_path(uri)
        if local is not None:
            return local.exists()
        system, path = self._open(uri)
        return bool(system.exists(path))

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder. Py4JJavaError if nothing is there."""
        system, path = self._open(uri)
        return bool(system.getFileStatus(path).isDirectory())

    def names(self, folder: str) -> list[str]:
        """Names of what lies in `folder`, sorted; empty if it does not exist."""
        local = local_path(folder)
        if local is not None:
            return names_in(local)
        system, path = self._open(folder)
        return sorted(status.getPath().getName() for status in system.listStatus(path)) if system.exists(path) else []

    def modified_at(self, uri: str) -> datetime | None:
        """When the file was written last, by its file system's clock; None if there is none."""
        system, path = self._open(uri)
        try:
            return datetime.fromtimestamp(system.getFileStatus(path).getModificationTime() / 1000, UTC)
        except Py4JJavaError as fault:
            if _is(fault, "FileNotFoundException", "NoSuchFileException"):
                return None
            raise

    def bytes_below(self, folder: str) -> int:
        """Length of all files in `folder` and the folders below; 0 if it does not exist."""
        path = self._jvm.org.apache.hadoop.fs.Path(folder)
        system = path.getFileSystem(self._spark._jsc.hadoopConfiguration())  # of the local one the form that hides checksum files
        return int(system.getContentSummary(path).getLength()) if system.exists(path) else 0

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""
        local = local_path(uri)
        if local is not None:
            return text_in(local)
        system, path = self._open(uri)
        try:
            stream = system.open(path)
        except Py4JJavaError as fault:
            if _is(fault, "FileNotFoundException", "NoSuchFileException"):
                return None
            raise
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, uri: str, text: str) -> None:
        """Make or replace the file."""
        system, path = self._open(uri)
        _fill(system.create(path, True), text)

    def create(self, uri: str, text: str) -> bool:
        """Make the file unless it is there; False if it is. One of several callers wins, as far as the file system can promise it.

        Raises BadWarehouse if its folder cannot be made.
        """
        system, path = self._open(uri)
        if not system.mkdirs(path.getParent()):
            raise BadWarehouse(
                f"the folder {path.getParent()} cannot be made: no right to, or no such disk; choose another, or give the right"
            )
        try:
            if system.getUri().getScheme() == "file":
                # Hadoop's local file system looks and then creates, which two callers can do at once; the system can do it in one step.
                nio = self._jvm.java.nio.file
                nio.Files.createFile(nio.Paths.get(path.toUri().getPath(), self._no_strings()), self._no_attributes())
                self.write(uri, text)
            else:
                _fill(system.create(path, False), text)
        except Py4JJavaError as fault:
            if _is(fault, "FileAlreadyExistsException", "AlreadyBeingCreatedException"):
                return False
            raise
        return True

    def delete(self, uri: str) -> bool:
        """Remove a file, or a folder with all in it; False if there was none."""
        system, path = self._open(uri)
        return bool(system.delete(path, True))

    def absolute(self, uri: str) -> str:
        """`uri` with its scheme, and with the working directory before a relative path."""
        system, path = self._open(uri)
        return str(system.makeQualified(path).toString())

    def _no_strings(self) -> Any:
        return self._gateway.new_array(self._jvm.java.lang.String, 0)

    def _no_attributes(self) -> Any:
        return self._gateway.new_array(self._jvm.java.nio.file.attribute.FileAttribute, 0)


def _fill(stream: Any, text: str) -> None:
    try:
        stream.write(bytearray(text.encode("utf-8")))
    finally:
        stream.close()


def _is(fault: Py4JJavaError, *names: str) -> bool:
    return str(fault.java_exception.getClass().getSimpleName()) in names
