"""Messages of deliveries, where the broker's count is of another delivery of the same thread."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.what_if.frequent import ABSENT, Events, columns_of
from pipeline.what_if.recorded import messages_handed
from pipeline.what_if.scale import Scale

#: A topic with ten entries of three messages in ledger 7, of which the record has the publishes of all but the first two; then ledger 9.
EARLIER, OF_LEDGER, MSGS = 2, 10, 3
NONE = np.zeros(0, dtype=np.int64)
SCALE = Scale(1, *(np.array(part) for part in ([7, 9], [0, OF_LEDGER], [OF_LEDGER, 5], [EARLIER, 0])), {}, NONE)
PUBLISHED = np.full(15, MSGS)


def delivery(positions: Sequence[int], entries: int, msgs: int) -> Events:
    """A delivery from one position to another, ledger and entry each, that says so many messages."""
    told = dict(zip(("first_ledger", "first_entry", "last_ledger", "last_entry"), positions, strict=True))
    values = {**told, "entries": entries, "msgs": msgs}
    return {name: np.array([values.get(name, 0)]) for name in columns_of("dispatch")}


@pytest.mark.parametrize(
    ("positions", "entries", "told", "handed"),
    [
        pytest.param((7, 4, 7, 5), 2, 25, 2 * MSGS, id="the count is of another delivery"),
        pytest.param((7, 8, 9, 1), 4, 1, 4 * MSGS, id="two ledgers"),
        pytest.param((7, 4, 7, 6), 2, 5, 5, id="an entry between them is left out"),
        pytest.param((7, 1, 7, 2), 2, 5, 5, id="a publish before the record"),
        pytest.param((ABSENT,) * 4, 2, 5, 5, id="no positions"),
        pytest.param((9, 4, 9, 5), 2, 5, 5, id="beyond the record"),
    ],
)
def test_messages_are_those_of_the_entries_where_all_are_known(positions: Sequence[int], entries: int, told: int, handed: int) -> None:
    one = delivery(positions, entries, told)
    assert messages_handed(SCALE, one, PUBLISHED).tolist() == [handed]
    assert one["msgs"].tolist() == [told]
