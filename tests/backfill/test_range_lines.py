"""What a backfill says of its dates while it works. No Spark."""

from datetime import date

from jobs.backfill import text_lines
from pipeline.repair.backfill.backfill import NAMED_BROKERS, range_lines
from pipeline.repair.backfill.stretch import Dates

FIRST, LAST = date(2026, 11, 21), date(2026, 11, 22)


def test_a_range_is_a_line_with_its_reason_and_the_first_brokers() -> None:
    many = [Dates(f"b{number}", FIRST, LAST) for number in range(NAMED_BROKERS + 2)]
    few = [Dates("c", FIRST, LAST), Dates("d", LAST, LAST)]
    reasons = {one.broker: "late" for one in many} | {"c": "carried", "d": "carried"}
    assert list(range_lines([*many, *few], reasons)) == [
        "2026-11-21 to 2026-11-22 (late): b0, b1, b2, b3, b4 and 2 more",
        "2026-11-21 to 2026-11-22 (carried): c",
        "2026-11-22 to 2026-11-22 (carried): d",
    ]


def test_dates_that_are_not_closed_are_a_line_each_that_says_when_they_are() -> None:
    days = {f"b{number}": FIRST for number in range(NAMED_BROKERS + 1)} | {"c": LAST}
    not_closed = [{"broker": broker, "date": day, "why": "its lane is there"} for broker, day in days.items()]
    first, last = text_lines({"done": [], "dry_run": False, "run_id": "run", "not_closed": not_closed})
    assert first.startswith("2026-11-21 is not closed yet, it was passed over: b0, b1, b2, b3, b4 and 1 more. It closes when ")
    assert last.startswith("2026-11-22 is not closed yet, it was passed over: c. ")
    assert last.endswith("Then `backfill --pending` counts what came late")
