"""The newest consistent cut of a warehouse, asked of whoever looks at it."""

from dataclasses import replace
from datetime import datetime

from pipeline.warehouse.cut import LOOKED_AT, Batch, Cut, beyond_swaps, consistent_cut
from pipeline.warehouse.layout import WRITTEN_BY
from pipeline.warehouse.look import Look


def newest_cut(look: Look) -> Cut:
    """The newest consistent cut now. The table batch_manifest must exist."""
    cut = consistent_cut(_newest(look, "ingest"), _newest(look, "lanes"))
    if look.version("backfills") < 0:
        return cut
    finished = look.rows("SELECT max(finished_at) AS at FROM backfills WHERE swapped")[0]["at"]
    if finished is None:
        return cut
    swapped = {table: _swapped(look, table, finished) for table in WRITTEN_BY["lanes"]}
    return replace(cut, versions={**cut.versions, **beyond_swaps(cut.versions, swapped)})


def _swapped(look: Look, table: str, finished: datetime) -> set[int]:
    """Versions that replaced rows until then: those of whole rounds of `backfill`, who writes between micro-batches."""
    return {commit.version for commit in look.commits(table, LOOKED_AT) if commit.is_blind_append is False and commit.at <= finished}


def _newest(look: Look, query: str) -> list[Batch]:
    rows = look.rows(
        "SELECT batch_id, source_offsets, table_versions FROM batch_manifest"
        f" WHERE query = '{query}' ORDER BY batch_id DESC LIMIT {LOOKED_AT}"
    )
    return [Batch(row["batch_id"], row["source_offsets"], row["table_versions"]) for row in rows]
