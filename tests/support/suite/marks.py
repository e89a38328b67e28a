"""Which tests start Spark follows from the fixtures they use; whoever starts it without them fails; `slow` has a reason, or is refused.

Which tests read whole logs of real brokers follows from their parameters; which need a server that is fetched, from their folder.
"""

import os
from collections.abc import Iterator

import pytest
from real_captures import LARGE_NAMES, NAMES

#: Folders whose tests need something that only a command of their own fetches (test.sh); its name is the mark.
FETCHING = ("browser", "clients", "kafka", "prometheus", "store_server")
#: Names of real brokers' logs, as tests get them for parameters.
OF_CAPTURES = {*NAMES, *LARGE_NAMES}
#: The fixture of the session that tests share.
SESSION = "spark"
#: A test that uses one of them, also through another fixture, starts Spark or works on its session.
SPARK_FIXTURES = {SESSION, "spark_in_a_child"}
#: Files with Spark that take longest (every run ends with a list): last, they would let the other processes wait.
LONG = (
    "tests/views/test_both_engines.py",
    "tests/views/test_cookbook.py",
    "tests/backfill/test_backfill_job.py",
    "tests/backfill/test_today.py",
    "tests/quarantine/test_replay.py",
    "tests/crash/test_every_commit_fails.py",
    "tests/crash/test_named_kills.py",
    "tests/ingest/test_ingest_files.py",
)
#: Options of the Java process that starts Spark, also of one in a child: Java refuses one that it does not know.
LAUNCHER_OPTIONS = "SPARK_LAUNCHER_OPTS"
NO_SPARK = "-XX:+TheTestUsesNoneOfTheFixtures_" + "_or_".join(sorted(SPARK_FIXTURES))


def faults_of(mark: pytest.Mark) -> list[str]:
    """What is wrong with a mark `slow`: what moves out of the default run says why, and what keeps its claim there."""
    reason = mark.kwargs.get("reason", "")
    if mark.args or mark.kwargs.keys() != {"reason"} or len(str(reason).split()) < 4:
        return [f"@pytest.mark.slow needs reason=…, some words: why, and what keeps the claim in the default run; it has {reason!r}"]
    return []


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that start Spark. Those of its session come first (suite/both_ends.py), of them the long files; those that only start it
    in a child come last. Refuse bad marks.
    """
    faults = {f"{item.nodeid}: {fault}" for item in items for mark in item.iter_markers("slow") for fault in faults_of(mark)}
    if faults:
        raise pytest.UsageError("\n".join(sorted(faults)))
    for item in items:
        folder = item.nodeid.split("/")[1]
        if folder in FETCHING:
            item.add_marker(folder)
        if SPARK_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)
        if OF_CAPTURES & {value for value in getattr(getattr(item, "callspec", None), "params", {}).values() if isinstance(value, str)}:
            item.add_marker(pytest.mark.captures)
    with_session = {item.path for item in items if SESSION in getattr(item, "fixturenames", ())}
    with_child = {item.path for item in items if item.get_closest_marker("spark")} - with_session
    items.sort(key=lambda item: (item.path in with_child, item.path not in with_session, not item.nodeid.startswith(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Spark does not start for a test without the mark, nor for its fixtures and children."""
    if item.get_closest_marker("spark"):
        return (yield)
    os.environ[LAUNCHER_OPTIONS] = NO_SPARK
    try:
        return (yield)
    finally:
        del os.environ[LAUNCHER_OPTIONS]
