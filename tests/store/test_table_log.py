"""A table's log: its newest version, and how much of the log that asks for."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType
from s3_server import S3

from pipeline.store.address import delta_url
from pipeline.store.commit import Commit
from pipeline.store.credentials import delta_options
from pipeline.store.files import files_at
from pipeline.store.table_log import commit_of, committed_at, newest_version_at
from pipeline.warehouse.newest_cut import ROWS_STAY

VERSIONS = 25


@pytest.fixture(params=["disk", "object store"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A table of 25 versions with checkpoints at 9 and 19."""
    uri = f"{tmp_path}/t" if request.param == "disk" else f"{request.getfixturevalue('lake')}/t"
    url, rows = delta_url(uri), pa.table({"n": [1]})
    Path(tmp_path, "t").mkdir()
    options = delta_options(url)
    DeltaTable.create(url, schema=rows.schema, configuration={"delta.checkpointInterval": "10"}, storage_options=options)
    for _ in range(VERSIONS - 1):
        write_deltalake(url, rows, mode="append", storage_options=options)
    return uri


def test_the_newest_version_is_found_behind_the_checkpoint(table: str) -> None:
    assert newest_version_at(table) == VERSIONS - 1
    files = files_at(table)
    for version in range(20, VERSIONS):
        files.delete(f"{table}/_delta_log/{version:020}.json")
    assert newest_version_at(table) == 19, "the checkpoint itself"
    files.write(f"{table}/_delta_log/_last_checkpoint", '{"vers')
    assert newest_version_at(table) == 19, "a note that is being written says nothing"
    files.delete(table)
    assert newest_version_at(table) == -1


def test_a_commit_has_its_operation_and_the_time_of_its_file(table: str) -> None:
    found = commit_of(table, 24)
    assert found is not None
    assert (found.version, found.operation, found.is_blind_append) == (24, "WRITE", True)
    assert found.at == committed_at(table, 24)
    assert commit_of(table, 25) is None


@pytest.mark.parametrize("table", ["object store"], indirect=True)
def test_a_store_lists_what_is_behind_the_checkpoint_alone(table: str, s3: S3) -> None:
    s3.listed.clear()
    newest_version_at(table)
    assert [name for name in s3.listed if name.endswith(".json")] == [
        f"wh/t/_delta_log/{version:020}.json" for version in range(20, VERSIONS)
    ]


def test_what_a_commit_did_to_the_rows_is_known(tmp_path: Path) -> None:
    """A consistent cut goes on beyond commits that replace rows, not beyond appends."""
    place, rows = str(tmp_path), pa.table({"n": [1, 2]})
    write_deltalake(place, rows)
    write_deltalake(place, rows, mode="append")
    write_deltalake(place, pa.table({"n": [7]}), mode="overwrite", predicate="n = 7")  # of no row that was there
    DeltaTable(place).delete("n = 2")
    merged = DeltaTable(place).merge(rows, "t.n = s.n", source_alias="s", target_alias="t")
    merged.when_matched_update({"n": "5"}).execute()
    DeltaTable(place).optimize.compact()
    found = [(commit.operation, commit.is_blind_append) for commit in _commits_of(place)]
    assert found[1:] == [("WRITE", True), ("WRITE", False), ("DELETE", False), ("MERGE", False), ("OPTIMIZE", None)]


def test_a_start_of_a_new_version_leaves_the_rows_as_they_are(tmp_path: Path) -> None:
    """By what delta-rs calls it: a consistent cut goes on beyond it."""
    place = str(tmp_path)
    write_deltalake(place, pa.table({"n": [1]}))
    DeltaTable(place).alter.add_columns(Field("more", PrimitiveType("long"), nullable=True))
    DeltaTable(place).alter.add_constraint({"n": "n > 0"})
    DeltaTable(place).alter.drop_constraint("n")
    found = [commit.operation for commit in _commits_of(place)][1:]
    assert len(found) == 3
    assert {*found} <= {*ROWS_STAY}


def _commits_of(place: str) -> list[Commit]:
    """Oldest first."""
    found = [commit_of(place, version) for version in range(newest_version_at(place) + 1)]
    return [commit for commit in found if commit is not None]
