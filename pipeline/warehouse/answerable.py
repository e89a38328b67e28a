"""Whether a warehouse can answer about subscriptions now; if not, the reason, with the command that helps."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from pipeline.faults import BadWarehouse
from pipeline.store.small_files import SmallFiles
from pipeline.warehouse.cut import Cut
from pipeline.warehouse.layout import Warehouse, writer_of
from pipeline.warehouse.look import Look
from pipeline.warehouse.newest_cut import is_half_written

#: Tables without which nobody knows why a subscription is behind.
OF_CAUSES = ("subscription_causes", "broker_windows")


def refuse_missing(warehouse: Warehouse, files: SmallFiles, tables: Iterable[str]) -> None:
    """Raise BadWarehouse with the command that helps where no warehouse is, or one of `tables` is not in it."""
    needed = ("batch_manifest", *tables)
    with ThreadPoolExecutor(len(needed)) as threads:
        there = threads.map(files.exists, [f"{warehouse.table(table)}/_delta_log" for table in needed])
        gone = [table for table, is_there in zip(needed, there, strict=True) if not is_there]
    if "batch_manifest" in gone:
        make = "./spark-submit.sh stream --once --events URI --warehouse URI"
        raise BadWarehouse(f"there is no warehouse at {warehouse.root}; make one: {make}")
    if gone:
        raise BadWarehouse(f"table {gone[0]} is gone from {warehouse.root}: {warehouse.rebuild_command(writer_of(gone[0]))}")


def refuse_half_written(look: Look, cut: Cut | None) -> None:
    """Raise BadWarehouse where the first micro-batch is half written: half of it is no answer. `cut`: the one that `look` goes by."""
    if cut is not None and is_half_written(look, cut):
        raise BadWarehouse(f"the first micro-batch of lanes in {look.warehouse.root} is not whole yet: ask again in a moment")
