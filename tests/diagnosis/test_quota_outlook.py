"""A forecast that is null means "never" only where that is known."""

from typing import Any

import pytest
from charges import NOON, charge, evidence, judged

from pipeline.diagnosis.quota_outlook import not_known, with_outlook
from pipeline.diagnosis.words import quota_line

SIZE: dict[str, Any] = {
    "quota_type": "size", "exceeded": False, "breach_at": None, "used": 650_000, "quota_limit": 1_000_000, "steps": 1, "shut_out": False,
}  # fmt: skip
TIME: dict[str, Any] = SIZE | {"quota_type": "time", "used": 0, "quota_limit": 120}


@pytest.mark.parametrize(
    ("quota", "oldest_age_ms", "reason"),
    [
        (SIZE, None, None),
        (SIZE | {"steps": 0}, None, "one_check"),
        (SIZE | {"steps": 0, "shut_out": True}, None, "shut_out"),
        (SIZE | {"shut_out": True}, None, "shut_out"),
        (SIZE | {"shut_out": True, "breach_at": NOON}, None, None),
        (SIZE | {"steps": 0, "exceeded": True, "breach_at": NOON}, None, None),
        (SIZE | {"used": None, "exceeded": None}, None, "not_in_this_log"),
        (TIME, None, None),
        (TIME, 120_000, None),
        (TIME, 120_001, "no_age"),
        (TIME | {"steps": 0, "used": 1000}, 500_000, None),  # of an age the least rate is known: time
        (TIME | {"used": 60_000, "breach_at": NOON}, 500_000, None),
    ],
)
def test_why_nothing_is_foreseen(quota: dict[str, Any], oldest_age_ms: int | None, reason: str | None) -> None:
    assert not_known(quota, oldest_age_ms) == reason


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (SIZE | {"steps": 0}, "when it is exceeded is not known: one check has no rate yet"),
        (SIZE | {"shut_out": True}, "when it is exceeded is not known: a quota shut its producers out in the last minutes"),
        (SIZE, "no breach in sight"),
        (
            TIME,
            "when it is exceeded is not known: the oldest message is older than the limit,"
            " and the broker counts no age before the ledger of that message is closed",
        ),
    ],
)
def test_what_is_not_known_is_told(row: dict[str, Any], words: str) -> None:
    names = ("policy", "on_breach", "breach_from", "breach_to", "loses_first", "others_losing", "producers", "complete", "share_of_limit")
    rows = [{**row, **dict.fromkeys(names), "check_time": NOON}]
    document = judged(evidence([charge(2, "no_consumer")], quotas=rows))
    (found,) = with_outlook(document["quotas"], rows, {"true_ms": 200_000})
    assert quota_line(found, NOON).endswith(f": {words}")
