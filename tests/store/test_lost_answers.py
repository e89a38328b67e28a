"""Answers of a store that are lost on their way, and how its faults are told."""

from datetime import UTC, datetime

import pytest
from s3_server import CUT_AFTER, S3

from pipeline.lanes.control import issue_drain
from pipeline.run_context import RunContext
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.faults import store_fault
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import check_table, create_missing_tables
from schemas.tables import TABLES
from schemas.tables.bookkeeping import NAMES


def test_tables_whose_making_nobody_confirms_are_made_once(s3: S3, lake: str) -> None:
    """The client asks again, and the store refuses what is there by now."""
    lost = set[str]()

    def first_answer(method: str, key: str) -> str | None:
        if method != "PUT" or not key.endswith(f"{0:020}.json") or key in lost:
            return None
        lost.add(key)
        return CUT_AFTER

    s3.fault = first_answer
    warehouse = Warehouse(lake)
    create_missing_tables(warehouse)
    assert len(lost) == len(TABLES)
    for table in TABLES:
        check_table(warehouse, table)
        assert newest_version_at(warehouse.table(table.name)) <= 1, "at most once more, and empty"


def test_rows_whose_commit_nobody_confirms_are_there_once(s3: S3, lake: str) -> None:
    warehouse, run = Warehouse(lake), RunContext("run", "0", lambda: datetime(2026, 1, 2, tzinfo=UTC), lambda: None, lambda _: None)
    create_missing_tables(warehouse)
    names = [{**dict.fromkeys(NAMES.names), "id": number, "level": "broker", "broker": f"b{number}"} for number in (1, 2)]
    lost = set[str]()

    def first_answer(method: str, key: str) -> str | None:
        if method != "PUT" or not key.endswith((f"{1:020}.json", f"{2:020}.json")) or key in lost:
            return None
        lost.add(key)
        return CUT_AFTER

    s3.fault = first_answer
    for version, name in enumerate(names):
        append_rows(warehouse, NAMES, [name], ("names", version))
    assert issue_drain(warehouse, run) == 2
    assert len(lost) == 3
    assert arrow_rows(warehouse.table("names"), ["id"]).sort_by("id").to_pylist() == [{"id": 1}, {"id": 2}]
    assert sorted(arrow_rows(warehouse.table("lane_control"))["broker_id"].to_pylist()) == [1, 2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "Kernel error -> Generic S3 error\n  \x1b[31m↳\x1b[0m Error getting list response body\n    \x1b[31m↳\x1b[0m HTTP error",
            "the object store failed: Error getting list response body: HTTP error; "
            "see the address (AWS_ENDPOINT_URL, AWS_REGION) and the network, then repeat this",
        ),
        (
            "Failed: Generic S3 error: Error performing GET: Client error with status 403 Forbidden\n more",
            "the object store failed: Error performing GET: Client error with status 403 Forbidden; "
            "see the key, its rights, and whether it expired",
        ),
        (
            "Generic HdfsObjectStore error\n  ↳ RPC error\n    ↳ connection refused",
            "HDFS failed: RPC error: connection refused; see the address, HADOOP_CONF_DIR and the network, then repeat this",
        ),
        (
            "Kernel error -> The operation lacked the necessary privileges to complete for path wh/t\n"
            "  ↳ Error performing GET\n    ↳ 403 Forbidden",
            "the object store failed: Error performing GET: 403 Forbidden; see the key, its rights, and whether it expired",
        ),
        (
            "The operation lacked valid authentication credentials for path wh/t: Error performing GET: 401 Unauthorized\n more",
            "the object store failed: Error performing GET: 401 Unauthorized; see the key, its rights, and whether it expired",
        ),
        (
            "An error occurred while calling o3539.start.\n: org.apache.http.ConnectionClosedException: Premature end of body\n"
            "\tat org.apache.http.impl.io.In.read(In.java:403)\n\tat software.amazon.awssdk.core.ResponseInputStream.read(R.java:1)",
            "the object store failed: ConnectionClosedException: Premature end of body; "
            "see the address (AWS_ENDPOINT_URL, AWS_REGION) and the network, then repeat this",
        ),
        (
            "An error occurred while calling o1.load.\n: org.apache.spark.sql.AnalysisException: no such column\n\tat a.b.C.d(C.java:1)",
            None,
        ),
        ("Generic error", None),
    ],
)
def test_a_fault_of_a_store_is_one_sentence_with_its_causes(text: str, sentence: str | None) -> None:
    assert store_fault(OSError(text)) == sentence
