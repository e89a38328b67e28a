"""Chains that are made anew: whoever follows one meets the rows of its owner, and no others, in their order."""

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.broker.chains import chain_anew, rows_of_topics
from pipeline.rules.broker.layout import NONE, SUBSCRIPTION_ROW, TOPIC_ROW
from pipeline.rules.records import empty_rows

OWNERS = 5


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(0, OWNERS - 1), max_size=20), st.randoms(use_true_random=False))
def test_a_chain_passes_the_rows_of_its_owner_in_order(owner_of_row: list[int], random: Random) -> None:
    chained = [row for row in range(len(owner_of_row)) if random.random() < 0.7]
    first, following = np.full(OWNERS, NONE), np.full(len(owner_of_row), NONE)
    chain_anew(first, following, np.array(chained, dtype=np.int64), np.array([owner_of_row[row] for row in chained], dtype=np.int64))
    for owner in range(OWNERS):
        met, row = [], int(first[owner])
        while row != NONE:
            met.append(row)
            row = int(following[row])
        assert met == [row for row in chained if owner_of_row[row] == owner]


def test_the_row_of_a_topic_is_found_by_its_id() -> None:
    topics, subscriptions = empty_rows(TOPIC_ROW, 3), empty_rows(SUBSCRIPTION_ROW, 4)
    topics["id"], subscriptions["owner"] = [30, 10, 20], [20, 10, 30, 20]
    assert rows_of_topics(topics, subscriptions).tolist() == [2, 1, 0, 2]
    assert rows_of_topics(topics[:0], subscriptions[:0]).tolist() == []
