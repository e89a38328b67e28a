"""Bits of the events' codes, and those that the fold has."""

from pipeline.rules import fold
from pipeline.rules.attributes import bits_by_code
from schemas.events import CODES, TOMBSTONE_CODE


def test_an_event_has_the_bits_of_its_traits() -> None:
    bits = bits_by_code((1, (CODES["read"], TOMBSTONE_CODE)), (2, (CODES["read"], CODES["ack"])))
    assert bits[[CODES["read"], CODES["ack"], TOMBSTONE_CODE]].tolist() == [3, 2, 1]
    assert bits.sum() == 6


def test_the_fold_knows_which_events_have_rules_and_which_need_a_cursor() -> None:
    ruled = {name for name, code in CODES.items() if fold.TRAITS[code] & fold.RULED}
    of_logs_from_1_2_on = {
        *("limiter_state", "dispatch_share", "keys_blocked", "producer_refused", "replicator_connection", "replicator_read"),
    }
    assert set(CODES) - ruled == {"broker_stop", "compaction"} | of_logs_from_1_2_on
    meeting = {name for name, code in CODES.items() if fold.TRAITS[code] & fold.MEETING}
    assert meeting == {"ack", "broker_ack", "mark_delete", "dispatch", "consumer_open", "consumer_close"}
