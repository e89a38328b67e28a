"""Whose a version of a table is, by the mark in its commit."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from whose_versions import operations_without_our_mark

from pipeline.store.commit import Commit
from pipeline.warehouse.append import append_rows
from pipeline.warehouse.commit_tag import TAG, foreign
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from schemas.tables import TABLES_BY_NAME

OURS, THEIRS = TAG, None


@pytest.mark.parametrize(
    ("marks", "versions"),
    [
        ([OURS, OURS, OURS], []),
        ([OURS, THEIRS, OURS], [1]),
        ([THEIRS, THEIRS, OURS, "another program"], [3]),
        ([THEIRS, OURS, THEIRS, THEIRS], [3, 2]),
        ([THEIRS, THEIRS], []),
        ([], []),
    ],
)
def test_versions_after_the_first_marked_one_that_have_no_mark_are_somebody_else_s(marks: list[str | None], versions: list[int]) -> None:
    commits = [Commit(version, "DELETE", datetime(2026, 1, 1, tzinfo=UTC), None, mark) for version, mark in enumerate(marks)]
    assert [commit.version for commit in foreign(commits[::-1])] == versions


def test_what_delta_rs_commits_for_us_has_the_mark(tmp_path: Path) -> None:
    warehouse = Warehouse(f"file:{tmp_path}")
    create_missing_tables(warehouse)
    names = TABLES_BY_NAME["names"]
    append_rows(warehouse, names, [{field.name: None if field.nullable else 1 for field in names.fields} | {"level": "broker"}])
    assert operations_without_our_mark(warehouse) == []
