"""Where things are in a warehouse. WAREHOUSE may be any Hadoop-compatible URI: only strings are joined here."""

from dataclasses import dataclass

from schemas.tables import LANE_TABLES

INGEST, LANES = QUERIES = ("ingest", "lanes")
#: What `rebuild` has to forget so that a query begins anew: lanes have read what ingest wrote.
REBUILT_WITH = {"ingest": "all", "lanes": "lanes"}
#: Tables that a query alone writes rows of its own into. `lane_control` has several writers and belongs to none.
WRITTEN_BY = {
    "ingest": ("dispatch_events", "quarantine", "names", "ingest_files"),
    "lanes": tuple(table.name for table in LANE_TABLES),
}


@dataclass(frozen=True)
class Warehouse:
    """Root URI or absolute path of the warehouse, without a trailing slash."""

    root: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.rstrip("/"))

    def table(self, name: str) -> str:
        """Folder of the Delta table `name`."""
        return f"{self.root}/{name}"

    def checkpoint(self, query: str) -> str:
        """Spark's checkpoint folder of `query` (one of QUERIES)."""
        return f"{self.root}/_checkpoints/{query}"

    @property
    def lock_file(self) -> str:
        """Held by the one driver that may write."""
        return f"{self.root}/_driver_lock"

    @property
    def upkeep_lock_file(self) -> str:
        """Held by the one command that may rewrite or delete the tables' files."""
        return f"{self.root}/_upkeep_lock"

    @property
    def staging(self) -> str:
        """Where a backfill puts what it computes until it is compared."""
        return f"{self.root}/_backfill"

    @property
    def stop_file(self) -> str:
        """Whoever makes this file asks the running driver to stop after its running micro-batch."""
        return f"{self.root}/_stop"

    @property
    def rebuild_marker(self) -> str:
        """Left by `rebuild lanes`: the next lanes query begins over events that lie there in no order."""
        return f"{self.root}/_checkpoints/_lanes_rebuilt"

    @property
    def replay_marker(self) -> str:
        """There while a `quarantine replay` is between its first write and its last; its text is the replay's number."""
        return f"{self.root}/_quarantine_replay"

    @property
    def replay_command(self) -> str:
        """The command that ends a `quarantine replay` which was interrupted."""
        return f"./spark-submit.sh quarantine replay --warehouse {self.root}"

    def rebuild_command(self, query: str) -> str:
        """The command that computes anew what `query` (one of QUERIES) wrote."""
        events = " --events URI" if query == "ingest" else ""
        return f"./spark-submit.sh rebuild {REBUILT_WITH[query]} --warehouse {self.root}{events}"


def writer_of(table: str) -> str:
    """The query that is to be computed anew where the table is gone or another; ingest, and with it all, where it is not of lanes alone."""
    return "lanes" if table in WRITTEN_BY["lanes"] else "ingest"
