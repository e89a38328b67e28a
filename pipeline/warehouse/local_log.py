"""A table's log on the local file system, by delta-rs or as text. No Spark."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from deltalake import DeltaTable

from pipeline.warehouse.look import Commit

#: A commit of a table in its log.
_COMMIT = re.compile(r"(\d{20})\.json")


def local_folder(uri: str) -> str | None:
    """The folder that a URI or absolute path names on the local file system; None: on another one, or delta-rs cannot open it.

    delta-rs decodes a folder's name once too often, so it looks for one with a percent sign elsewhere.
    """
    path = uri.removeprefix("file:")
    return "/" + path.lstrip("/") if path.startswith("/") and "%" not in path else None


def opened(folder: str, version: int | None = None) -> DeltaTable:
    """The table in a folder that `local_folder` gave, now or at a version. Raises DeltaError or TableNotFoundError if there is none."""
    return DeltaTable(Path(folder).as_uri(), version)


def newest_local_version(folder: str) -> int:
    """Version of the table now; −1 if there is none."""
    return max(_versions(folder), default=-1)


def commit_file(folder: str, version: int) -> Path:
    """The version's entry in the log."""
    return Path(folder, "_delta_log", f"{version:020}.json")


def committed_at(entry: Path) -> datetime:
    """When an entry of a log was written, to the millisecond, as Delta takes it. Raises FileNotFoundError."""
    return datetime.fromtimestamp(entry.stat().st_mtime_ns // 1_000_000 / 1000, UTC)


def local_commits(folder: str, most: int | None = None) -> list[Commit]:
    """What the log still has of the table's versions, newest first: all, or `most`. One that is cleaned up meanwhile is left out."""
    commits = (_commit(folder, version) for version in sorted(_versions(folder), reverse=True)[:most])
    return [commit for commit in commits if commit is not None]


def _versions(folder: str) -> Iterator[int]:
    try:
        names = os.listdir(Path(folder, "_delta_log"))
    except FileNotFoundError:
        return
    yield from (int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))


def _commit(folder: str, version: int) -> Commit | None:
    """Times are the file's, as Delta takes them."""
    file = commit_file(folder, version)
    try:
        text, at = file.read_text("utf-8"), committed_at(file)
    except FileNotFoundError:
        return None
    # Files that a commit adds are most of its lines, and nobody asks for them here.
    found = next((line for line in text.splitlines() if line.startswith('{"commitInfo"')), None)
    info = {} if found is None else json.loads(found)["commitInfo"]
    return Commit(version, str(info.get("operation", "unknown")), at, info.get("isBlindAppend"), info.get("userMetadata"))
