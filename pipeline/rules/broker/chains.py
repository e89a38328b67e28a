"""Chains through rows that have moved: each topic has the number of its first subscription, each of these that of the next one."""

import numpy as np

from pipeline.rules.array import Array
from pipeline.rules.broker.layout import NONE
from pipeline.rules.records import Records


def rows_of_topics(topics: Records, subscriptions: Records) -> Array:
    """The row of each subscription's topic: [subscriptions]. Every topic must be there."""
    by_id = np.argsort(topics["id"])
    rows: Array = by_id[np.searchsorted(topics["id"], subscriptions["owner"], sorter=by_id)]
    return rows


def chain_anew(first: Array, following: Array, rows: Array, owners: Array) -> None:
    """Chain the `rows` of each owner (`owners`: one for each of them) in the order in which they are given.

    `first` [owners] and `following` [all rows] are changed; an owner without rows keeps what it has.
    """
    order = np.argsort(owners, kind="stable")
    rows, owners = rows[order], owners[order]
    is_last = np.append(owners[1:] != owners[:-1], True)[: len(owners)]
    following[rows] = np.where(is_last, NONE, np.append(rows[1:], NONE)[: len(rows)])
    heads, at = np.unique(owners, return_index=True)
    first[heads] = rows[at]
