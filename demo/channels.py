"""The part of the demo about connections: which ones the broker did not read from, and why; beside it the broker's own counters."""

from typing import Any

from console.shown import aligned
from demo.proof import Compared
from pipeline.warehouse.look import Look
from tools.live_broker.broker_metrics import connection_counters

#: Sums over the windows of each connection that was ever paused or unwritable.
PAUSED = """
SELECT conn, sum(paused_count) AS paused, sum(resumed_count) AS resumed, sum(paused_ns) AS paused_ns, sum(unwritable_ns) AS unwritable_ns,
  max(pending_bytes_max) AS most_bytes, max(producers_paused_max) AS producers, max(consumers_unwritable_max) AS consumers
FROM channel_backpressure
GROUP BY conn
ORDER BY paused_ns DESC, conn
"""


def channel_report(look: Look, otel: str) -> tuple[str, Compared]:
    """What the tables have about connections, and their counters beside the broker's (`otel`, its OpenTelemetry figures)."""
    rows = look.rows(PAUSED)
    ours = {"paused": sum(row["paused"] for row in rows), "resumed": sum(row["resumed"] for row in rows)}
    pauses = compared_pauses(ours, connection_counters(otel))
    return f"Connections that the broker did not read from (PIP-434)\n\n{_connections(rows)}\n\n{pauses.text}", pauses


def compared_pauses(ours: dict[str, int], theirs: dict[str, int]) -> Compared:
    """Both sides, and how many differ."""
    different = sum(ours[name] != theirs[name] for name in theirs)
    figures = ", ".join(f"{name} {ours[name]:,} / {theirs[name]:,}" for name in theirs)
    summary = f"{different} of {len(theirs)} counters DIFFERENT" if different else f"all {len(theirs)} counters equal"
    return Compared(f"this job / the broker's own counter: {figures}\n{summary}", different, len(theirs))


def _connections(rows: list[Any]) -> str:
    head = ["connection", "paused", "time paused", "time unwritable", "most bytes at a mark", "producers waiting", "consumers slow"]
    shown = [
        (
            row["conn"], row["paused"], f"{row['paused_ns'] / 1e6:.1f} ms", f"{row['unwritable_ns'] / 1e6:.1f} ms",
            row["most_bytes"], row["producers"], row["consumers"],
        )
        for row in rows
    ]  # fmt: skip
    return aligned(head, shown)
