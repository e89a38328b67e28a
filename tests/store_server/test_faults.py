"""A store that is slow, busy, cuts connections, or takes no more credentials: nothing is lost or doubled, and a job that stops says why.

STORE_SEED=7 tries another seed than 1 and 2.
"""

import os
from pathlib import Path

import pytest
from bad_proxy import (
    EXPIRED,
    EXPIRED_403,
    BadProxy,
    BySeed,
    Whenever,
    anything,
    is_commit,
    is_commit_of_bronze,
)
from in_store import run_in_store, stream_in_store, uploaded
from killed_job import Rows, differences, tables_of_warehouse
from pyspark.sql import SparkSession
from real_store import BUCKET
from s3_server import CUT_AFTER, CUT_AMID, CUT_BEFORE
from undisturbed import log_in_files, undisturbed

from console.command_line import READERS, main
from pipeline.warehouse.layout import Warehouse

pytestmark = pytest.mark.captures
CAPTURE = "i_age_quota_precise"
SEEDS = [int(os.environ["STORE_SEED"])] if "STORE_SEED" in os.environ else [1, 2]
FILES = 4
SHARE, DELAY_S = 0.05, 0.01


@pytest.fixture(scope="module")
def log(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log in files with rejected lines."""
    folder = tmp_path_factory.mktemp("log") / "events"
    log_in_files(captures / CAPTURE, folder, FILES)
    return folder


@pytest.fixture(scope="module")
def wanted(spark: SparkSession, log: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """What a run on this machine makes of it."""
    return undisturbed(log, tmp_path_factory.mktemp("undisturbed"))


def streamed(place: str, capsys: pytest.CaptureFixture[str], most_stops: int) -> int:
    """Streams to the end of the log at `place`, again after each stop; how often it stopped, each time with one line."""
    command = ["stream", "--once", "--drain", "--events", f"{place}/events", "--warehouse", f"{place}/warehouse"]
    for stops in range(most_stops + 1):
        capsys.readouterr()
        code = main([*command, "--set", "ingest.max_files_per_batch=1"])
        if code == 0:
            return stops
        *_, last = capsys.readouterr().err.strip().splitlines()
        assert (code, last[:7]) == (1, "error: "), last
    pytest.fail(f"it stopped {most_stops + 1} times, at last: {last}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_fails_now_and_then(
    spark: SparkSession, store: BadProxy, log: Path, wanted: dict[str, Rows], place: str, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    uploaded(log, f"{place}/events")
    with store.misbehaving(BySeed(seed, SHARE), DELAY_S) as met:
        stops = streamed(place, capsys, most_stops=4)
    with capsys.disabled():
        print(f"\nseed {seed}: {dict(met)}; the job stopped {stops} times")
    again = f"repeat: STORE_SEED={seed} ./test.sh store -k fails_now_and_then"
    assert differences(tables_of_warehouse(Warehouse(f"{place}/warehouse")), wanted) == {}, (
        f"(missing, too many) after {dict(met)}; {again}"
    )
    assert met.total() > 50, again


@pytest.mark.parametrize("kind", [CUT_BEFORE, CUT_AFTER])
def test_a_connection_that_breaks_amid_every_third_commit(
    spark: SparkSession, store: BadProxy, log: Path, wanted: dict[str, Rows], place: str, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """Before the store has made the commit; or after it, so that nobody hears that it was made."""
    uploaded(log, f"{place}/events")
    with store.misbehaving(Whenever(is_commit, kind, every=3)) as met:
        stops = streamed(place, capsys, most_stops=0 if kind == CUT_BEFORE else 30)
    with capsys.disabled():
        print(f"\n{kind}: {met[kind]} commits; the job stopped {stops} times")
    assert differences(tables_of_warehouse(Warehouse(f"{place}/warehouse")), wanted) == {}, f"(missing, too many) after {dict(met)}"
    assert met[kind] > 20


def test_answers_that_break_off(
    spark: SparkSession, store: BadProxy, log: Path, wanted: dict[str, Rows], place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the body comes, of any request. We ask again; Spark does not, for the rest of a list of its checkpoint."""
    uploaded(log, f"{place}/events")
    with store.misbehaving(Whenever(anything, CUT_AMID, every=100)) as met:
        stops = streamed(place, capsys, most_stops=5)
    with capsys.disabled():
        print(f"\n{dict(met)}; the job stopped {stops} times")
    assert differences(tables_of_warehouse(Warehouse(f"{place}/warehouse")), wanted) == {}, f"(missing, too many) after {dict(met)}"
    assert met[CUT_AMID] > 20


@pytest.mark.parametrize("kind", [EXPIRED, EXPIRED_403])
def test_credentials_that_expire_amid_a_stream(
    spark: SparkSession, store: BadProxy, log: Path, wanted: dict[str, Rows], place: str, kind: str
) -> None:
    """The job stops, one line names the key; with a good key it goes on from there."""
    warehouse = Warehouse(f"{place}/warehouse")
    uploaded(log, f"{place}/events")
    with store.misbehaving(Whenever(is_commit_of_bronze, kind, every=3, lasting=True)) as met:
        ended = stream_in_store(place, "--drain")
    assert met[kind] > 0, ended.said
    assert ended.code == 1, ended.said
    assert "the object store " in ended.error
    assert "whether it expired" in ended.error
    run_in_store(log, warehouse, ingest__max_files_per_batch="1")
    assert differences(tables_of_warehouse(warehouse), wanted) == {}, "(missing, too many)"


@pytest.fixture(scope="module")
def filled(spark: SparkSession, log: Path) -> Warehouse:
    """A warehouse that commands ask."""
    warehouse = Warehouse(f"s3a://{BUCKET}/filled/warehouse")
    run_in_store(log, warehouse)
    return warehouse


@pytest.mark.parametrize("kind", [EXPIRED, EXPIRED_403])
@pytest.mark.parametrize("command", [["why", "--all"], ["status"], ["maintain"], ["quality"], ["sql", "SELECT 1 FROM names"]], ids=" ".join)
def test_a_command_whose_credentials_are_over_is_one_line(
    store: BadProxy, filled: Warehouse, capsys: pytest.CaptureFixture[str], command: list[str], kind: str
) -> None:
    with store.misbehaving(Whenever(anything, kind)):
        assert main([*command, "--warehouse", filled.root]) == (2 if command[0] in READERS else 1)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("error: the object store failed: ")
    assert "whether it expired" in said
