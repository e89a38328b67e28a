"""What must hold of the bookkeeper's own books on any log."""

from collections import Counter
from typing import Any

from bookkeeper.books import Books, Row, keep_books
from bookkeeper.dispatchers import COUNTED, SIX, throttled
from bookkeeper.longs import LEVELS, LONG_MAX, LONG_MIN
from bookkeeper.random_log import broken, logs
from hypothesis import given, settings
from suite.examples import examples

from schemas.events import FIELDS, TYPES_BY_NAME
from schemas.packages.throttle.limiter_windows import LIMITER_WINDOWS
from schemas.packages.throttle.subscription_throttle import SUBSCRIPTION_THROTTLE
from schemas.tables.gaps import LOG_GAPS

EXAMPLES = settings(max_examples=examples(150), deadline=None)
TABLES = (SUBSCRIPTION_THROTTLE, LIMITER_WINDOWS, LOG_GAPS)
#: The books of channels have the one (test_channel_against_bookkeeper.py); why a row is not complete is in test_completeness.py.
NOT_IN_THE_BOOKS = {"reads_by_unwritable_channel", "incomplete_reason"}
LIMITER_COUNTS = (
    "applied",
    "used",
    "over_delivered",
    "asks",
    "asks_shrunk",
    "asks_blocked",
    "asks_binding",
    "compared",
    "exact",
    "different",
)
Events = list[dict[str, Any]]


@EXAMPLES
@given(logs())
def test_random_logs_keep_the_contract(events: Events) -> None:
    for event in events:
        declared = TYPES_BY_NAME.get(event["type"])
        if declared is not None:
            assert set(declared.required) <= set(event)
            for name in set(event) & {*declared.required, *declared.optional}:
                declared_field, value = FIELDS[name], event[name]
                assert declared_field.kind != "long" or declared_field.minimum <= value <= declared_field.maximum, name
    assert [(e["epoch"], e["seq"]) for e in events] == sorted({(e["epoch"], e["seq"]) for e in events})


@EXAMPLES
@given(broken(logs()))
def test_rows_have_the_declared_columns_and_grain(events: Events) -> None:
    books = keep_books(events)
    for table in TABLES:
        rows = getattr(books, table.name)
        for row in rows:
            assert set(row) == set(table.names) - NOT_IN_THE_BOOKS
            assert {field.name for field in table.fields if row.get(field.name, 0) is None and not field.nullable} == set()
            assert all(LONG_MIN <= value <= LONG_MAX for value in row.values() if isinstance(value, int))
        grains = Counter(tuple(row[name] for name in table.grain) for row in rows)
        assert [grain for grain, times in grains.items() if times > 1] == []


@EXAMPLES
@given(broken(logs()))
def test_counters_of_the_windows_add_up_to_those_since_open(events: Events) -> None:
    sums: dict[Any, Counter[str]] = {}
    names = [throttled(level, dimension, prefix) for prefix in ("", "modelled_") for level, dimension in SIX]
    for row in in_order(keep_books(events).subscription_throttle):
        total = sums.setdefault((row["epoch"], row["topic"], row["subscription"], row["opened_at"]), Counter())
        for name in names:
            total[name] += row[name]
            assert row[f"{name}_since_open"] == total[name]


@EXAMPLES
@given(broken(logs()))
def test_reads_and_blocked_time_are_told_apart_completely(events: Events) -> None:
    for row in keep_books(events).subscription_throttle:
        assert row["reads_shrunk"] + row["reads_blocked"] == row["reads_binding"] + row["reads_nominal"] <= row["reads"]
        assert row["reads_blocked"] == sum(row[f"reads_blocked_by_{level}_limit"] for level in LEVELS)
        assert row["blocked_ns"] == sum(row[f"blocked_ns_by_{level}_limit"] for level in LEVELS)


@EXAMPLES
@given(logs())
def test_the_size_of_windows_changes_no_total(events: Events) -> None:
    long, short = keep_books(events), keep_books(events, window_ms=1_000)
    assert totals(long.subscription_throttle, COUNTED) == totals(short.subscription_throttle, COUNTED)
    assert totals(long.limiter_windows, LIMITER_COUNTS) == totals(short.limiter_windows, LIMITER_COUNTS)


@EXAMPLES
@given(logs())
def test_what_limiters_were_charged_is_what_subscriptions_charged_them(events: Events) -> None:
    books = keep_books(events)
    for level, dimension in SIX:
        limiters = [row for row in books.limiter_windows if (row["level"], row["dimension"]) == (level, dimension)]
        name = f"charged_{dimension}_by_{level}_limit"
        assert totals(books.subscription_throttle, (name,))[name] == totals(limiters, ("used",))["used"]


@EXAMPLES
@given(broken(logs()))
def test_order_and_repeats_change_nothing(events: Events) -> None:
    assert keep_books(events) == keep_books([*reversed(events), *events])


@EXAMPLES
@given(broken(logs()))
def test_every_missing_seq_is_a_gap(events: Events) -> None:
    lost = {(row["epoch"], seq) for row in gaps(keep_books(events)) for seq in range(row["from_seq"], row["to_seq"] + 1)}
    seen = {(event["epoch"], event["seq"]) for event in events}
    assert lost == {(epoch, seq) for epoch, last in seen for seq in range(1, last)} - seen


def gaps(books: Books) -> list[Row]:
    return [row for row in books.log_gaps if row["kind"] == "lost"]


def in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["epoch"], row["clock_segment"], row["window_start"]))


def totals(rows: list[Row], names: tuple[str, ...]) -> dict[str, int]:
    """Sums that saturate like the columns do: any sum beyond 64 bits is LONG_MAX."""
    return {name: min(LONG_MAX, sum(row[name] for row in rows)) for name in names}
