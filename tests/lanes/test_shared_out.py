"""Which tables' rows of a micro-batch go by way of the driver."""

import pytest
from pyspark.sql import SparkSession

import pipeline.lanes.query
from pipeline.lanes.newest_events import NewestEvents
from pipeline.lanes.query import Size, shared_out
from pipeline.session_settings import setting
from schemas.outcomes import KINDS
from schemas.tables import TABLES_BY_NAME


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.lanes.query, "FEW_ROWS", 100)
    monkeypatch.setattr(pipeline.lanes.query, "FEW_BYTES", 1_000)


def names(sizes: dict[str, Size]) -> tuple[list[str], list[str]]:
    few, many = shared_out(sizes)
    return [table.name for table in few], [table.name for table in many]


def test_the_smallest_go_together_as_long_as_they_are_few() -> None:
    sizes = {"channel_transitions": Size(10_000, 0), "topic_backlog": Size(60, 0), "log_gaps": Size(40, 0), "quota_checks": Size(1, 0)}
    assert names(sizes) == (["quota_checks", "log_gaps"], ["topic_backlog", "channel_transitions"])
    assert names({"topic_backlog": Size(100, 0)}) == (["topic_backlog"], [])
    assert names({"topic_backlog": Size(101, 0)}) == ([], ["topic_backlog"])
    assert names({}) == ([], [])


def test_large_states_are_not_few_and_keep_nobody_else_out() -> None:
    sizes = {"lane_snapshots": Size(2, 1_001), "log_gaps": Size(2, 900), "late_events": Size(3, 0)}
    assert names(sizes) == (["log_gaps", "late_events"], ["lane_snapshots"])


@pytest.mark.parametrize("most_bytes", [0, 50, 10_000], ids=["none in hand", "some in hand", "all in hand"])
def test_every_packet_reaches_the_driver_once(spark: SparkSession, most_bytes: int) -> None:
    packets = [("topic_backlog", b"a" * 9), ("topic_backlog", b"b" * 900), ("log_gaps", b"c"), ("log_gaps", b"d" * 40)]
    rows = [(KINDS[name], 7, 2, 0, int(len(packet) <= most_bytes), packet) for name, packet in packets]
    batch = spark.createDataFrame(rows, "kind long, broker_id long, rows long, payload_bytes long, with_counts long, outcome binary")
    _, _, _, sizes, in_hand = pipeline.lanes.query._count(batch, NewestEvents())
    assert sizes == {"topic_backlog": Size(4, 0, 2), "log_gaps": Size(4, 0, 2)}
    tables = [TABLES_BY_NAME[name] for name in sizes]
    found = pipeline.lanes.query._packets_of(batch, tables, sizes, in_hand)
    assert sorted((name, packet) for name, of_table in found.items() for packet in of_table) == sorted(packets)


@pytest.mark.parametrize("before", [None, "12345"])
def test_a_setting_for_one_query_leaves_the_session_as_it_was(spark: SparkSession, before: str | None) -> None:
    query = pipeline.lanes.query
    usual = spark.conf.get(query._OPENING)
    if before is not None:
        spark.conf.set(query._OPENING, before)
    try:
        with setting(spark, query._OPENING, query._OPENING_BYTES):
            assert spark.conf.get(query._OPENING) == str(query._OPENING_BYTES)
        assert spark.conf.get(query._OPENING) == (before or usual)
    finally:
        spark.conf.unset(query._OPENING)
