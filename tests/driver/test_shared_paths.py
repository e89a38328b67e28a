"""A cluster whose hosts do not see the same warehouse is refused before anything is written."""

import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from driver import shared_paths
from driver.locked import locked
from driver.shared_paths import hosts_without, refuse_unshared, runs_on_a_cluster
from pipeline.faults import BadWarehouse
from pipeline.warehouse.layout import Warehouse

CLUSTER = SimpleNamespace(sparkContext=SimpleNamespace(master="spark://h:7077"))


@pytest.mark.parametrize(
    ("master", "cluster"),
    [
        ("local", False),
        ("local[2]", False),
        ("local[*]", False),
        ("local-cluster[2,1,1024]", True),
        ("spark://h:7077", True),
        ("yarn", True),
    ],
)
def test_tasks_run_elsewhere_on_every_master_but_local(master: str, cluster: bool) -> None:
    assert runs_on_a_cluster(master) == cluster


def test_a_task_looks_for_the_file_and_its_text(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("run 7")
    assert hosts_without(spark, str(tmp_path / "lock"), "run 7") == []
    assert hosts_without(spark, str(tmp_path / "lock"), "run 8") == [socket.gethostname()]
    assert hosts_without(spark, str(tmp_path / "none"), "run 7") == [socket.gethostname()]


def test_a_file_that_is_being_rewritten_is_looked_at_again(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "lock"
    file.touch()
    writer = threading.Timer(0.3, file.write_text, ["run 7"])
    writer.start()
    assert shared_paths._finds(file, "run 7")
    writer.join()


def test_the_refusal_names_the_hosts_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_paths, "hosts_without", lambda spark, path, text: ["h1", "h2"])
    with pytest.raises(BadWarehouse, match=r"file:/data/w is not the same folder on h1, h2: .* share"):
        refuse_unshared(CLUSTER, Warehouse("file:/data/w"), "file:/data/w/_driver_lock", "run")


def test_what_is_shared_by_nature_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_paths, "hosts_without", lambda *_: pytest.fail("asked"))
    refuse_unshared(CLUSTER, Warehouse("s3a://lake/w"), "s3a://lake/w/_driver_lock", "run")
    refuse_unshared(SimpleNamespace(sparkContext=SimpleNamespace(master="local[2]")), Warehouse("file:/w"), "file:/w/_driver_lock", "run")


def test_a_refusal_leaves_no_lock(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_paths, "runs_on_a_cluster", lambda master: True)
    warehouse = Warehouse(f"file:{tmp_path}/warehouse")
    with locked(warehouse, "run", spark=spark):
        assert Path(tmp_path, "warehouse", "_driver_lock").exists()
    monkeypatch.setattr(shared_paths, "hosts_without", lambda *_: ["h1"])
    with pytest.raises(BadWarehouse, match="h1"), locked(warehouse, "run", spark=spark):
        pytest.fail("opened")
    assert not Path(tmp_path, "warehouse", "_driver_lock").exists()
