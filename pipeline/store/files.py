"""The door to small files beside the tables (lock, stop file, checkpoints, entries of logs): whoever has the URI's file system opens it."""

from datetime import datetime
from typing import Protocol

from pipeline.faults import BadWarehouse
from pipeline.store.address import local_path, object_address, scheme_of
from pipeline.store.local_files import LocalFiles


class SmallFiles(Protocol):
    """Whole small files, by URI or path."""

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder."""

    def absolute(self, uri: str) -> str:
        """`uri` with the scheme that Hadoop knows, and with the working directory before a relative path."""

    def names(self, folder: str) -> list[str]:
        """Names of what lies in `folder`, sorted; empty if it does not exist."""

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""

    def modified_at(self, uri: str) -> datetime | None:
        """When the file was written last, by its file system's clock; None if there is none."""

    def bytes_below(self, folder: str) -> int:
        """Length of all files in `folder` and the folders below; 0 if it does not exist."""

    def write(self, uri: str, text: str) -> None:
        """Make or replace the file."""

    def create(self, uri: str, text: str) -> bool:
        """Make the file unless it is there; False if it is. Of several callers one wins."""

    def replace(self, uri: str, before: str, text: str) -> bool:
        """Replace the file if it says `before`; False if it says something else, or is not there. An object store lets one win."""

    def delete(self, uri: str) -> bool:
        """Remove a file, or a folder with all in it; False if there was none."""


def files_at(uri: str) -> SmallFiles:
    """The small files of the file system that the URI is in; a path without a scheme is on this machine.

    Raises BadWarehouse for a file system that only Hadoop knows: `files_with_hadoop` (hadoop_files.py) opens it.
    """
    if local_path(uri) is not None or scheme_of(uri) is None:
        return LocalFiles()
    if object_address(uri) is not None:
        from pipeline.store.object_files import ObjectFiles

        return ObjectFiles()
    raise BadWarehouse(f"{uri} is in a file system that only Hadoop reads; this command opens s3a:, gs:, abfss: and local ones")
