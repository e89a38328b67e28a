"""Everything here needs a real Prometheus: Debian's package, found on this machine or fetched once."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only `./test.sh prometheus` runs these."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.prometheus)
