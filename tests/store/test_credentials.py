"""Credentials of S3: from the environment, by a profile, by a role. Everybody who opens a store uses the same one, and a renewed one."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import obstore
import pyarrow as pa
import pytest
from aws_keys import key_services, numbered_keys, profile, without_keys
from capture_events import write_events
from deltalake import DeltaTable, write_deltalake
from pyarrow.fs import SubTreeFileSystem
from s3_server import S3
from upkeep_log import capture

from console.command_line import main
from pipeline.faults import BadConfig
from pipeline.store.arrow_places import arrow_place
from pipeline.store.arrow_reader import arrow_rows
from pipeline.store.credentials import OF_STORES, delta_options, s3_key
from pipeline.store.faults import store_fault
from pipeline.store.files import files_at
from pipeline.store.object_files import object_store
from pipeline.store.open_tables import forget_table, kept_open

ROOT = Path(__file__).parents[2]
TABLE = "s3a://lake/wh/t"
STATIC = "aws_access_key_id = STATIC\naws_secret_access_key = s\nregion = eu-west-3"
ROWS = pa.table({"a": [1, 2]})


def open_by_all() -> None:
    """Write and read by each of those who open a store without Spark."""
    write_deltalake("s3://lake/wh/t", ROWS, mode="append", storage_options=delta_options("s3://lake/wh/t"))
    files_at(TABLE).create(f"{TABLE}/lock", "mine")
    assert arrow_rows(TABLE).num_rows > 0


@pytest.fixture
def services() -> Iterator[str]:
    with key_services() as url:
        yield url


def test_a_key_of_the_environment_is_told_to_nobody_and_asks_for_nothing(s3: S3) -> None:
    assert s3_key() is None
    assert delta_options("s3://lake/wh") == {"allow_http": "true"}
    program = """
import sys
from pipeline.store.arrow_places import arrow_place
from pipeline.store.faults import store_fault
from pipeline.store.files import files_at
from pipeline.store.table_log import newest_version_at
files_at("s3a://lake/x").write("s3a://lake/x", "x")
arrow_place("s3a://lake/x")
print(newest_version_at("s3a://lake/t"), "botocore" in sys.modules)
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("-1 False\n", "")
    open_by_all()
    assert s3.keys == {"test"}


