"""Which names a task meets, gathered while its events go by: to read them back from bronze would be a second pass over every row."""

import pyarrow as pa

#: A task that meets more names hands over none: summaries of all tasks end in the driver's memory.
MOST_NAMES = 20_000

Name = dict[str, str | None]

NAME_COLUMNS = ("broker", "topic", "sub")
NAME_TYPE = pa.struct([(column, pa.string()) for column in NAME_COLUMNS])


class TaskNames:
    """What (broker, topic, sub) one task has met so far, at most `most` of them."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._met: set[tuple[str | None, ...]] = set()
        self._most = most

    def new_in(self, events: pa.RecordBatch) -> list[Name] | None:
        """Those of `events` (with NAME_COLUMNS) that the task meets first here; None, from then on, when there are too many."""
        if len(self._met) > self._most:
            return None
        columns = pa.table([events.column(name) for name in NAME_COLUMNS], names=NAME_COLUMNS)
        distinct = columns.group_by(list(NAME_COLUMNS), use_threads=False).aggregate([])
        new = [name for name in zip(*(distinct.column(name).to_pylist() for name in NAME_COLUMNS), strict=True) if name not in self._met]
        self._met.update(new)
        if len(self._met) > self._most:
            return None
        return [dict(zip(NAME_COLUMNS, name, strict=True)) for name in new]
