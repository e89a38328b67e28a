"""Each process of the tests loads the compiled rules once, before its first test.

A load forks processes. Each of them would load the rules anew: 0.6 s of a core, for each of some hundred loads.
"""

import pytest

from pipeline.rules.warm_up import warm_up


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load them, if there are tests to run."""
    if session.items and not session.config.option.collectonly:
        warm_up()
