"""One cluster for all tests here: a master and two workers with one core each."""

from collections.abc import Iterator

import pytest
from standalone import HOST, Standalone


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """The cluster; its drivers find it on the loopback interface."""
    with pytest.MonkeyPatch.context() as patch, Standalone(tmp_path_factory.mktemp("cluster")) as running:
        patch.setenv("SPARK_LOCAL_IP", HOST)
        yield running
