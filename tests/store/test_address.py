"""Addresses, and what others call the same place."""

from pathlib import Path

import pytest

from pipeline.store.address import ObjectAddress, delta_url, local_path, object_address, with_hadoops_scheme


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
        ("/a%20b/c", None),
        ("s3a://a/b%20", None),
        ("hdfs:///a", None),
        ("a/b", None),
    ],
)
def test_delta_rs_opens_what_it_knows(uri: str, url: str | None) -> None:
    assert delta_url(uri) == url


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
