"""The index against a dict: each id and owner is found in its row, and nothing else is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.index import EMPTY, fill, find, insert, new_index
from pipeline.rules.records import empty_rows, record

ROW = record("id", "owner")
#: Few enough to meet again, and such as hashes and ledger ids are.
ids = st.integers(0, 8) | st.integers(-(2**63), 2**63 - 1)
keys = st.lists(st.tuples(ids, ids), unique=True, max_size=60)


@settings(max_examples=examples(200), deadline=None)
@given(keys, st.lists(st.tuples(ids, ids), max_size=10), st.integers(0, 60))
def test_every_key_is_found_in_its_row_and_no_other_is(inside: list[tuple[int, int]], others: list[tuple[int, int]], filled: int) -> None:
    """Whether it was filled in at once or inserted afterwards."""
    rows, index = empty_rows(ROW, len(inside) + 1), new_index(len(inside))
    for number, key in enumerate(inside):
        rows["id"][number], rows["owner"][number] = key
    filled = min(filled, len(inside))
    fill(index, rows, filled)
    for row in range(filled, len(inside)):
        insert(index, inside[row][0], inside[row][1], row)
    expected = {key: row for row, key in enumerate(inside)}
    swapped = [(owner, number) for number, owner in inside]
    for key in (*inside, *others, *swapped):
        assert find(index, rows, key[0], key[1]) == expected.get(key, EMPTY)


@pytest.mark.parametrize("capacity", [0, 1, 8, 9, 1000, 4096, 4097])
def test_an_index_is_a_power_of_two_and_at_most_half_full(capacity: int) -> None:
    index = new_index(capacity)
    assert len(index) >= 2 * capacity
    assert len(index) & (len(index) - 1) == 0
    assert (index == EMPTY).all()


@pytest.mark.parametrize("owners", [1, 1000])
def test_hashed_ids_do_not_crowd(owners: int) -> None:
    """Ids of topics and subscriptions are hashes: a full index still finds in a few steps, so few slots in a row are taken."""
    hashes = np.random.default_rng(1).integers(-(2**63), 2**63, (2, 4096))
    rows, index = empty_rows(ROW, 4096), new_index(4096)
    rows["id"], rows["owner"] = hashes[0], hashes[1][np.arange(4096) % owners] if owners > 1 else 0
    fill(index, rows, len(rows))
    taken = "".join("x" if row != EMPTY else " " for row in index)
    assert max(map(len, taken.split())) < 64


def test_small_ids_do_not_crowd() -> None:
    """Producers and consumers count from 0 on each connection: a run of taken slots is what finding has to pass."""
    rows, index = empty_rows(ROW, 4096), new_index(4096)
    rows["id"], rows["owner"] = np.arange(4096) // 4, np.arange(4096) % 4
    fill(index, rows, 4096)
    taken = "".join("x" if row != EMPTY else " " for row in index)
    assert max(map(len, taken.split())) < 64
