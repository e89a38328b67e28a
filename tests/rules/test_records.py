"""Rows and their numbers: fields in their order, nothing lost on the way there and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.faults import BrokenInvariant
from pipeline.rules.records import as_numbers, as_records, blank, empty_rows, record, together, width_of, with_capacity

KIND = record("first", "second", marks=(2,), matrix=(2, 3))
INT64 = st.integers(-(2**63), 2**63 - 1)


def test_shaped_fields_come_last_and_count_with_all_their_numbers() -> None:
    assert KIND.names == ("first", "second", "marks", "matrix")
    assert width_of(KIND) == 2 + 2 + 6


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.lists(INT64, min_size=10, max_size=10), max_size=5))
def test_numbers_are_the_fields_in_their_order_and_lead_back(numbers: list[list[int]]) -> None:
    array = np.array(numbers, dtype=np.int64).reshape(-1, 10)
    rows = as_records(array, KIND)
    for row, expected in zip(rows, numbers, strict=True):
        assert [row.first, row.second, *row.marks, *row.matrix.ravel()] == expected
    assert as_numbers(rows).tolist() == numbers
    assert as_numbers(rows[::-1]).tolist() == numbers[::-1]


@pytest.mark.parametrize("capacity", [1, 7, 100_000])
def test_rows_begin_at_a_line_of_the_cache_and_are_zeros(capacity: int) -> None:
    rows = empty_rows(KIND, capacity)
    assert rows.ctypes.data % 64 == 0
    assert (len(rows), rows.dtype, as_numbers(rows).any()) == (capacity, KIND, False)


def test_a_name_that_every_record_has_is_refused() -> None:
    for name in ("round", "size", "max"):
        with pytest.raises(BrokenInvariant, match=name):
            record("fine", name)
    with pytest.raises(BrokenInvariant, match="sum"):
        record("fine", sum=(2,))


def test_a_blank_row_is_zeros_but_for_what_it_is_given() -> None:
    (row,) = blank(KIND, second=-1, marks=7)
    assert as_numbers(blank(KIND, second=-1, marks=7)).tolist() == [[0, -1, 7, 7, 0, 0, 0, 0, 0, 0]]
    assert row.second == -1


def test_more_capacity_keeps_the_rows_and_adds_zeros() -> None:
    rows = empty_rows(KIND, 3)
    rows["first"] = 4, 5, 6
    larger = with_capacity(rows, 2, 5)
    larger["second"] = 9
    assert larger["first"].tolist() == [4, 5, 0, 0, 0], "only the rows in use are kept"
    assert rows["second"].tolist() == [0, 0, 0], "the rows that were there are not shared"


def test_fields_are_attributes_again_after_numpy_took_a_part() -> None:
    rows = np.concatenate((empty_rows(KIND, 1), empty_rows(KIND, 3).take([2, 1])))[1:]
    rows[0].marks[1] = 3
    assert as_numbers(rows)[0].tolist() == [0, 0, 0, 3, 0, 0, 0, 0, 0, 0]


def test_parts_together_are_a_copy_in_their_order() -> None:
    rows = empty_rows(KIND, 4)
    rows["first"] = 1, 2, 3, 4
    for parts, wanted in (((rows[:1], rows[:0], rows[2:]), [1, 3, 4]), ((rows[:0], rows[:2]), [1, 2]), ((rows[:0], rows[4:]), [])):
        joined = together(parts)
        assert joined.dtype == KIND
        assert joined["first"].tolist() == wanted
        joined["first"] = 9
    assert rows["first"].tolist() == [1, 2, 3, 4]
