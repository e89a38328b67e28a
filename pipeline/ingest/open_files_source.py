"""Open files as a second source of ingest: it wakes the query when collectors have written more, and says how far to read.

Spark's file source takes a file once, by its name, when it is finished. This source has no rows, only offsets: how far each open file is
whole. What lies between two offsets is read beside the files that Spark plans (pipeline/sources/listed_files.py). So cuts, kills and
reruns are those of Spark's offset log.

It lives in a process of Python that Spark starts for it, about two seconds. So it is added to a query when it is needed first.
"""

import json
import signal
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from pipeline.ingest.source_log import TakenUp, offset_of, parts_in
from pipeline.sources.open_files import look
from pipeline.sources.place import Place
from pipeline.warehouse.layout import Warehouse

_FORMAT = "dispatch_open_files"
#: Finished files are taken out of the offset in one of so many looks. Spark's log is read for it.
_LOOKS_UNTIL_FORGOTTEN = 10


def open_files_stream(spark: SparkSession, warehouse: Warehouse, query: str, place: Place, looks: bool) -> DataFrame:
    """A stream without rows, with the columns of `listed_stream`. Without `looks` it stands still."""
    spark.dataSource.register(OpenFilesSource)
    options = {"place": json.dumps(asdict(place)), "warehouse": warehouse.root, "query": query, "looks": str(looks)}
    return spark.readStream.format(_FORMAT).options(**options).load()


class OpenFilesSource(DataSource):
    """What Spark asks for a reader."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return _FORMAT

    def schema(self) -> str:
        """The columns of `listed_stream`."""
        return "path string, length bigint"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The reader, in the process that Spark started for it."""
        # Whoever signals the whole process group means the driver. This process ends with Java.
        for deaf_to in (signal.SIGINT, signal.SIGTERM):
            signal.signal(deaf_to, signal.SIG_IGN)
        warehouse, query = Warehouse(self.options["warehouse"]), self.options["query"]
        return OpenFilesReader(Place(**json.loads(self.options["place"])), TakenUp(warehouse, query), self.options["looks"] == str(True))


class OpenFilesReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets, and nothing between them."""

    def __init__(self, place: Place, taken_up: TakenUp, looks: bool) -> None:
        self._place, self._taken_up, self._looks = place, taken_up, looks
        self._count = 0
        self._only_one_look = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """No file was read."""
        return offset_of({})

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """`--once`: one look, and what is there by then."""
        self._only_one_look = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """How far open files are whole now. A look reads at most MOST_BYTES of each file, so the read limit changes nothing."""
        if not self._looks or (self._only_one_look and self._count):
            return start
        self._count += 1
        return offset_of(look(self._place, parts_in(start), self._forgotten))

    def _forgotten(self, files: set[str]) -> set[str]:
        return self._taken_up.among(files) if self._count % _LOOKS_UNTIL_FORGOTTEN == 1 else set()

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[InputPartition]:
        """None: the micro-batch reads what lies between by itself."""
        return []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Nothing: it has no partitions."""
        return iter(())
