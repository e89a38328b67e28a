"""Tables that this process writes, kept open: who opens one asks a store for each commit since the newest checkpoint of its log."""

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from pipeline.store.address import delta_url
from pipeline.store.credentials import delta_options
from pipeline.store.table_log import opened
from pipeline.store.whole_answers import whole_answer

#: By URL, and by the endpoint of the store: the same URL may be another store's.
_Key = tuple[str, str]
#: Micro-batches after which a table is brought up to date. Until then its log cannot have been cleaned up beyond what is known: they start
#: a day apart at most (`stream.trigger_interval_ms`), and Delta keeps a log for thirty days.
_NEAR = 10


@dataclass
class KeptTable:
    """A table that is open with `options`, which change when a key of the store is renewed.

    `appended`: the newest version of each application id under which this process appended to it.
    """

    delta: DeltaTable
    options: dict[str, str]
    appended: dict[str, int] = field(default_factory=dict)

    def is_appended(self, app_id: str, version: int) -> bool:
        """Whether the table has an append of the application id with this version, or a later one."""
        last = self.appended.get(app_id)
        if last is None:
            last = self.delta.transaction_version(app_id)
        return last is not None and last >= version

    def is_near(self, app_id: str, version: int) -> bool:
        """Whether this process appended under the application id a few versions ago."""
        return app_id in self.appended and 0 <= version - self.appended[app_id] <= _NEAR


_tables: dict[_Key, KeptTable] = {}
_locks: defaultdict[_Key, Lock] = defaultdict(Lock)
#: What this process knows of rows that stay as they are, by the table's key.
_known: defaultdict[_Key, dict[Any, Any]] = defaultdict(dict)


@contextmanager
def kept_open(uri: str, once: tuple[str, int] | None = None) -> Iterator[KeptTable]:
    """The table, for one writer of this process at a time: as it is now; or, for an append that is `once`, as it was at the last one.

    `once` is (app id, version), the version a micro-batch's number. Who appends to a table that is behind is refused by the store:
    delta-rs then looks at what others committed, and raises CommitFailedError if the same application id is among it.
    Raises DeltaError or TableNotFoundError if there is none. A table that is deleted and made again must be forgotten first.
    """
    key = _key(uri)
    with _locks[key]:
        kept, options = _tables.get(key), delta_options(delta_url(uri))
        if kept is None or kept.options != options or once is None or not kept.is_near(*once):
            kept = _tables[key] = _as_it_is_now(uri, options, kept)
        try:
            yield kept
        except BaseException:
            # Nobody knows how far it came.
            del _tables[key]
            raise


def forget_table(uri: str) -> None:
    """Open the table anew when it is written next, and forget what is known of its rows."""
    _tables.pop(_key(uri), None)
    _known.pop(_key(uri), None)


def known_of(uri: str) -> dict[Any, Any]:
    """What this process knows of rows of the table that nobody changes: for the caller to fill and to bound."""
    return _known[_key(uri)]


def _as_it_is_now(uri: str, options: dict[str, str], kept: KeptTable | None) -> KeptTable:
    if kept is None or kept.options != options:
        return KeptTable(opened(uri), options)
    before = kept.delta.version()
    try:
        whole_answer(kept.delta.update_incremental)
    except DeltaError:  # its log was cleaned up beyond what it knew
        return KeptTable(opened(uri), options)
    # Another driver may have appended, too: the table tells.
    return kept if kept.delta.version() == before else KeptTable(kept.delta, options)


def _key(uri: str) -> _Key:
    return delta_url(uri), os.environ.get("AWS_ENDPOINT_URL", "")
