"""What lies beside the tables of a warehouse: lock, stop file, checkpoints, entries of logs."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol


class SmallFiles(Protocol):
    """Whole small files, by URI or path."""

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder."""

    def absolute(self, uri: str) -> str:
        """`uri` with the scheme that Hadoop knows, and with the working directory before a relative path."""

    def names(self, folder: str, after: str = "") -> list[str]:
        """Names of what lies in `folder` and is greater than `after`, sorted; empty if it does not exist."""

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""

    def modified_at(self, uri: str) -> datetime | None:
        """When the file was written last, by its file system's clock; None if there is none."""

    def dated(self, uri: str) -> tuple[str, datetime] | None:
        """Content, and when it was written; None if there is no such file (any more)."""
        text, at = self.read(uri), self.modified_at(uri)
        return None if text is None or at is None else (text, at)

    def below(self, uri: str) -> Iterator[tuple[str, int]]:
        """(absolute URI, bytes) of every file in a folder and in the folders below, in any order, or of the file that is at `uri`.

        Nothing if neither is there.
        """

    def bytes_below(self, uri: str) -> int:
        """Length of these files, without Hadoop's checksum files."""
        return sum(size for name, size in self.below(uri) if not name.endswith(".crc"))

    def write(self, uri: str, text: str) -> None:
        """Make or replace the file."""

    def create(self, uri: str, text: str) -> bool:
        """Make the file unless it is there; False if it is. Of several callers one wins."""

    def replace(self, uri: str, before: str, text: str) -> bool:
        """Replace the file if it says `before`; False if it says something else, or is not there.

        In an object store one of several callers wins. Elsewhere two may: each looks, and then writes.
        """
        if self.read(uri) != before:
            return False
        self.write(uri, text)
        return True

    def delete(self, uri: str) -> bool:
        """Remove a file, or a folder with all in it; False if there was none."""
