"""A Delta table and its log, by delta-rs or as text, on every file system that delta-rs opens. No Spark."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from deltalake import DeltaTable

from pipeline.store.address import delta_url
from pipeline.store.commit import Commit
from pipeline.store.credentials import delta_options
from pipeline.store.files import files_at
from pipeline.store.whole_answers import whole_answer

#: A commit of a table in its log.
_COMMIT = re.compile(r"(\d{20})\.json")
#: Operations of delta-rs that change rows.
_CHANGES = ("WRITE", "MERGE", "DELETE", "UPDATE")


def opened(uri: str, version: int | None = None) -> DeltaTable:
    """The table now or at a version. Raises DeltaError or TableNotFoundError if there is none."""
    url = delta_url(uri)
    return whole_answer(lambda: DeltaTable(url, version, storage_options=delta_options(url)))


def newest_version_at(uri: str) -> int:
    """Version of the table now; −1 if there is none.

    Looks behind the newest checkpoint of the log alone: a live job makes tens of thousands of commits a day, and a store lists a thousand
    at a time.
    """
    checkpoint = _newest_checkpoint(uri)
    return max(_versions(uri, f"{checkpoint:020}.json" if checkpoint >= 0 else ""), default=checkpoint)


def last_transaction(uri: str, app_id: str) -> int | None:
    """The greatest version that was committed under the application id; None: there is none."""
    return opened(uri).transaction_version(app_id)


def _newest_checkpoint(uri: str) -> int:
    """Version of the log's newest checkpoint; −1 if there is none, or if the note of it is being written."""
    text = files_at(uri).read(f"{uri}/_delta_log/_last_checkpoint")
    try:
        return -1 if text is None else int(json.loads(text)["version"])
    except ValueError:  # Delta replaces it in place on this machine
        return -1


def commit_text(uri: str, version: int) -> str | None:
    """The version's entry in the log; None if it is not there (any more)."""
    return files_at(uri).read(_entry(uri, version))


def committed_at(uri: str, version: int) -> datetime | None:
    """When the version was written, by its file in the log, to the millisecond, as Delta takes it; None if that is gone."""
    return files_at(uri).modified_at(_entry(uri, version))


def commit_of(uri: str, version: int) -> Commit | None:
    """The version, by its entry in the log; None if that is not there (any more). Times are the file's, as Delta takes them."""
    found = files_at(uri).dated(_entry(uri, version))
    if found is None:
        return None
    text, at = found
    # Files that a commit adds are most of its lines, and nobody asks for them here.
    line = next((line for line in text.splitlines() if line.startswith('{"commitInfo"')), None)
    info = {} if line is None else json.loads(line)["commitInfo"]
    return Commit(version, str(info.get("operation", "unknown")), at, _is_blind_append(info), info.get("userMetadata"))


def _entry(uri: str, version: int) -> str:
    return f"{uri}/_delta_log/{version:020}.json"


def _versions(uri: str, after: str = "") -> list[int]:
    return [int(found[1]) for name in files_at(uri).names(f"{uri}/_delta_log", after) if (found := _COMMIT.fullmatch(name))]


def _is_blind_append(info: Mapping[str, Any]) -> bool | None:
    """Spark says it; of delta-rs it follows from what it did."""
    told, operation = info.get("isBlindAppend"), info.get("operation")
    if told is not None or operation not in _CHANGES:
        return told
    return operation == "WRITE" and info.get("operationParameters", {}).get("mode") == "Append"
