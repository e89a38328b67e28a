"""Tables and checkpoints forgotten, so that they are computed anew."""

from collections.abc import Callable, Sequence
from typing import Any


def _nobody_watches(_step: str) -> None:
    """Steps that nobody asked for."""


def forget_lanes(warehouse: Any, say: Callable[[str], None], step: Callable[[str], None] = _nobody_watches) -> None:
    """Delete what lanes wrote. An interruption at any point leaves a warehouse that is refused with the advice to run this again.

    Hence the order: the checkpoint first, the rows of batch_manifest that the guard compares it with last.
    """
    from pipeline.store.files import files_at
    from pipeline.store.table_log import newest_version_at, opened
    from pipeline.warehouse.commit_tag import tagged
    from pipeline.warehouse.layout import WRITTEN_BY
    from pipeline.warehouse.tables import make_as_declared
    from schemas.tables.bookkeeping import LANE_CONTROL

    files = files_at(warehouse.root)
    files.write(warehouse.rebuild_marker, "lanes")
    _delete(files, [warehouse.checkpoint("lanes"), *(warehouse.table(table) for table in WRITTEN_BY["lanes"])], say, step)
    step("deleting rows of lanes from lane_control and batch_manifest")
    # Tombstones mark rejected lines and stay true. A drain would end the new run where the old one ended.
    if newest_version_at(warehouse.table("lane_control")) >= 0:
        opened(warehouse.table("lane_control")).delete("kind <> 'tombstone'", commit_properties=tagged())
        say("lane_control: all but tombstones deleted")
        make_as_declared(warehouse, LANE_CONTROL)
    opened(warehouse.table("batch_manifest")).delete("query = 'lanes'", commit_properties=tagged())
    say("batch_manifest: rows of lanes deleted")


def forget_all(warehouse: Any, say: Callable[[str], None], step: Callable[[str], None] = _nobody_watches) -> None:
    """Delete every checkpoint and every table but WATCH_TABLES; batch_manifest last, for the same reason."""
    from pipeline.store.files import files_at
    from pipeline.warehouse.layout import QUERIES
    from schemas.tables import TABLES, WATCH_TABLES

    files = files_at(warehouse.root)
    files.delete(warehouse.replay_marker)  # what an interrupted replay would go on with is deleted, too
    forgotten = [table.name for table in TABLES if table not in WATCH_TABLES and table.name != "batch_manifest"]
    tables = [warehouse.table(name) for name in [*forgotten, "batch_manifest"]]
    _delete(files, [*(warehouse.checkpoint(query) for query in QUERIES), *tables], say, step)


def _delete(files: Any, uris: Sequence[str], say: Callable[[str], None], step: Callable[[str], None]) -> None:
    for number, uri in enumerate(uris, 1):
        step(f"deleting folder {number} of {len(uris)}")
        if files.delete(uri):
            say(f"deleted {uri}")
