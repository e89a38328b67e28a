"""Small files on this machine's file system."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pipeline.faults import BadWarehouse
from pipeline.store.small_files import SmallFiles


class LocalFiles(SmallFiles):
    """`SmallFiles` of this machine, by `file:` URI or path. Faults of the file system come through as OSError."""

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""
        return _of(uri).exists()

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder."""
        return _of(uri).is_dir()

    def absolute(self, uri: str) -> str:
        """`uri` with its scheme, and with the working directory before a relative path, as Hadoop has it."""
        return f"file:{os.path.abspath(_of(uri))}"

    def names(self, folder: str, after: str = "") -> list[str]:
        """Names of what lies in `folder` and is greater than `after`, sorted; empty if it does not exist."""
        try:
            return sorted(name for name in os.listdir(_of(folder)) if name > after)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""
        try:
            return _of(uri).read_text("utf-8")
        except FileNotFoundError:
            return None

    def modified_at(self, uri: str) -> datetime | None:
        """When the file was written last, to the millisecond; None if there is none."""
        try:
            return datetime.fromtimestamp(_of(uri).stat().st_mtime_ns // 1_000_000 / 1000, UTC)
        except FileNotFoundError:
            return None

    def below(self, uri: str) -> Iterator[tuple[str, int]]:
        """(absolute URI, bytes) of every file in a folder and in the folders below, in any order, or of the file that is at `uri`.

        Links are followed, as Spark follows them.
        """
        place = os.path.abspath(_of(uri))
        walked = ([place] if os.path.isfile(place) else []) or (
            os.path.join(parent, name) for parent, _, names in os.walk(place, followlinks=True) for name in names
        )
        for path in walked:
            with suppress(FileNotFoundError):  # it may go while others are looked at; a link may lead nowhere
                yield f"file:{path}", os.stat(path).st_size

    def write(self, uri: str, text: str) -> None:
        """Make or replace the file, and the folders that it is in."""
        path = _of(uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def create(self, uri: str, text: str) -> bool:
        """Make the file unless it is there; False if it is. Of several callers one wins.

        Raises BadWarehouse if its folder cannot be made.
        """
        path = _of(uri)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise BadWarehouse(
                f"the folder {path.parent} cannot be made: no right to, or no such disk; choose another, or give the right"
            ) from fault
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            return False
        return True

    def delete(self, uri: str) -> bool:
        """Remove a file, or a folder with all in it; False if there was none."""
        path = _of(uri)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
            return True
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        return True


def _of(uri: str) -> Path:
    return Path("/" + uri.removeprefix("file:").lstrip("/") if uri.startswith("file:/") else uri)
