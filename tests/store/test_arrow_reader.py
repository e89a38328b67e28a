"""Small tables of a driver, read without Spark."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import TableNotFoundError
from pyarrow.fs import LocalFileSystem

from pipeline.store.arrow_reader import arrow_rows, dataset_at


def test_a_table_is_read_as_it_is_and_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "a warehouse" / "names"
    for names in (["x:8080", "50%"], ["z é"]):
        write_deltalake(folder.as_uri(), pa.table({"id": range(len(names)), "name": names}), mode="append", partition_by=["name"])
    assert sorted(dataset_at(str(folder)).to_table()["name"].to_pylist()) == ["50%", "x:8080", "z é"]
    assert sorted(dataset_at(str(folder), 0).to_table()["name"].to_pylist()) == ["50%", "x:8080"]


def test_no_thread_of_arrow_needs_python_to_close_a_file(tmp_path: Path) -> None:
    write_deltalake(tmp_path.as_uri(), pa.table({"id": [1]}))
    found = dataset_at(str(tmp_path))
    assert isinstance(found.filesystem.base_fs, LocalFileSystem)
    assert found.to_table().to_pylist() == [{"id": 1}]


def test_a_table_that_a_delete_has_rewritten_is_asked_for_texts(tmp_path: Path) -> None:
    """What delta-rs rewrites has other types of texts than what we write."""
    write_deltalake(tmp_path.as_uri(), pa.table({"query": ["ingest", "lanes", "lanes"], "run": ["a", "b", "c"], "id": [1, 2, 3]}))
    DeltaTable(tmp_path.as_uri()).delete("query = 'ingest'")
    (file,) = dataset_at(str(tmp_path)).get_fragments()
    assert file.physical_schema.field("run").type == pa.string_view(), "else there is nothing to be careful about"
    assert arrow_rows(str(tmp_path), ["id"], {"run": ["b"]}).to_pylist() == [{"id": 2}]
    assert arrow_rows(str(tmp_path), ["id"], {"run": pa.array(["c"]), "id": [2, 3]}, {"id": (3, 3)}).to_pylist() == [{"id": 3}]


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError):
        dataset_at(str(tmp_path))
