"""A warehouse that appears whole or not at all."""

import os
from pathlib import Path

import pytest

from pipeline.faults import BadConfig
from pipeline.load.publication import appearing
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import DriverLock


def no_lock(warehouse: Warehouse) -> DriverLock:
    """On this machine nobody asks for one."""
    raise AssertionError(warehouse)


def test_what_was_made_is_there_when_the_block_has_ended(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "warehouse"
    with appearing(str(place), no_lock) as folder:
        (folder / "table").mkdir()
        assert not place.exists()
    assert [path.name for path in place.iterdir()] == ["table"]
    assert [path.name for path in place.parent.iterdir()] == ["warehouse"]
    mask = os.umask(0)
    os.umask(mask)
    assert place.stat().st_mode & 0o777 == 0o777 & ~mask


def fail_to_make(place: Path) -> None:
    with appearing(str(place), no_lock) as folder:
        (folder / "table").mkdir()
        raise ZeroDivisionError


def test_a_fault_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_to_make(tmp_path / "warehouse")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_gives_way(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir()
    with appearing(str(tmp_path / "warehouse"), no_lock) as folder:
        (folder / "table").mkdir()
    assert [path.name for path in (tmp_path / "warehouse").iterdir()] == ["table"]


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_what_is_there_is_not_touched(tmp_path: Path, there: str) -> None:
    place = tmp_path / "warehouse"
    if there == "file":
        place.write_text("x")
    elif there == "folder":
        (place / "table").mkdir(parents=True)
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadConfig, match="there is something already"), appearing(str(place), no_lock):
        pytest.fail("the block must not begin")
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse"]


def test_what_appeared_meanwhile_stays(tmp_path: Path) -> None:
    place = tmp_path / "warehouse"
    with pytest.raises(BadConfig, match="there is something already"), appearing(str(place), no_lock):
        (place / "of somebody else").mkdir(parents=True)
    assert [path.name for path in place.iterdir()] == ["of somebody else"]
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse"]


def test_what_a_killed_load_left_is_removed_and_what_another_one_makes_is_not(tmp_path: Path) -> None:
    place = tmp_path / "warehouse"
    (tmp_path / ".warehouse.loading-dead" / "table").mkdir(parents=True)
    (tmp_path / ".warehouse.loading-dead" / "_loading").touch()
    (tmp_path / ".other.loading-dead").mkdir()
    with appearing(str(place), no_lock) as first:
        with pytest.raises(ZeroDivisionError):
            fail_to_make(place)
        assert first.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.loading-dead", "warehouse"]


def test_a_place_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadConfig, match="no folder can be made there"), appearing(str(tmp_path / "file" / "warehouse"), no_lock):
        pytest.fail("the block must not begin")
