"""`right-size` on a cluster: its executors have only what the archive brings, and give the answer of one process."""

import os
import subprocess
from pathlib import Path

import pytest
from bad_proxy import BadProxy
from cluster_job import EXECUTORS, ROOT
from in_store import uploaded
from real_store import BUCKET, RealStore, environment_of
from several_brokers import warehouse_of
from standalone import Standalone

from console.named_warehouse import look_at
from jobs.right_size import SORTS
from pipeline.visible import document_json
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if.limited import Asked
from pipeline.what_if.right_size import right_size


@pytest.mark.usefixtures("spark_in_a_child")
@pytest.mark.slow(reason="a cluster of Java processes; test_several_brokers has by default that tasks give the answer of one process")
def test_executors_give_the_answer_of_one_process(cluster: Standalone, tmp_path: Path) -> None:
    warehouse = warehouse_of(dict.fromkeys(("east", "south", "west"), "topic_rate_50_to_200"), tmp_path)
    found = right_size(look_at(warehouse.root, consistent=True), Asked(5.0), None)
    found["limits"].sort(key=SORTS["verdict"])
    assert _on(cluster, warehouse, "--format", "json").strip() == document_json(found)
    assert _on(cluster, warehouse).startswith("3 brokers: starting Spark …\n")


@pytest.mark.usefixtures("spark_in_a_child")
@pytest.mark.store_server
def test_executors_read_a_store(cluster: Standalone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address and key are in the environment of the driver alone."""
    here = warehouse_of(dict.fromkeys(("east", "south", "west"), "topic_rate_50_to_200"), tmp_path)
    found = right_size(look_at(here.root, consistent=True), Asked(5.0), None)
    found["limits"].sort(key=SORTS["verdict"])
    with RealStore(tmp_path) as real, BadProxy(real.port) as proxy:
        for name, value in environment_of(proxy.port).items():
            monkeypatch.setenv(name, value)
        there = Warehouse(uploaded(tmp_path / "warehouse", f"s3a://{BUCKET}/right-size"))
        assert _on(cluster, there, "--format", "json").strip() == document_json(found)


def _on(cluster: Standalone, warehouse: Warehouse, *words: str) -> str:
    """The command on the cluster; its standard output."""
    command = [ROOT / "spark-submit.sh", "right-size", "--keep-age", "5s", "--warehouse", warehouse.root, *words, "--master", cluster.url]
    environ = {key: value for key, value in os.environ.items() if key not in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS")}
    of_spark = [word for key, value in EXECUTORS.items() for word in ("--conf", f"{key}={value}")]
    done = subprocess.run([*command, *of_spark], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}\n{cluster.said_by_executors()}"
    return done.stdout
