"""The end of every run of the tests: which took longest, and how long each file took, whatever its fixtures needed counted in."""

from collections import Counter
from typing import Any

import pytest

SHOWN = 40
#: Less is not worth a line.
LEAST_S = 0.05


def seconds_by_test(reports: list[Any]) -> Counter[str]:
    """Seconds by test: set-up, call and clean-up. Whoever comes first pays for a fixture that several tests share."""
    seconds = Counter[str]()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration  # type: ignore[assignment]  # a Counter may hold fractions
    return seconds


def lines_of(title: str, seconds: Counter[str]) -> list[str]:
    """A line for each of the SHOWN that took longest."""
    return [title, *(f"{took:8.1f} s  {name}" for name, took in seconds.most_common(SHOWN) if took >= LEAST_S)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print both lists."""
    seconds = seconds_by_test([report for reports in terminalreporter.stats.values() for report in reports])
    if not seconds:  # --collect-only
        return
    files = Counter[str]()
    for name, took in seconds.items():
        files[name.partition("::")[0]] += took  # type: ignore[assignment]
    terminalreporter.section(f"slowest {SHOWN}")
    for line in [*lines_of("tests:", seconds), *lines_of("files:", files), f"{sum(seconds.values()):8.1f} s  all tests"]:
        terminalreporter.write_line(line)
