"""Small files in a file system that only Hadoop knows (HDFS), through the JVM of a session."""

from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pipeline.faults import BadWarehouse
from pipeline.store.address import local_path, object_address
from pipeline.store.files import files_at
from pipeline.store.small_files import SmallFiles


def files_with_hadoop(uri: str, spark: SparkSession) -> SmallFiles:
    """The small files of the file system that the URI is in, whichever; a path without a scheme is in Hadoop's default one."""
    return files_at(uri) if local_path(uri) is not None or object_address(uri) is not None else HadoopFiles(spark)


class HadoopFiles(SmallFiles):
    """`SmallFiles` of any file system that Hadoop knows. Faults come through as Py4JJavaError."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    @property
    def _jvm(self) -> Any:
        return self._spark._jvm

    def _open(self, uri: str) -> tuple[Any, Any]:
        """(file system, path)."""
        path = self._jvm.org.apache.hadoop.fs.Path(uri)
        return path.getFileSystem(self._spark._jsc.hadoopConfiguration()), path

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""
        system, path = self._open(uri)
        return bool(system.exists(path))

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder. Py4JJavaError if nothing is there."""
        system, path = self._open(uri)
        return bool(system.getFileStatus(path).isDirectory())

    def absolute(self, uri: str) -> str:
        """`uri` with its scheme, and with the working directory before a relative path."""
        system, path = self._open(uri)
        return str(system.makeQualified(path).toString())

    def names(self, folder: str, after: str = "") -> list[str]:
        """Names of what lies in `folder` and is greater than `after`, sorted; empty if it does not exist."""
        system, path = self._open(folder)
        found = [status.getPath().getName() for status in system.listStatus(path)] if system.exists(path) else []
        return sorted(name for name in found if name > after)

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""
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
        system, path = self._open(folder)
        return int(system.getContentSummary(path).getLength()) if system.exists(path) else 0

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


def _fill(stream: Any, text: str) -> None:
    try:
        stream.write(bytearray(text.encode("utf-8")))
    finally:
        stream.close()


def _is(fault: Py4JJavaError, *names: str) -> bool:
    return str(fault.java_exception.getClass().getSimpleName()) in names
