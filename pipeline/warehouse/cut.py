"""A consistent cut over all tables: the versions that whole micro-batches of both queries left.

Each table by itself is atomic, but a micro-batch writes several: read each at its newest version and some may show a micro-batch that the
others do not have yet. `batch_manifest` records where the tables stood after each whole one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.warehouse.layout import WRITTEN_BY
from pipeline.warehouse.offsets import delta_offsets
from schemas.tables import JOB_TABLES

#: Every table is made empty: nothing was written at version 0.
EMPTY_VERSION = 0
NOTHING_READ = -1
#: Lanes may have read some micro-batches of ingest before ingest's manifest has them. They are never more than so many.
LOOKED_AT = 100


@dataclass(frozen=True)
class Batch:
    """What a cut needs of a row of batch_manifest."""

    batch_id: int
    source_offsets: str
    table_versions: Mapping[str, str]


@dataclass(frozen=True)
class Cut:
    """A version of every table of the job but batch_manifest, and the newest micro-batch in it of each query (None: none yet).

    The rows of batch_manifest that belong to the cut are those of a query up to its `batch_id` here: a warehouse has one checkpoint of each
    query, a rebuild deletes the rows of the one before.
    """

    versions: Mapping[str, int]
    ingest: Batch | None
    lanes: Batch | None


def bronze_version_read(source_offsets: str) -> int:
    """Version of dispatch_events of which a micro-batch of lanes read something, or all: the last one that it needs.

    `source_offsets` is Spark's offset log entry: a version line, metadata, and a line of Delta's per source, bronze first.
    """
    offset = delta_offsets(source_offsets)[0]
    # A negative index stands before the version's first file.
    return NOTHING_READ if offset is None else offset.version - (1 if offset.index < 0 else 0)


def bronze_written(ingest: Sequence[Batch]) -> int:
    """Version of dispatch_events that ingest's newest whole micro-batch left."""
    return int(ingest[0].table_versions["dispatch_events"]) if ingest else EMPTY_VERSION


def consistent_cut(ingest: Sequence[Batch], lanes: Sequence[Batch], bronze: int | None = None) -> Cut:
    """The newest cut; micro-batches of each query newest first.

    `bronze`: version of dispatch_events with the same rows as `bronze_written`, if there is a later one.
    Tables that lanes write stand where lanes' newest micro-batch left them that read no event beyond what ingest's newest whole one wrote.
    Both queries write quarantine. It stands where the later of the two left it; what ingest has begun to write since is left out by the
    number of its micro-batch (`rows_of_the_cut`).
    """
    newest = ingest[0] if ingest else None
    written = bronze_written(ingest) if bronze is None else bronze
    read = next((batch for batch in lanes if bronze_version_read(batch.source_offsets) <= written), None)
    versions = {}
    for table in JOB_TABLES:
        batch = read if table.name in WRITTEN_BY["lanes"] else newest
        if table.name != "batch_manifest":
            versions[table.name] = int(batch.table_versions.get(table.name, EMPTY_VERSION)) if batch else EMPTY_VERSION
    if read is not None:
        versions["quarantine"] = max(versions["quarantine"], int(read.table_versions.get("quarantine", EMPTY_VERSION)))
    return Cut(versions, newest, read)


def beyond_swaps(versions: Mapping[str, int], swapped: Mapping[str, Collection[int]]) -> dict[str, int]:
    """Versions of the tables after the commits of whole backfill rounds (`swapped`) that follow them without an append between."""
    gone_on = {}
    for table, replaced in swapped.items():
        gone_on[table] = versions[table]
        while gone_on[table] + 1 in replaced:
            gone_on[table] += 1
    return gone_on


def rows_of_the_cut(cut: Cut, table: str) -> str | None:
    """SQL: whether a row of the table, at its version, belongs to the cut; None: every row does."""
    if table == "quarantine":
        return "false" if cut.ingest is None else f"ingest_batch <= {cut.ingest.batch_id}"
    return f"{_up_to('ingest', cut.ingest)} OR {_up_to('lanes', cut.lanes)}" if table == "batch_manifest" else None


def _up_to(query: str, newest: Batch | None) -> str:
    return "false" if newest is None else f"(query = '{query}' AND batch_id <= {newest.batch_id})"
