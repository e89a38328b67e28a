"""Records that Spark hands over as columns (Delta): the Python stage that checks them against the contract."""

from functools import partial

from pyspark.sql import DataFrame

from pipeline.sources.names_met import TaskNames
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.typed_table import parse_typed
from pipeline.sources.rows import Counted, block_rows, summary_row
from pipeline.sources.source import Batches, InTask, task_of


def typed_rows(records: DataFrame, limits: ParseLimits, in_task: InTask) -> DataFrame:
    """What a task makes of the rows (ROW_SCHEMA) of records."""
    return records.mapInArrow(task_of(partial(_read, limits), in_task), in_task.schema)


def _read(limits: ParseLimits, batches: Batches) -> Batches:
    met = TaskNames()
    for batch in batches:
        if batch.num_rows:
            counted, block = Counted(None, 0, met), parse_typed(batch, limits)
            counted.add(block)
            yield from block_rows(block)
            yield summary_row(counted)
