"""What is made of the seconds of both sides: round by round, each log alone and all together."""

from pathlib import Path
from typing import Any

import pytest

from bench import cause_cost

#: Seconds of the logs `a` (1,000 rows) and `b` (3,000 rows), by round; the first one warms up.
WITHOUT = [(90.0, 90.0), (1.0, 2.0), (1.0, 3.0), (3.0, 4.0)]
COMPLETE = [(90.0, 10.0), (2.0, 4.0), (2.0, 3.0), (2.0, 4.0)]


def test_all_logs_together_are_their_sums_round_by_round(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The warm-up is not counted, and a ratio below 1 is a cost."""
    taken = {True: iter(COMPLETE), False: iter(WITHOUT)}

    def of_a_process(arguments: list[str], _environ: dict[str, str]) -> dict[str, tuple[float, int]]:
        a, b = next(taken[arguments == []])
        return {"a": (a, 1_000), "b": (b, 3_000)}

    monkeypatch.setattr(cause_cost, "_of_a_process", of_a_process)
    found: dict[str, Any] = cause_cost.bench_cause_cost(tmp_path, rounds=3)
    assert found["a"] == {"rows": 1_000, "without_ns": 1e6, "with_ns": 2e6, "ratio": 0.5, "ratio_least": 0.5, "ratio_most": 1.5}
    assert found["b"]["rows"] == 3_000
    assert {name: found[name] for name in found.keys() - {"a", "b"}} == {
        "rows": 4_000,
        "without_ns": 1e6,
        "with_ns": 1.5e6,
        "ratio": 0.8,
        "ratio_least": 0.5,
        "ratio_most": 1.167,
    }
