"""A consistent cut: versions of whole micro-batches only, and never lanes' figures of events that the cut does not hold."""

import json

from pipeline.warehouse.cut import Batch, bronze_version_read, consistent_cut, rows_of_the_cut
from schemas.tables import JOB_TABLES, LANE_TABLES

INGEST_TABLES = {table.name for table in JOB_TABLES} - {table.name for table in LANE_TABLES} - {"batch_manifest", "quarantine"}


def offsets(bronze: int, index: int = -1) -> str:
    """Spark's offset log entry of a micro-batch of lanes that read bronze up to there."""
    of_source = {"sourceVersion": 1, "reservoirId": "a", "isStartingVersion": False}
    sources = [of_source | {"reservoirVersion": bronze, "index": index}, of_source | {"reservoirVersion": 77, "index": -1}]
    return "\n".join(["v1", '{"batchWatermarkMs":0}', *map(json.dumps, sources)])


def ingest(at: int, version: int) -> Batch:
    return Batch(at, "v1\n{}\n{}", {table.name: str(version) for table in JOB_TABLES})


def lanes(at: int, version: int, bronze: int, index: int = -1) -> Batch:
    return Batch(at, offsets(bronze, index), {table.name: str(version) for table in JOB_TABLES})


def versions_of(ingests: list[Batch], lane_batches: list[Batch]) -> tuple[set[int], set[int]]:
    """Versions of the tables that ingest writes, and of those that lanes write."""
    cut = consistent_cut(ingests, lane_batches)
    assert cut.versions.keys() == {table.name for table in JOB_TABLES} - {"batch_manifest"}
    return {cut.versions[name] for name in INGEST_TABLES}, {cut.versions[table.name] for table in LANE_TABLES}


def test_an_offset_says_up_to_which_version_of_bronze_was_read() -> None:
    assert bronze_version_read(offsets(5)) == 4, "all before version 5"
    assert bronze_version_read(offsets(5, index=0)) == 5, "the first file of version 5, too"


def test_each_query_s_tables_stand_where_its_newest_micro_batch_left_them() -> None:
    assert versions_of([ingest(30, 3), ingest(10, 1)], [lanes(40, 7, bronze=4), lanes(20, 6, bronze=2)]) == ({3}, {7})


def test_lanes_that_read_what_ingest_has_not_finished_are_taken_one_micro_batch_earlier() -> None:
    """Ingest writes dispatch_events first and its manifest last: lanes may be quicker."""
    assert versions_of([ingest(30, 3)], [lanes(40, 7, bronze=5), lanes(20, 6, bronze=4)]) == ({3}, {6})
    assert versions_of([ingest(30, 3)], [lanes(40, 7, bronze=4, index=0), lanes(20, 6, bronze=3, index=0)]) == ({3}, {6})


def test_nothing_is_in_the_cut_before_the_first_whole_micro_batch() -> None:
    assert versions_of([], [lanes(40, 7, bronze=2)]) == ({0}, {0})
    assert versions_of([ingest(30, 3)], []) == ({3}, {0})


def test_quarantine_has_what_both_queries_wrote_and_of_a_micro_batch_that_is_not_whole_nothing() -> None:
    """Lanes find events whose seq another event had taken; ingest may have begun to write the rejected lines of its next micro-batch."""
    cut = consistent_cut([ingest(30, 3)], [lanes(40, 7, bronze=4)])
    assert (cut.versions["quarantine"], rows_of_the_cut(cut, "quarantine")) == (7, "ingest_batch <= 30")
    assert consistent_cut([ingest(30, 3)], [lanes(40, 2, bronze=4)]).versions["quarantine"] == 3
    assert rows_of_the_cut(consistent_cut([], []), "quarantine") == "false"
    assert rows_of_the_cut(cut, "dispatch_events") is None


def test_a_table_that_is_newer_than_the_micro_batch_is_empty_in_its_cut() -> None:
    old = Batch(1, "v1\n{}\n{}", {"dispatch_events": "2"})
    cut = consistent_cut([old], [])
    assert (cut.versions["dispatch_events"], cut.versions["quarantine"]) == (2, 0)
