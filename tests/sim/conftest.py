"""Simulations are shared by the processes of the tests."""

import os

import pytest
from simulated import share_in


@pytest.fixture(scope="session", autouse=True)
def shared_simulations(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs of shipped scenarios are in the folder of the whole run of the tests, which pytest removes some runs later."""
    own = tmp_path_factory.getbasetemp()
    share_in((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "simulated")
