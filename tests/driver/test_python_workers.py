"""Workers are started beside the driver's own work. A session that ends meanwhile leaves no trace; every other fault does."""

from types import SimpleNamespace
from typing import Any

import pytest

from driver.python_workers import _run_tasks


class Refused(Exception):
    """Stands for Spark's refusal of a job."""


def session(java: Any) -> Any:
    """A session that runs no job. `java` is its context in Java, None once it is gone."""

    def refuse(*_: int) -> None:
        raise Refused

    return SimpleNamespace(range=refuse, sparkContext=SimpleNamespace(master="local[2]", _jsc=java))


def context(stopped: bool) -> Any:
    """The context in Java."""
    return SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: stopped))


@pytest.mark.parametrize("java", [None, context(stopped=True)], ids=["gone", "stopping"])
def test_a_session_that_ended_needs_no_workers(java: Any) -> None:
    _run_tasks(session(java))


def test_another_fault_is_shown() -> None:
    with pytest.raises(Refused):
        _run_tasks(session(context(stopped=False)))
