"""Which tables' rows of a micro-batch go by way of the driver."""

import pytest

import pipeline.lanes.query
from pipeline.lanes.query import Size, shared_out


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
    sizes = {"lane_snapshots": Size(2, 1_001), "lane_answers": Size(2, 900), "late_events": Size(3, 0)}
    assert names(sizes) == (["lane_answers", "late_events"], ["lane_snapshots"])
