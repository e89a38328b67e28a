"""Predictions beside truths, as the table of docs/guide/what-if.md."""

from collections.abc import Sequence
from textwrap import fill

from bench.what_if_broker.predict import Outcome
from bench.what_if_real import HEADER, rows_of

#: Characters of a line of the page.
PAGE_WIDTH = 120


def markdown(outcomes: Sequence[Outcome]) -> str:
    """A row for each subscription, and the sum of all pairs. *Side b by itself*: the error of a replay of side b with its own settings."""
    header = ("change", *HEADER[1:], "side b by itself", "beyond its bound")
    lines = [header, tuple("---" if k < 2 or k == len(header) - 1 else "--:" for k in range(len(header)))]
    for outcome in outcomes:
        lines += _rows(outcome, len(header))
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{text}\n\n{fill(summary(outcomes), PAGE_WIDTH)}\n"


def _rows(outcome: Outcome, width: int) -> list[tuple[str, ...]]:
    if outcome.prediction is None or outcome.truth is None:
        return [(outcome.kind.name, *[""] * (width - 2), f"no answer: `{'; '.join(outcome.refused)}`")]
    rows = rows_of(outcome.kind.name, outcome.prediction, outcome.truth)
    own = f"{outcome.truth['self_check']['area_error']:.1%}"
    beyond = ("" if outcome.is_sure or not outcome.faults else "not sure: ") + "; ".join(outcome.faults)
    return [(*row, *((own, beyond) if k == 0 else ("", ""))) for k, row in enumerate(rows)]


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many are answered, how many of these are within all bounds, and what is known of the others."""
    answered = [one for one in outcomes if one.verdict is not None]
    beyond = [one for one in answered if one.faults]
    in_band = sum(one.verdict is not None and one.verdict.is_in_band for one in answered)
    stalled, not_sure = sum(not one.is_repeatable for one in beyond), sum(not one.is_sure for one in beyond)
    return (
        f"Of {len(outcomes)} pairs {len(answered)} are answered. {len(answered) - len(beyond)} of these are within all bounds, and of"
        f" {in_band} the truth is in the band. Of the {len(beyond)} beyond a bound, {stalled} have a side b that its own settings do not"
        f" replay either, and {not_sure} are marked as not sure."
    )
