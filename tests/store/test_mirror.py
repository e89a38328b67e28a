"""Copies of an object store's files on this machine."""

from pathlib import Path

import pytest
from s3_server import S3

from pipeline.faults import BadWarehouse
from pipeline.store import mirror
from pipeline.store.files import files_at
from pipeline.store.mirror import Mirror

FILE_BYTES = 100


@pytest.fixture
def copies(lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """Of a warehouse with three tables of one file; two of them may be here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(mirror, "MOST_BYTES", 2 * FILE_BYTES)
    for table in ("a", "b", "c"):
        files_at(lake).write(f"{lake}/{table}/f.parquet", table * FILE_BYTES)
    return Mirror(lake)


def there(copies: Mirror) -> list[str]:
    return sorted(str(path.relative_to(copies.folder)) for path in copies.folder.rglob("*") if path.is_file())


def test_a_copy_is_fetched_once_and_whole(copies: Mirror, s3: S3) -> None:
    for _ in range(2):
        copies.fetch([("a/f.parquet", FILE_BYTES)])
    assert (copies.folder / "a/f.parquet").read_text() == "a" * FILE_BYTES
    assert [request for request in s3.requests if request.startswith("GET")] == ["GET wh/a/f.parquet"]
    (copies.folder / "a/f.parquet").write_text("cut short")
    copies.fetch([("a/f.parquet", FILE_BYTES)])
    assert (copies.folder / "a/f.parquet").read_text() == "a" * FILE_BYTES


def test_what_nobody_needs_gives_way_and_what_a_question_needs_stays(copies: Mirror) -> None:
    copies.fetch([("a/f.parquet", FILE_BYTES)])
    copies.fetch([("b/f.parquet", FILE_BYTES)])
    with pytest.raises(BadWarehouse, match=r"the question needs 0\.0 GB of s3a://lake/wh"):
        copies.fetch([("c/f.parquet", FILE_BYTES)])
    assert there(copies) == ["a/f.parquet", "b/f.parquet"]
    copies.forget(["a", "c"])
    copies.fetch([("c/f.parquet", FILE_BYTES)])
    assert there(copies) == ["b/f.parquet", "c/f.parquet"]


def test_a_file_that_is_gone_is_one_line(copies: Mirror) -> None:
    with pytest.raises(BadWarehouse, match=r"a/gone.parquet of s3a://lake/wh is gone while it was read .* ask again"):
        copies.fetch([("a/gone.parquet", 1)])
    assert there(copies) == []
