"""The comparison of causes can fail: a wrong main charge, a charge where there is none to be, and none where there must be one."""

from typing import Any

from ledger import CHARGES, stretches

from tools.live_broker.causes import CAUSES

S = 1_000_000
NO_CONSUMER = ("no_consumer", None, None)
OF_TOPIC = ("throttled", "topic", "msg")


def row(second: int, entry_us: int, charge: tuple[str | None, ...], subscription: str = "s") -> dict[str, Any]:
    cause, level, dimension = charge
    return {
        "topic": "t", "subscription": subscription, "window_start": second * S, "entry_us": entry_us,
        "cause": cause, "level": level, "dimension": dimension, "unknown_reason": None,
    }  # fmt: skip


def agrees(cause: str, *rows: dict[str, Any]) -> bool:
    truth = {"topic": "t", "subscription": "s", "cause": cause, "from_us": 10 * S - 1, "to_us": 13 * S}
    (found,) = stretches([truth], rows, S)
    return found.agrees


def test_the_main_charge_decides() -> None:
    both = row(10, 5, NO_CONSUMER), row(11, 7, OF_TOPIC)
    assert agrees("topic_msg_limit", *both)
    assert not agrees("no_consumer", *both)
    assert not agrees("subscription_msg_limit", *both)
    assert not agrees("nothing", *both)


def test_windows_count_that_lie_in_the_stretch() -> None:
    before, inside, after = row(9, 90, NO_CONSUMER), row(12, 1, OF_TOPIC), row(13, 90, NO_CONSUMER)
    assert agrees("topic_msg_limit", before, inside, after)


def test_other_subscriptions_do_not_count() -> None:
    assert not agrees("no_consumer", row(10, 5, NO_CONSUMER, "other"))


def test_without_a_charge_only_nothing_and_what_the_ledger_lacks_agree() -> None:
    assert [cause for cause in CAUSES if agrees(cause)] == ["nothing", "not_connected", "not_loaded"]
    assert not agrees("not_loaded", row(10, 5, NO_CONSUMER))


def test_every_cause_of_a_scenario_has_its_charges() -> None:
    assert CHARGES.keys() == CAUSES.keys()
