"""What a backfill says of its dates while it works. No Spark."""

from datetime import date

from pipeline.backfill.backfill import NAMED_BROKERS, range_lines
from pipeline.backfill.stretch import Dates

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
