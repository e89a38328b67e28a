"""Errors by kind, as the table of docs/guide/what-if.md."""

import statistics
from collections.abc import Iterable, Sequence

from bench.what_if_pairs.kinds import KINDS
from bench.what_if_pairs.run import Outcome

HEADER = ("change", "pairs", "answered", "as bound", "in band", "backlog: median", "worst", "drained", "lowered reads", "evicted")


def markdown(outcomes: Sequence[Outcome]) -> str:
    """A row for each kind, and one for all. Shares are of the pairs that were answered; errors are the worst, if nothing else is said."""
    lines = [f"| {' | '.join(HEADER)} |", f"|---|{'--:|' * (len(HEADER) - 1)}"]
    for kind in KINDS:
        of_kind = [one for one in outcomes if one.kind == kind]
        if of_kind:
            lines.append(_row(kind, of_kind))
    return "\n".join([*lines, _row("**all**", outcomes)]) + "\n"


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    verdicts = [one.verdict for one in outcomes if one.verdict is not None]
    cells = [
        name,
        str(len(outcomes)),
        str(len(verdicts)),
        str(sum(not one.faults for one in verdicts)),
        str(sum(one.is_in_band for one in verdicts)),
        _percent(statistics.median(areas) if (areas := [one.area for one in verdicts if one.area is not None]) else None),
        *(_worst(getattr(one, field) for one in verdicts) for field in ("area", "drained", "throttled", "evicted")),
    ]
    return f"| {' | '.join(cells)} |"


def _worst(errors: Iterable[float | None]) -> str:
    return _percent(max((error for error in errors if error is not None), default=None))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
