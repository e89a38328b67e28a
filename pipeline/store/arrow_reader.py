"""Rows of a Delta table by Arrow: for a process that takes a part of a table into its memory."""

import pyarrow.dataset as ds
from pyarrow.fs import SubTreeFileSystem

from pipeline.store.arrow_places import arrow_place
from pipeline.store.table_log import opened


def dataset_at(uri: str, version: int | None = None) -> ds.Dataset:
    """The rows of the table, now or at a version, to be read by Arrow. Raises DeltaError or TableNotFoundError if there is none."""
    # The file system of delta-rs is Python's. Threads of Arrow may still close files after the last row is read,
    # and a process that ends just then is aborted (seen 26 times of 240). Arrow's own needs no Python.
    return opened(uri, version).to_pyarrow_dataset(filesystem=SubTreeFileSystem(*arrow_place(uri)))
