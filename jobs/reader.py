"""Who answers a command that only reads: the reading room, or Spark where only Hadoop can read."""

import os
import sys
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any

from pipeline.faults import BadWarehouse
from pipeline.store.address import object_address, scheme_of

if TYPE_CHECKING:
    from pipeline.reading.by_spark import SparkLook
    from pipeline.reading.room import ReadingRoom
    from pipeline.warehouse.layout import Warehouse
    from pipeline.warehouse.look import Look

#: Who may be asked for, where a command leaves the choice.
ROOM, SPARK = "room", "spark"
#: Where a path without a scheme may be in another file system than this machine's.
_HADOOP = "HADOOP_CONF_DIR"


def only_hadoop(uri: str) -> str | None:
    """Why the room cannot read the warehouse at `uri`; None if it can, as far as its name shows. Standard library only (jobs/needs.py)."""
    scheme, is_object = scheme_of(uri), object_address(uri) is not None
    if scheme not in (None, "file") and not is_object:
        return f"{uri} is in a file system that only Hadoop reads"
    if scheme is None and os.environ.get(_HADOOP) and not os.path.exists(uri):
        return f"{uri} may be in the file system that {_HADOOP} names"
    if any(mark in (uri if is_object else os.path.abspath(uri)) for mark in "%*?["):
        return f"{uri} has one of the characters % * ? [ in its path"
    return None


def why_by_spark(uri: str, engine: str) -> str | None:
    """Why Spark answers of the warehouse at `uri`: it is asked for, or only Hadoop reads there. None: the room answers."""
    return f"--engine {SPARK}" if engine == SPARK else only_hadoop(uri)


def not_here(uri: str) -> str | None:
    """Why a command that writes files of this machine cannot have its warehouse at `uri`; None if it can."""
    return only_hadoop(uri) or (f"{uri} is not on this machine" if object_address(uri) is not None else None)


def named_warehouse(uri: str) -> "Warehouse":
    """The warehouse with scheme and absolute path, as Hadoop would name it. For a URI for which `only_hadoop` has no reason."""
    from pipeline.store.files import files_at
    from pipeline.warehouse.layout import Warehouse

    return Warehouse(files_at(uri).absolute(uri))


def open_room(uri: str, tables: Iterable[str] = (), *, consistent: bool = False, most_memory: str | None = None) -> "ReadingRoom":
    """The room of an existing warehouse for which `only_hadoop` has no reason.

    Raises BadWarehouse with the command that helps where none is, or one of `tables` is not in it.
    """
    from pipeline.reading.room import ReadingRoom
    from pipeline.store.files import files_at

    warehouse = named_warehouse(uri)
    refuse_missing(warehouse, files_at(warehouse.root), tables)
    return ReadingRoom(warehouse, consistent=consistent, most_memory=most_memory)


def look_at(uri: str, tables: Iterable[str] = (), *, consistent: bool = False) -> "ReadingRoom | SparkLook":
    """A look at an existing warehouse: by the room where it can, else by Spark, which a line on stderr says.

    `consistent`: all tables as the newest whole micro-batches left them. Raises BadWarehouse as `open_room` does.
    """
    from pipeline.reading.delta_table import OnlySpark

    reason = only_hadoop(uri)
    if reason is None:
        try:
            room = open_room(uri, tables, consistent=consistent)
            room.refuse_what_only_spark_reads()
            return room
        except OnlySpark as fault:
            reason = str(fault)
    from jobs.driver import existing_warehouse
    from jobs.session import LITTLE_DATA, build_session
    from pipeline.reading.by_spark import SparkLook

    say_by_spark(reason)
    spark = build_session("dispatch-analytics look", LITTLE_DATA)
    return SparkLook(spark, existing_warehouse(spark, uri, tables), consistent=consistent)


def look_at_causes(uri: str) -> "Look":
    """A look for those who answer about subscriptions: all tables at one consistent cut.

    Raises BadWarehouse as `look_at` does, and where the first micro-batch is half written: half of it is no answer.
    """
    from pipeline.warehouse.newest_cut import is_half_written

    look = look_at(uri, ("subscription_causes", "broker_windows"), consistent=True)
    if look.cut is not None and is_half_written(look, look.cut):
        raise BadWarehouse(f"the first micro-batch of lanes in {look.warehouse.root} is not whole yet: ask again in a moment")
    return look


def refuse_missing(warehouse: "Warehouse", files: Any, tables: Iterable[str]) -> None:
    """Raise BadWarehouse with the command that helps where no warehouse is, or one of `tables` is not in it."""
    from pipeline.warehouse.layout import writer_of

    gone = [table for table in ("batch_manifest", *tables) if not files.exists(f"{warehouse.table(table)}/_delta_log")]
    if "batch_manifest" in gone:
        make = "./spark-submit.sh stream --once --events URI --warehouse URI"
        raise BadWarehouse(f"there is no warehouse at {warehouse.root}; make one: {make}")
    if gone:
        raise BadWarehouse(f"table {gone[0]} is gone from {warehouse.root}: {warehouse.rebuild_command(writer_of(gone[0]))}")


class _NoPandas(MetaPathFinder):
    """As if pandas were not installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Raises ImportError for pandas."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out of what only reads", name=fullname)


def leave_pandas_out() -> None:
    """For a process that only reads: pyarrow imports pandas at the first array it makes, for a second, and nothing here uses pandas."""
    sys.meta_path.insert(0, _NoPandas())


def say_by_spark(reason: str) -> None:
    """Why the answer takes half a minute instead of a second. Spark needs pandas."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _NoPandas)]
    print(f"{reason}: Spark answers", file=sys.stderr, flush=True)
