"""Small files on the local file system, without Hadoop: each of its steps crosses into the JVM some times."""

import os
from pathlib import Path


def local_path(uri: str) -> Path | None:
    """The path that Hadoop's URI of a local file names (nothing in it is percent-encoded); None for another file system.

    A path without a scheme is in Hadoop's default file system, whichever that is.
    """
    return Path("/" + uri.removeprefix("file:").lstrip("/")) if uri.startswith("file:/") else None


def names_in(folder: Path) -> list[str]:
    """Names of what lies there, sorted; empty if it does not exist."""
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


def text_in(file: Path) -> str | None:
    """Content as UTF-8 text; None if there is no such file (or it vanishes while it is read)."""
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return None


class LocalFiles:
    """Files on the local file system, as `TextFiles` has them, by `file:` URI or path."""

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is there."""
        return _of(uri).exists()

    def is_folder(self, uri: str) -> bool:
        """Whether what is there is a folder."""
        return _of(uri).is_dir()

    def absolute(self, uri: str) -> str:
        """`uri` with its scheme, and with the working directory before a relative path, as Hadoop has it."""
        return f"file:{os.path.abspath(_of(uri))}"

    def names(self, folder: str) -> list[str]:
        """Names of what lies in `folder`, sorted; empty if it does not exist."""
        return names_in(_of(folder))

    def read(self, uri: str) -> str | None:
        """Content as UTF-8 text; None if there is no such file."""
        return text_in(_of(uri))


def _of(uri: str) -> Path:
    return Path("/" + uri.removeprefix("file:").lstrip("/") if uri.startswith("file:/") else uri)
