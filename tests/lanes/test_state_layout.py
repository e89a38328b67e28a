"""The number of a state's layout follows from what is declared: whatever changes there makes another one."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.lanes.state_layout import state_layout
from pipeline.rules.package import Beside, Ends, Family, Package, Single
from pipeline.rules.records import record

ROW = record("id", "owner", counts=(2, 3))
STORES = (Family("things", "thing", ROW), Beside("more", "one_more", ROW, of="things"), Single("scratch", ROW, kept=False))
PACKAGE = Package("things", 1, STORES, np, Ends())
LAYOUT = state_layout([PACKAGE])


def of(*stores: Family | Beside | Single) -> int:
    return state_layout([replace(PACKAGE, stores=stores)])


def test_equal_declarations_have_one_layout() -> None:
    again = tuple(replace(store, kind=record("id", "owner", counts=(2, 3))) for store in STORES)
    assert of(*again) == LAYOUT
    assert 0 < LAYOUT < 2**31


@pytest.mark.parametrize(
    "kind",
    [record("id", "owner", "new", counts=(2, 3)), record("owner", "id", counts=(2, 3)), record("id", "owner", counts=(3, 2)), record("id")],
)
def test_another_field_order_or_shape_is_another_layout(kind: np.dtype) -> None:
    assert of(replace(STORES[0], kind=kind), *STORES[1:]) != LAYOUT


def test_another_store_meaning_or_package_is_another_layout() -> None:
    others = [
        of(*STORES[:1]),
        of(STORES[1], STORES[0], STORES[2]),
        of(replace(STORES[0], name="others"), *STORES[1:]),
        of(*STORES[:2], replace(STORES[2], kept=True)),
        state_layout([replace(PACKAGE, version=2)]),
        state_layout([PACKAGE, replace(PACKAGE, name="second")]),
    ]
    assert len({LAYOUT, *others}) == len(others) + 1


def test_scratch_space_is_not_part_of_it() -> None:
    assert of(*STORES[:2]) == LAYOUT
