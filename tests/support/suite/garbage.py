"""Garbage is looked for seldom, and what a file of tests has kept goes with its last test.

Logs of brokers are millions of objects. Python would look at all of them again and again, and they would stay until the process ends.
"""

import gc

import pytest

gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last test of a file its own functions forget what they have kept (`functools.cache`)."""
    if nextitem is not None and nextitem.path == item.path:
        return
    module = getattr(item, "module", None)
    for value in vars(module).values() if module else ():
        if hasattr(value, "cache_clear") and getattr(value, "__module__", "") == module.__name__:
            value.cache_clear()
