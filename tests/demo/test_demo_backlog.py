"""The demo's comparison of evictions and check durations: equal figures pass, any difference is shown and counted."""

from pathlib import Path

import pytest

from demo.backlog import compared_checks, compared_evictions, our_evictions
from pipeline.diagnosis.duration import duration
from tools.live_broker.broker_metrics import check_buckets, eviction_counters

METRICS = (Path(__file__).resolve().parents[2] / "demo/y_incident/metrics.txt").read_text(encoding="utf-8")
AUDIT, CLICKS = "persistent://real/y/audit", "persistent://real/y/clicks"
BORDERS = ("5.0", "10.0", "30.0", "60.0", "300.0", "+Inf")


def test_evictions_are_read_per_topic_and_type_and_the_broker_s_own_sums_left_out() -> None:
    counters = eviction_counters(METRICS)
    assert {name: count for name, count in counters.items() if count} == {(AUDIT, "size"): 17, (CLICKS, "time"): 15}
    assert len(counters) == 20


def test_check_durations_are_read_bucket_by_bucket() -> None:
    assert check_buckets(METRICS) == dict.fromkeys(BORDERS, 190)


def test_equal_evictions_are_shown_with_who_lost_what() -> None:
    lost = [{"topic": AUDIT, "quota_type": "size", "subscription": "archive", "entries": 3260}]
    text, different, _ = compared_evictions({(AUDIT, "size"): 17, (CLICKS, "time"): 15}, eviction_counters(METRICS), lost)
    assert different == 0
    assert "archive 3,260" in text
    assert text.endswith("all 20 counters equal")


def test_one_eviction_more_or_a_topic_that_is_missing_is_a_difference() -> None:
    text, different, _ = compared_evictions({(AUDIT, "size"): 18}, eviction_counters(METRICS), [])
    assert different == 2
    assert text.count("DIFFERENT") == 3
    assert "18 / 17" in text
    assert "0 / 15" in text


def test_one_check_in_another_bucket_is_a_difference() -> None:
    assert compared_checks(dict.fromkeys(BORDERS, 190), check_buckets(METRICS))[1] == 0
    text, different, _ = compared_checks({**dict.fromkeys(BORDERS, 190), "5.0": 189}, check_buckets(METRICS))
    assert different == 1
    assert text.endswith("1 of 6 buckets DIFFERENT")


def test_each_topic_of_the_backlogs_counts_once_though_it_has_several_subscriptions() -> None:
    row = {"topic": AUDIT, "storage_backlog_quota_exceeded_evictions_size": 17, "storage_backlog_quota_exceeded_evictions_time": 0}
    assert our_evictions([row, row]) == {(AUDIT, "size"): 17, (AUDIT, "time"): 0}


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_725, "1 h 2 min"), (241_595, "2 d 19 h")])
def test_a_time_to_breach_is_shown_in_its_two_largest_units(seconds: int, shown: str) -> None:
    assert duration(seconds) == shown
