"""What a quota check decides (§2.5) and the age that the broker shows (§2.4): B10, B15, B19 and B20 in figures."""

import pytest

from pipeline.rules.backlog import check as invariants
from pipeline.rules.backlog.layout import CHECK_ROW, KNOWN, NOTHING, SIZE, TIME, UNKNOWN, UNKNOWN_TIME
from pipeline.rules.broker.layout import NEW_TOPIC
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows
from schemas.outcomes import NULL

S, MS = 1_000_000, 1_000  # in µs


@compiled
def look(topic: Record, check: Record, size: int, now_us: int) -> tuple[int, int]:
    return invariants.decide(topic, check, size, now_us), invariants.age_s(check, now_us)


def seen(now_us: int, size: int = 0, oldest: int = KNOWN, oldest_ms: int = 0, **of_topic: int) -> tuple[int, int]:
    """(decision, age) for a topic whose quotas are known."""
    topic, check = NEW_TOPIC.copy()[0], empty_rows(CHECK_ROW, 1)[0]
    topic.alive, topic.size_policy, topic.time_policy = 1, 0, 0
    check.oldest, check.oldest_ms = oldest, oldest_ms
    for name, value in of_topic.items():
        topic[name] = value
    decision, age = look(topic, check, size, now_us)
    return int(decision), int(age)


@pytest.mark.parametrize(("limit", "size", "decision"), [(-1, 10**9, 0), (0, 0, SIZE), (10, 9, 0), (10, 10, SIZE), (10, 11, SIZE)])
def test_a_size_that_reaches_the_limit_exceeds_it(limit: int, size: int, decision: int) -> None:
    """B10: a limit of 0 always is, a limit below never."""
    assert seen(0, size, NOTHING, size_limit=limit)[0] == decision


@pytest.mark.parametrize(("limit", "now_us", "decision"), [(10, 110 * S, 0), (10, 110 * S + MS, TIME), (0, 999 * S, 0), (-1, 999 * S, 0)])
def test_b15_an_age_exceeds_its_limit_strictly(limit: int, now_us: int, decision: int) -> None:
    assert seen(now_us, oldest_ms=100_000, time_limit=limit)[0] == decision


def test_b19_size_wins_over_age() -> None:
    assert seen(100 * S, 20480, size_limit=10240, time_limit=10)[0] == SIZE
    assert seen(100 * S, 10239, size_limit=10240, time_limit=10)[0] == TIME


@pytest.mark.parametrize(
    ("now_us", "age"),
    [(1055 * S, 55), (1055 * S + 999 * MS, 55), (1000 * S, 0), (999 * S + 500 * MS, 0), (999 * S, -1), (998_001 * MS, -1)],
)
def test_b20_the_age_is_whole_seconds_towards_zero(now_us: int, age: int) -> None:
    """Clocks that differ make it negative; half a second ahead is no time, not none."""
    assert seen(now_us, oldest_ms=1_000_000)[1] == age


def test_what_the_log_does_not_have_is_not_decided() -> None:
    assert seen(0, 99, size_limit=10, alive=0)[0] == UNKNOWN
    assert seen(0, 99, size_limit=10, size_policy=-1)[0] == UNKNOWN
    assert seen(0, 0, UNKNOWN_TIME, size_limit=10, time_limit=1) == (UNKNOWN, NULL)
    assert seen(0, 10, UNKNOWN_TIME, size_limit=10, time_limit=1)[0] == SIZE
    assert seen(0, 0, UNKNOWN_TIME, size_limit=10)[0] == 0, "no age limit asks for the age"
    assert seen(10**9 * S, 0, NOTHING, time_limit=1) == (0, -1)
