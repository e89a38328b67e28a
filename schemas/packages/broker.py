"""What a broker is made of: it has no tables of its own, all packages read its state."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.packages.computed import Computed
from schemas.packages.declaration import Declaration
from schemas.spark_numbers import integer

#: `version_number` of Pulsar a.b.c is a · 10^6 + b · 10^3 + c.
VERSION_BASE = 1000
#: Whose cursor it is: a subscription's, or one of Pulsar's own by the beginning of its name.
CURSOR_OWNERS = ("subscription", "deduplication", "replicator")
SYSTEM_CURSORS = {"pulsar.dedup": 1, "pulsar.repl": 2}
_SETTINGS = {
    "dispatchThrottlingOnBatchMessageEnabled": "flag",
    "preciseTimeBasedBacklogQuotaCheck": "flag",
    "backlogQuotaCheckEnabled": "flag",
    "backlogQuotaCheckIntervalInSeconds": "integer",
}


def _version_sql() -> str:
    parts = (
        f"cast(try_cast(try_element_at(split(regexp_extract(version, '^[0-9.]+', 0), '[.]'), {k}) AS int) AS bigint)" for k in (1, 2, 3)
    )
    return " + ".join(f"coalesce({part}, 0L) * {VERSION_BASE ** (2 - k)}L" for k, part in enumerate(parts))


def _versions_of(versions: pa.Array) -> pa.Array:
    """The number of each text, as the SQL has it: of "3.0.4-rc" 3000004; a part that is none, or too large, counts 0."""
    numbers = []
    for text in versions.to_pylist():
        parts = [] if text is None else re.match(r"[0-9.]*", text)[0].split(".")  # type: ignore[index]  # matches any text
        known = [integer(part, bits=32) or 0 for part in (*parts, "", "", "")[:3]]
        numbers.append(sum(part * VERSION_BASE ** (2 - k) for k, part in enumerate(known)))
    return pa.array(numbers, pa.int64())


def _owners_of(subscriptions: pa.Array) -> pa.Array:
    owners = np.zeros(len(subscriptions), dtype=np.int64)
    for name, owner in SYSTEM_CURSORS.items():
        owners[pc.fill_null(pc.starts_with(subscriptions, name), False).to_numpy(zero_copy_only=False)] = owner
    return pa.array(owners)


PACKAGE = Declaration(
    "broker",
    slots={
        "broker_start": (*(f"settings.{key}" for key in _SETTINGS), "version_number"),
        "setting": tuple(f"setting.{key}" for key in _SETTINGS),
        "dispatch_rate": ("level", "msg_rate", "byte_rate", "period_s", "relative", "limiter"),
        "backlog_quota": ("quota_type", "limit", "policy"),
        "ledger_open": ("ledger", "snapshot"),
        "ledger_close": ("ledger", "entries", "bytes", "close_ts", "snapshot"),
        "ledger_trim": ("ledger",),
        "cursor_open": ("ledger", "entry", "entries", "durable", "snapshot", "cursor_owner"),
        "dispatcher_open": ("sub_type",),
        "publish": ("ledger", "entry", "msgs", "bytes", "publish_ts"),
        "dispatch": ("entries", "msgs", "bytes"),
        "ack": ("ledger", "entry", "ack_type", "batch_index"),
        "mark_delete": ("ledger", "entry", "persisted", "reset"),
        "conn_open": ("conn",),
        "conn_close": ("conn",),
        "writability": ("conn", "writable", "pending_bytes"),
        "throttle": ("conn", "throttle_type", "on"),
        "request": ("conn",),
        "producer_open": ("conn", "producer"),
        "producer_close": ("conn", "producer"),
        "consumer_open": ("conn", "consumer"),
        "consumer_close": ("conn", "consumer"),
    },
    computed={
        "version_number": Computed(_version_sql(), ("version",), _versions_of),
        "cursor_owner": Computed(
            "CASE " + " ".join(f"WHEN startswith(sub, '{name}') THEN {n}L" for name, n in SYSTEM_CURSORS.items()) + " ELSE 0L END",
            ("sub",),
            _owners_of,
        ),
    },
    settings=_SETTINGS,
    views=("topics", "brokers"),
)
