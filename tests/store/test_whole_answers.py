"""An answer of a store that breaks off is asked for again, by delta-rs and by obstore; one that always does is told."""

from collections.abc import Callable
from typing import Any

import pytest
from s3_server import CUT_AMID, S3

from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.faults import store_fault
from pipeline.store.files import files_at
from pipeline.store.open_tables import forget_table
from pipeline.store.table_log import newest_version_at, opened
from pipeline.store.whole_answers import whole_answer
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import make_report_table
from schemas.tables.bookkeeping import NAMES
from schemas.tables.watch import RUN_LEDGER


@pytest.fixture
def warehouse(lake: str) -> Warehouse:
    """With one table."""
    made = Warehouse(lake)
    make_report_table(made, RUN_LEDGER)
    return made


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda uri: opened(uri).version(), 0),
        (newest_version_at, 0),
        (lambda uri: files_at(uri).names(f"{uri}/_delta_log"), [f"{0:020}.json"]),
        (lambda uri: files_at(uri).names(f"{uri}/_delta_log", "0"), [f"{0:020}.json"]),
        (lambda uri: files_at(uri).exists(f"{uri}/_delta_log"), True),
        (lambda uri: [found.rpartition("/")[2] for found, _ in files_at(uri).below(uri)], [f"{0:020}.json"]),
        (lambda uri: files_at(uri).read(f"{uri}/none"), None),
        (lambda uri: make_report_table(Warehouse(uri.rpartition("/")[0]), RUN_LEDGER), None),
    ],
    ids=["open", "newest version", "names", "names after", "exists", "below", "read", "make"],
)
def test_whichever_answer_breaks_off_once(s3: S3, warehouse: Warehouse, ask: Callable[[str], Any], answer: Any) -> None:
    uri = warehouse.table(RUN_LEDGER.name)
    s3.requests.clear()
    assert ask(uri) == answer
    asked = len(s3.requests)
    for broken in range(asked):
        requests = iter(range(1_000))
        s3.requests.clear()
        s3.fault = lambda method, key, of=requests, broken=broken: CUT_AMID if next(of) == broken else None
        assert ask(uri) == answer
    assert len(s3.requests) > asked


def test_a_new_table_is_made_once(s3: S3, lake: str) -> None:
    for broken in range(12):
        requests = iter(range(1_000))
        s3.fault = lambda method, key, of=requests, broken=broken: CUT_AMID if next(of) == broken else None
        made = Warehouse(f"{lake}/{broken}")
        make_report_table(made, RUN_LEDGER)
        s3.fault = lambda method, key: None
        assert opened(made.table(RUN_LEDGER.name)).version() == 0


def test_an_append_once_is_there_once_whichever_answer_breaks_off(s3: S3, lake: str) -> None:
    warehouse = Warehouse(lake)
    make_report_table(warehouse, NAMES)
    uri = warehouse.table(NAMES.name)
    row = {**dict.fromkeys(NAMES.names), "level": "broker", "broker": "b"}
    number = 0
    for is_open in (True, False):
        broken, is_over = 0, False
        while not is_over:
            if not is_open:
                forget_table(uri)
            s3.requests.clear()
            requests = iter(range(1_000))
            s3.fault = lambda method, key, of=requests, broken=broken: CUT_AMID if next(of) == broken else None
            append_rows(warehouse, NAMES, [{**row, "id": number}], ("names", number))
            s3.fault = lambda method, key: None
            number, broken, is_over = number + 1, broken + 1, len(s3.requests) <= broken
    assert sorted(arrow_rows(uri, ["id"])["id"].to_pylist()) == [*range(number)]
    assert number > 8


def test_one_that_always_breaks_off_is_told_in_a_line(s3: S3, warehouse: Warehouse) -> None:
    s3.fault = lambda method, key: CUT_AMID if key == "" else None
    s3.requests.clear()
    with pytest.raises(OSError) as fault:
        opened(warehouse.table(RUN_LEDGER.name))
    assert len([request for request in s3.requests if request.startswith("LIST")]) == 5
    assert "the object store failed: Error getting list response body" in str(store_fault(fault.value))


def test_another_fault_is_not_asked_for_again() -> None:
    asked = []

    def refused() -> None:
        asked.append(1)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        whole_answer(refused)
    assert len(asked) == 1
