"""Small files in an object store, as on a disk."""

import time
from pathlib import Path

import pytest
from files_contract import FilesContract, TakeOverContract
from s3_server import BUSY, CUT_AFTER, CUT_BEFORE, S3, Stored

from pipeline.faults import BadWarehouse
from pipeline.store.files import files_at


class TestEverywhere(FilesContract):
    """The same on a disk and in an object store."""

    @pytest.fixture(params=["disk", "object store"])
    def place(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        """A folder. The store has this machine's clock."""
        if request.param == "disk":
            return f"file:{tmp_path}/wh"
        request.getfixturevalue("s3").clock = time.time
        return str(request.getfixturevalue("lake"))


class TestTakeOver(TakeOverContract):
    """In an object store."""

    @pytest.fixture
    def place(self, lake: str) -> str:
        """A folder."""
        return lake


def test_marks_that_hadoop_leaves_are_no_files_and_go_with_their_folder(s3: S3, lake: str) -> None:
    """It makes an object whose key ends with a slash for each folder. Spark refuses a state in a folder that has one."""
    files = files_at(lake)
    files.write(f"{lake}/lanes/metadata", "x")
    for key in ("wh/lanes/", "wh/lanes/state/", "wh/lanes/state/0/"):
        s3.objects[key] = Stored(b"", 0)
    assert files.names(lake) == ["lanes"]
    assert files.names(f"{lake}/lanes") == ["metadata", "state"]
    assert files.delete(f"{lake}/lanes")
    assert [key for key in s3.objects if key.startswith("wh/lanes")] == []


@pytest.mark.parametrize("fault", [BUSY, CUT_BEFORE, CUT_AFTER])
def test_who_makes_a_file_knows_it_though_the_store_fails_amid_it(s3: S3, lake: str, fault: str) -> None:
    """The request is sent again. After a lost answer the store says that the file is there: it is ours."""
    failed: list[str] = []

    def once(method: str, key: str) -> str | None:
        if method == "PUT" and not failed:
            failed.append(key)
            return fault
        return None

    s3.fault = once
    files = files_at(lake)
    assert files.create(f"{lake}/lock", "mine")
    failed.clear()
    assert files.replace(f"{lake}/lock", "mine", "mine, later")
    assert files.read(f"{lake}/lock") == "mine, later"
    assert len([request for request in s3.requests if request == "PUT wh/lock"]) == 4


def test_addresses_have_the_scheme_that_spark_knows() -> None:
    assert files_at("s3://lake/wh").absolute("s3://lake/wh") == "s3a://lake/wh"
    with pytest.raises(BadWarehouse, match="wasb://name/wh: wasb: is not known"):
        files_at("wasb://name/wh")
