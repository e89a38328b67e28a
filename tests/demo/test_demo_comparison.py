"""Our counters beside the broker's, without Spark."""

import pytest

from console.rows import write_rows
from console.shown import aligned
from demo.report import compared
from tools.live_broker.broker_metrics import COUNTERS, SubscriptionName, throttle_counters

LABELS = 'cluster="c",namespace="a/b",topic="persistent://a/b/t",subscription="s \\"x\\""'
METRICS = f"""# TYPE pulsar_subscription_dispatch_throttled_msg_events counter
pulsar_subscription_dispatch_throttled_msg_events{{{LABELS},reason="broker"}} 7
pulsar_subscription_dispatch_throttled_bytes_events{{{LABELS},reason="topic"}} 3.0
pulsar_subscription_back_log{{cluster="c",topic="persistent://a/b/t",subscription="other"}} 9
"""
NAME = SubscriptionName("persistent://a/b/t", 's \\"x\\"')


def counts(**some: int) -> dict[tuple[str, str], int]:
    """All six counters, 0 unless given as dimension_level=count."""
    return dict.fromkeys(COUNTERS, 0) | {(key.split("_")[0], key.split("_")[1]): value for key, value in some.items()}


def test_counters_are_read_from_metrics_and_nothing_else() -> None:
    assert throttle_counters(METRICS) == {NAME: counts(msg_broker=7, bytes_topic=3)}


def test_equal_counters_are_said_to_be_equal() -> None:
    text, different, _ = compared({NAME: counts(msg_broker=7, bytes_topic=3)}, throttle_counters(METRICS))
    assert different == 0
    assert "all 6 counters equal" in text


@pytest.mark.parametrize("counter", COUNTERS)
def test_one_counter_off_is_a_difference(counter: tuple[str, str]) -> None:
    ours = throttle_counters(METRICS)
    ours[NAME] = {**ours[NAME], counter: ours[NAME][counter] + 1}
    text, different, _ = compared(ours, throttle_counters(METRICS))
    assert different == 1
    assert "1 of 6 counters DIFFERENT" in text


def test_no_row_is_zero_on_either_side() -> None:
    other = SubscriptionName("persistent://a/b/u", "quiet")
    assert compared({other: counts()}, {})[1] == 0
    assert compared({}, {other: counts()})[1] == 0
    assert compared({other: counts(msg_topic=1)}, {})[1] == 1


def test_tables_for_people_align_numbers_to_the_right() -> None:
    assert aligned(["n", "who"], [(1000, "a"), (2, None)]).splitlines() == ["    n  who", "-----  ---", "1,000  a", "    2"]


@pytest.mark.parametrize(("form", "expected"), [("csv", 'n,who\n1,"a,b"\n'), ("json", '{"n": 1, "who": "a,b"}\n')])
def test_tables_for_machines(form: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(["n", "who"], [(1, "a,b")], form)
    assert capsys.readouterr().out == expected
