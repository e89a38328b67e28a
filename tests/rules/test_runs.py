"""Main causes of windows, and windows in a row with the same one: against what docs/design/causes.md says, in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.cause.layout import ACCOUNT_COUNT, CHARGE_ROW, NO_CHARGE, TIME
from pipeline.rules.cause.runs import begin_or_go_on, begin_window, main_accounts
from pipeline.rules.records import Records, empty_rows

SMALL = st.integers(0, 3)
#: Time and entries × time by account; entries × time only where there is time, as the charges have it.
ACCOUNTS = st.lists(st.tuples(SMALL, SMALL), min_size=ACCOUNT_COUNT, max_size=ACCOUNT_COUNT)
RUN = st.integers(NONE, ACCOUNT_COUNT - 1)


def charges_of(*windows: list[tuple[int, int]]) -> Records:
    """Subscriptions with those accounts; account k was first charged at 100 + k."""
    charges = empty_rows(CHARGE_ROW, len(windows))
    charges[:] = NO_CHARGE[0]
    for row, accounts in enumerate(windows):
        for account, (ns, area) in enumerate(accounts):
            charges["charged"][row, account] = ns, area if ns else 0  # TIME, AREA
            charges["first_at"][row, account] = 100 + account if ns else 0
    charges["backlog_ns"] = charges["charged"][:, :, TIME].sum(axis=1)
    return charges


def mains_of(charges: Records) -> tuple[Array, Array]:
    """(rows, mains) that are left."""
    rows = np.arange(len(charges))
    mains = np.empty_like(rows)
    count = main_accounts(charges, rows, mains)
    return rows[:count], mains[:count]


def expected_main(accounts: list[tuple[int, int]]) -> int:
    """Of the accounts with time the one with most entries × time, then with most time, then the first."""
    charged = [(area if ns else 0, ns, -account) for account, (ns, area) in enumerate(accounts) if ns]
    if not charged:
        return NONE
    return -max(charged, key=lambda each: (each[0], 0 if each[0] else each[1], each[2]))[2]


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(ACCOUNTS, RUN), max_size=4))
def test_the_main_account_of_each_subscription_with_a_backlog_or_a_run(subscriptions: list[tuple[list[tuple[int, int]], int]]) -> None:
    charges = charges_of(*(accounts for accounts, _ in subscriptions))
    charges["main"] = [run for _, run in subscriptions]
    rows, mains = mains_of(charges)
    expected = [(row, expected_main(accounts)) for row, (accounts, run) in enumerate(subscriptions)]
    assert [*zip(rows.tolist(), mains.tolist(), strict=True)] == [
        (row, main) for row, main in expected if main != NONE or subscriptions[row][1] != NONE
    ]


def test_entries_times_time_come_before_time() -> None:
    accounts = [(0, 0)] * ACCOUNT_COUNT
    accounts[2], accounts[5] = (1000, 1), (1, 2)
    assert mains_of(charges_of(accounts))[1].tolist() == [5]


def one_account(account: int, ns: int) -> Records:
    accounts = [(0, 0)] * ACCOUNT_COUNT
    accounts[account] = (ns, ns)
    return charges_of(accounts)


def close(charges: Records, start_us: int) -> None:
    """A window of 60 µs of the first subscription closes."""
    begin_or_go_on(charges, *mains_of(charges), start_us, start_us + 60)


def again(charges: Records, account: int, ns: int) -> None:
    """The next window: all of its time goes to one account."""
    begin_window(charges, np.arange(1))
    charges["charged"][0, account], charges["first_at"][0, account] = ns, 100 + account
    charges["backlog_ns"][0] = ns


RUN_FIELDS = ("main", "main_since", "main_window_end")


def run_of(charges: Records) -> tuple[int, ...]:
    return tuple(int(charges[name][0]) for name in RUN_FIELDS)


def test_a_run_goes_on_into_the_next_window() -> None:
    charges = one_account(3, 7)
    close(charges, 0)
    assert run_of(charges) == (3, 103, 60)
    again(charges, 3, 5)
    charges["first_at"][0, 3] = 999  # the run has begun before
    close(charges, 60)
    assert run_of(charges) == (3, 103, 120)


def test_a_window_without_a_row_ends_it() -> None:
    charges = one_account(3, 7)
    close(charges, 0)
    again(charges, 3, 5)
    charges["first_at"][0, 3] = 999
    close(charges, 61)
    assert run_of(charges) == (3, 999, 121)


def test_another_main_account_begins_another_run() -> None:
    charges = one_account(3, 7)
    close(charges, 0)
    again(charges, 4, 5)
    charges["charged"][0, 3, TIME], charges["backlog_ns"][0] = 1, 6
    close(charges, 60)
    assert run_of(charges) == (4, 104, 120)


def test_without_a_backlog_there_is_none() -> None:
    charges = one_account(3, 7)
    close(charges, 0)
    begin_window(charges, np.arange(1))
    close(charges, 60)
    assert run_of(charges)[:2] == (NONE, 0)
    assert len(mains_of(charges)[0]) == 0


def test_a_new_window_forgets_accounts_of_its_rows_alone() -> None:
    charges = charges_of([(5, 5)] * ACCOUNT_COUNT, [(6, 6)] * ACCOUNT_COUNT)
    charges["incomplete"] = 1
    begin_window(charges, np.array([1]))
    assert charges["charged"][:, :, TIME].sum(axis=1).tolist() == [5 * ACCOUNT_COUNT, 0]
    for name in ("charged", "first_at"):
        by_row = charges[name][:, :ACCOUNT_COUNT].reshape(2, -1)
        assert by_row.all(axis=1).tolist() == [True, False]
        assert by_row.any(axis=1).tolist() == [True, False]
    assert charges["backlog_ns"].tolist() == [5 * ACCOUNT_COUNT, 0]
    assert charges["incomplete"].tolist() == [1, 0]
