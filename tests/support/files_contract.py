"""What small files are in every file system: on a disk, in an object store, in HDFS."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from pipeline.store.files import files_at
from pipeline.store.small_files import SmallFiles

#: Between clocks, and for a machine that is busy.
_SOON = timedelta(minutes=5)


class FilesContract:
    """Tests of the folder that the fixture `place` names; nothing is there at first."""

    @pytest.fixture
    def files(self, place: str) -> SmallFiles:
        """The files there."""
        return files_at(place)

    def test_what_was_written_is_there(self, files: SmallFiles, place: str) -> None:
        text = "äöü %20\n[*]"
        assert files.create(f"{place}/_checkpoints/lanes/offsets/7", text)
        assert files.read(f"{place}/_checkpoints/lanes/offsets/7") == text
        assert files.read(f"{place}/_checkpoints/lanes/offsets/8") is None
        assert files.names(f"{place}/_checkpoints/lanes") == ["offsets"]
        assert files.names(f"{place}/_checkpoints/lanes/offsets") == ["7"]
        assert files.names(f"{place}/nothing") == []
        assert [files.exists(f"{place}{below}") for below in ("", "/_checkpoints", "/_checkpoints/lanes/offsets/7", "/_check")] == [
            True, True, True, False,
        ]  # fmt: skip
        assert files.is_folder(f"{place}/_checkpoints")
        assert not files.is_folder(f"{place}/_checkpoints/lanes/offsets/7")
        assert files.bytes_below(place) == len(text.encode())

    def test_a_file_has_the_time_of_its_writing(self, files: SmallFiles, place: str) -> None:
        files.write(f"{place}/listed/0", "x")
        written = files.modified_at(f"{place}/listed/0")
        assert written is not None
        assert abs(datetime.now(UTC) - written) < _SOON
        assert files.modified_at(f"{place}/gone") is None

    def test_names_are_sorted_and_may_begin_after_one(self, files: SmallFiles, place: str) -> None:
        for name in ("10", "b/deep", "9", "a b"):
            files.write(f"{place}/{name}", name)
        assert files.names(place) == ["10", "9", "a b", "b"]
        assert files.names(place, after="9") == ["a b", "b"]

    def test_all_files_below_are_found_with_their_length(self, files: SmallFiles, place: str) -> None:
        for name in ("1", "a/2", "a/b c/3", "ab/4"):
            files.write(f"{place}/{name}", name)
        root = files.absolute(place)
        assert sorted(files.below(place)) == [(f"{root}/{name}", len(name)) for name in ("1", "a/2", "a/b c/3", "ab/4")]
        assert sorted(files.below(f"{place}/a")) == [(f"{root}/{name}", len(name)) for name in ("a/2", "a/b c/3")]
        assert list(files.below(f"{place}/a/2")) == [(f"{root}/a/2", 3)]
        assert list(files.below(f"{place}/nothing")) == []

    def test_a_file_is_made_once_and_replaced_by_who_knows_it(self, files: SmallFiles, place: str) -> None:
        lock = f"{place}/_driver_lock"
        assert files.create(lock, "first")
        assert not files.create(lock, "second")
        assert not files.replace(lock, "second", "third")
        assert files.read(lock) == "first"
        assert files.replace(lock, "first", "third")
        files.write(lock, "fourth")
        files.write(f"{place}/listed/0", "in a folder that was not there")
        assert files.read(lock) == "fourth"
        assert files.names(place) == ["_driver_lock", "listed"], "nothing is left of those who came too late"
        assert files.delete(lock)
        assert not files.delete(lock)
        assert not files.replace(lock, "fourth", "fifth")
        assert files.read(lock) is None

    def test_a_folder_goes_with_all_below_it(self, files: SmallFiles, place: str) -> None:
        for name in ("a/1", "a/b/2", "ab"):
            files.create(f"{place}/{name}", name)
        assert files.delete(f"{place}/a")
        assert files.names(place) == ["ab"]

    def test_of_many_that_create_one_wins(self, files: SmallFiles, place: str) -> None:
        locks = [f"lock-{number}" for number in range(5)]
        for name in locks:
            lock = f"{place}/{name}"
            with ThreadPoolExecutor(8) as threads:
                won = list(threads.map(lambda n, lock=lock: files.create(lock, str(n)), range(16)))
            assert won.count(True) == 1
            assert files.read(lock) == str(won.index(True))
        assert files.names(place) == locks


class TakeOverContract:
    """Of files in an object store alone: elsewhere two of several callers may replace a file (SmallFiles.replace)."""

    def test_of_many_that_take_over_one_wins(self, place: str) -> None:
        files = files_at(place)
        files.create(f"{place}/lock", "gone")
        with ThreadPoolExecutor(8) as threads:
            won = list(threads.map(lambda n: files.replace(f"{place}/lock", "gone", str(n)), range(16)))
        assert won.count(True) == 1
        assert files.read(f"{place}/lock") == str(won.index(True))
