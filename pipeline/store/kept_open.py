"""Tables that this process writes, kept open: who opens one asks a store for each commit since the newest checkpoint of its log."""

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from pipeline.store.address import delta_url
from pipeline.store.credentials import delta_options
from pipeline.store.table_log import opened

#: By URL, and by the endpoint of the store: the same URL may be another store's.
_Key = tuple[str, str]
_tables: dict[_Key, "_Kept"] = {}
_locks: defaultdict[_Key, Lock] = defaultdict(Lock)


class _Kept(NamedTuple):
    table: DeltaTable
    #: A key of the store that is renewed makes others.
    options: dict[str, str]


@contextmanager
def kept_open(uri: str) -> Iterator[DeltaTable]:
    """The table as it is now, for one writer of this process at a time.

    Raises DeltaError or TableNotFoundError if there is none. A table that is deleted and made again must be forgotten first.
    """
    key = _key(uri)
    with _locks[key]:
        _tables[key] = _as_it_is_now(uri, key)
        try:
            yield _tables[key].table
        except BaseException:
            # Nobody knows how far it came.
            del _tables[key]
            raise


def forget_table(uri: str) -> None:
    """Open the table anew when it is written next."""
    _tables.pop(_key(uri), None)


def _as_it_is_now(uri: str, key: _Key) -> _Kept:
    kept, options = _tables.get(key), delta_options(delta_url(uri))
    if kept is None or kept.options != options:
        return _Kept(opened(uri), options)
    try:
        kept.table.update_incremental()
    except DeltaError:  # its log was cleaned up beyond what it knew
        return _Kept(opened(uri), options)
    return kept


def _key(uri: str) -> _Key:
    return delta_url(uri), os.environ.get("AWS_ENDPOINT_URL", "")
