"""Addresses, and what others call the same place."""

import re
from pathlib import Path

import pytest

from pipeline.faults import BadWarehouse
from pipeline.store.address import HdfsAddress, ObjectAddress, delta_url, hdfs_address, local_path, object_address, with_hadoops_scheme


@pytest.mark.parametrize(
    ("uri", "url"),
    [
        ("/a/b", "file:///a/b"),
        ("file:/a/b", "file:///a/b"),
        ("file:///a/b", "file:///a/b"),
        ("/a b/ä", "file:///a%20b/%C3%A4"),
        ("s3a://a/b", "s3://a/b"),
        ("s3://a/b c", "s3://a/b c"),
        ("gs://a/b", "gs://a/b"),
        ("abfss://box@account.dfs.core.windows.net/b", "abfss://box@account.dfs.core.windows.net/b"),
        ("hdfs://node:9000/a b", "hdfs://node:9000/a b"),
    ],
)
def test_delta_rs_has_its_own_names(uri: str, url: str) -> None:
    assert delta_url(uri) == url


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("/a%20b/c", "one of the characters"),
        ("s3a://a/b%20", "one of the characters"),
        ("a[1]/b", "one of the characters"),
        ("hdfs:///a", "name host and folder: hdfs://HOST:PORT/FOLDER"),
        ("hdfs://node:9000/", "name host and folder"),
        ("s3a:/lake/wh", "name host and folder: s3a://BUCKET/FOLDER"),
        ("s3:///wh", "name host and folder"),
        ("az://box/wh", "name the account"),
        ("S3A://lake/wh", "in small letters"),
        ("file:x", "name a folder"),
        ("", "name a folder"),
        ("wasb://a/b", "wasb: is none of them"),
    ],
)
def test_where_no_warehouse_can_be_the_reason_is_told(uri: str, reason: str) -> None:
    with pytest.raises(BadWarehouse, match=f"^.?{re.escape(uri)}.?: .*{reason}"):
        delta_url(uri)


def test_a_place_in_hdfs_is_a_node_and_a_path() -> None:
    assert hdfs_address("hdfs://node:9000/wh/names/") == HdfsAddress("hdfs://node:9000", "/wh/names")
    assert hdfs_address("/hdfs:/wh") is None


def test_a_place_in_an_object_store_is_a_bucket_and_a_key() -> None:
    assert object_address("s3a://lake/wh/names/") == ObjectAddress("s3://lake", "wh/names")
    assert object_address("s3n://lake") == ObjectAddress("s3://lake", "")
    assert object_address("/lake/wh") is None
    assert with_hadoops_scheme("s3://lake/s3:/x") == "s3a://lake/s3:/x"
    assert with_hadoops_scheme("relative/s3:") == "relative/s3:"


def test_a_path_on_this_machine_has_no_scheme_or_file() -> None:
    assert [local_path(uri) for uri in ("file:/a/b", "/a/b", "file:///a", "a/b", "s3a://a/b")] == [
        Path("/a/b"), Path("/a/b"), Path("/a"), None, None,
    ]  # fmt: skip