def test_a_profile_opens_a_store_for_all(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(monkeypatch, tmp_path, STATIC)
    open_by_all()
    assert s3.keys == {"STATIC"}


def test_the_region_is_the_environments_or_the_profiles(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(monkeypatch, tmp_path, STATIC)
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert delta_options("s3://lake/wh")["aws_region"] == arrow_place(TABLE)[1].region == "eu-north-1"
    monkeypatch.delenv("AWS_REGION")
    assert delta_options("s3://lake/wh")["aws_region"] == arrow_place(TABLE)[1].region == "eu-west-3"
    assert object_store("s3://lake").config["region"] == "eu-west-3"


def test_a_role_of_another_profile_is_assumed(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, services: str) -> None:
    profile(monkeypatch, tmp_path, f"role_arn = arn:aws:iam::123456789012:role/x\nsource_profile = q\n[profile q]\n{STATIC}")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", services)
    open_by_all()
    assert s3.keys == {"ROLE"}


def test_a_web_identity_assumes_a_role(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, services: str) -> None:
    without_keys(monkeypatch, tmp_path)
    (tmp_path / "token").write_text("who I am")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/x")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", services)
    open_by_all()
    assert s3.keys == {"WEB"}


def test_container_and_instance_have_roles(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, services: str) -> None:
    without_keys(monkeypatch, tmp_path)
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", services)
    open_by_all()
    assert s3.keys == {"INSTANCE"}
    s3.keys.clear()
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{services}/container")
    # Whoever asked before keeps what it has found: a process has one environment.
    monkeypatch.setenv("AWS_ROLE_SESSION_NAME", "another environment")
    open_by_all()
    assert s3.keys == {"CONTAINER"}


def test_a_renewed_key_is_used_by_all(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store takes no key but the two newest: Arrow has the one from just before the table was opened."""
    line, count = numbered_keys(tmp_path)
    profile(monkeypatch, tmp_path, line)
    s3.is_good = lambda key: key is not None and int(count.read_text()) - int(key.removeprefix("KEY")) < 2
    store = object_store("s3://lake")
    for number in range(3):
        obstore.put(store, f"wh/{number}", b"x")
        open_by_all()
        with kept_open(TABLE) as kept:
            write_deltalake(kept.delta, ROWS, mode="append")
        with kept_open(TABLE) as kept:
            assert kept.delta.version() == 2 * number + 1
    assert len(s3.keys) > 9
    forget_table(TABLE)


def test_a_table_stays_open_while_the_key_does(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(monkeypatch, tmp_path, STATIC)
    open_by_all()
    kept: list[DeltaTable] = []
    for _ in range(2):
        with kept_open(TABLE) as table:
            kept.append(table.delta)
    assert kept[0] is kept[1]
    forget_table(TABLE)


def test_load_and_why_need_the_profile_only(
    s3: S3, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_events(capture("p1_batches"), tmp_path / "events" / "a.jsonl.gz")
    line, _ = numbered_keys(tmp_path)
    profile(monkeypatch, tmp_path, line)
    assert main(["load", "--events", str(tmp_path / "events"), "--warehouse", lake, "--processes", "1"]) == 0
    assert main(["why", "--all", "--warehouse", lake]) == 0
    assert "subscription" in capsys.readouterr().out
    assert len(s3.keys) > 9
    assert all(key is not None and key.startswith("KEY") for key in s3.keys)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (None, "error: S3 has no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
        ("region = eu-west-3\n[profile p2]\n", "error: S3 has no key: set AWS_ACCESS_KEY_ID"),
        ("credential_process = false", "error: S3 has no key: Error when retrieving credentials from custom-process:; set AWS_"),
        ("credential_process = sh -c 'echo no ticket >&2; exit 1'", "custom-process: no ticket; set AWS_"),
    ],
)
def test_no_key_is_one_line(
    s3: S3, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: str | None, says: str
) -> None:
    without_keys(monkeypatch, tmp_path)
    if lines is not None:
        profile(monkeypatch, tmp_path, lines)
    assert main(["why", "--all", "--warehouse", lake]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert s3.requests == []


def test_a_profile_that_is_not_there_is_named(lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_keys(monkeypatch, tmp_path)
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(BadConfig, match=r"profile \(nobody\) could not be found"):
        delta_options("s3://lake/wh")


def test_a_key_that_has_expired_is_one_line(s3: S3, lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    s3.is_good = lambda key: False
    assert main(["why", "--all", "--warehouse", lake]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "see the key, its rights, and whether it expired" in said


def test_what_arrow_was_refused_is_one_line(s3: S3) -> None:
    open_by_all()
    table = DeltaTable("s3://lake/wh/t", storage_options=delta_options("s3://lake/wh/t"))
    s3.is_good = lambda key: False
    with pytest.raises(OSError, match="AWS Error") as refused:
        table.to_pyarrow_dataset(filesystem=SubTreeFileSystem("lake/wh/t", arrow_place(TABLE)[1])).to_table()
    said = store_fault(refused.value)
    assert said is not None
    assert said.startswith("the object store failed: When reading information for key 'wh/t/")
    assert said.endswith("; see the key, its rights, and whether it expired")


def test_a_key_that_cannot_be_renewed_is_one_line(
    s3: S3, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program gives a key, and then none, while a command runs."""
    line, _ = numbered_keys(tmp_path)
    profile(monkeypatch, tmp_path, line)
    object_store("s3://lake")
    (tmp_path / "give-key").write_text("#!/bin/sh\necho no ticket >&2\nexit 1\n")
    assert main(["status", "--warehouse", lake]) in (1, 2)
    assert capsys.readouterr().err == (
        "error: S3 has no key: Error when retrieving credentials from custom-process: no ticket; "
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (docs/guide/operations.md, In an object store)\n"
    )


def test_spark_shows_no_secret() -> None:
    """Executors get variables by spark.executorEnv.…; Spark hides values of keys that match its regular expression."""
    lines = (ROOT / "conf" / "spark-defaults.conf").read_text().splitlines()
    (hidden,) = (line.split()[1] for line in lines if line.startswith("spark.redaction.regex"))
    shown = {name for name in OF_STORES if not re.search(hidden, f"spark.executorEnv.{name}")}
    assert shown.isdisjoint(name for name in OF_STORES if name.endswith(("_SECRET", "_KEY", "_TOKEN")))
    assert {"AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET"} <= {*OF_STORES} - shown
    assert {"AWS_PROFILE", "AWS_REGION", "HADOOP_CONF_DIR"} <= shown
    assert not {key for key in ("spark.hadoop.fs.s3a.access.key", "spark.hadoop.fs.s3a.secret.key") if not re.search(hidden, key)}
