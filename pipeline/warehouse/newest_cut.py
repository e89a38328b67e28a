"""The newest consistent cut of a warehouse, asked of whoever looks at it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pipeline.warehouse.cut import EMPTY_VERSION, LOOKED_AT, Batch, Cut, beyond_swaps, bronze_written, consistent_cut
from pipeline.warehouse.layout import WRITTEN_BY
from pipeline.warehouse.look import Look

#: Operations of a table's log that leave its rows as they are.
ROWS_STAY = (
    "OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "UPGRADE PROTOCOL",
    "ADD COLUMN", "ADD COLUMNS", "ADD CONSTRAINT", "DROP CONSTRAINT",
)  # fmt: skip
#: Tables whose rows tell where the newest cut is.
TELL_THE_CUT = frozenset({"batch_manifest", "backfills"})


def newest_cut(look: Look) -> Cut:
    """The newest consistent cut now. The table batch_manifest must exist."""
    ingest = _newest(look, "ingest")
    # A rebuilt query of lanes has read what `maintain` wrote after ingest's last micro-batch: rows that ingest wrote.
    cut = consistent_cut(ingest, _newest(look, "lanes"), _beyond_upkeep(look, "dispatch_events", bronze_written(ingest)))
    versions = dict(cut.versions)
    finished = look.rows("SELECT max(finished_at) AS at FROM backfills WHERE swapped")[0]["at"] if look.version("backfills") >= 0 else None
    if finished is not None:
        versions |= beyond_swaps(versions, _swapped(look, WRITTEN_BY["lanes"], finished))
    return replace(cut, versions={table: _beyond_upkeep(look, table, version) for table, version in versions.items()})


def is_half_written(look: Look, cut: Cut) -> bool:
    """Whether lanes have written something, and no micro-batch of theirs is whole: there is nothing that fits together."""
    return cut.lanes is None and any(look.version(table) > EMPTY_VERSION for table in WRITTEN_BY["lanes"])


def _beyond_upkeep(look: Look, table: str, version: int) -> int:
    """The version after what `maintain` did since: the files of the one before it are deleted some day, though nobody writes any more."""
    newest = look.version(table)
    if not 0 < newest - version <= LOOKED_AT:
        return version
    for commit in sorted(look.commits([table], newest - version)[table]):
        if commit.version != version + 1 or commit.operation not in ROWS_STAY:
            break
        version = commit.version
    return version


def _swapped(look: Look, tables: Sequence[str], finished: datetime) -> dict[str, set[int]]:
    """Versions that replaced rows until then: those of whole rounds of `backfill`, who writes between micro-batches."""
    return {
        table: {commit.version for commit in commits if commit.is_blind_append is False and commit.at <= finished}
        for table, commits in look.commits(tables, LOOKED_AT).items()
    }


def _newest(look: Look, query: str) -> list[Batch]:
    rows = look.rows(
        "SELECT batch_id, source_offsets, table_versions FROM batch_manifest"
        f" WHERE query = '{query}' ORDER BY batch_id DESC LIMIT {LOOKED_AT}"
    )
    return [Batch(row["batch_id"], row["source_offsets"], row["table_versions"]) for row in rows]
