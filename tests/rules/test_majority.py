"""The majority vote of a subscription's time, against one that counts in plain Python. test_cause_transitions.py has logs."""

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.layout import DOUBTED, NO_CHARGE
from pipeline.rules.cause.majority import HOLDS_NS, is_over, let_rival_hold, vote
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record

SECOND_NS = 1_000_000_000
#: Account and length of each stretch of time; two accounts, none, and in doubt. Few lengths, so that leads end in ties, too.
STRETCHES = st.lists(st.tuples(st.sampled_from([NONE, 0, 1, DOUBTED]), st.integers(1, 5).map(lambda n: n * SECOND_NS // 2)), max_size=30)


@compiled
def counted(charge: Record, account: int, from_ns: int, until_ns: int) -> bool:
    """The stretch votes; whether another cause holds then."""
    vote(charge, account, from_ns, until_ns, until_ns // 1000)
    if is_over(charge):
        let_rival_hold(charge)
        return True
    return False


def held(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(cause, since in ns) of each change."""
    charge, now_ns, changes = NO_CHARGE.copy()[0], 0, []
    for account, lasted_ns in stretches:
        now_ns += lasted_ns
        if counted(charge, account, now_ns - lasted_ns, now_ns):
            changes.append((int(charge.holding), int(charge.rival_since) * 1000))
    return changes


def expected(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same in plain words: a rival leads all others, since the stretch with which it took the lead."""
    holding, rival, lead, since, now, changes = NONE, None, 0, 0, 0, []
    for account, lasted in stretches:
        begun, now = now, now + lasted
        if account == DOUBTED:
            continue
        if account == rival:
            lead += lasted
        elif account == holding or lead >= lasted:
            lead = max(0, lead - lasted)
        else:
            rival, since, lead = account, begun, lasted - lead
        rival = rival if lead else None
        if lead >= HOLDS_NS:
            holding, rival, lead = rival, None, 0
            changes.append((holding, since))
    return changes


@settings(max_examples=examples(300), deadline=None)
@given(STRETCHES)
def test_a_cause_holds_once_it_leads_by_enough(stretches: list[tuple[int, int]]) -> None:
    assert held(stretches) == expected(stretches)


def test_time_that_a_look_has_counted_votes_once() -> None:
    charge = NO_CHARGE.copy()[0]
    charge.voted_ns = SECOND_NS
    assert not counted(charge, 0, 0, SECOND_NS + HOLDS_NS - 1)
    assert (charge.rival, charge.rival_ns, charge.rival_since) == (0, HOLDS_NS - 1, SECOND_NS // 1000)


@settings(max_examples=examples(100), deadline=None)
@given(STRETCHES)
def test_changes_are_bounded_by_time(stretches: list[tuple[int, int]]) -> None:
    assert len(held(stretches)) <= sum(lasted_ns for _, lasted_ns in stretches) // HOLDS_NS
