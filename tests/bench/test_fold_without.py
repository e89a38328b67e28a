"""The fold without a package of rules: what `bench.cause_cost` compares with has all other packages, and not that one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.fold_without import take_out
from schemas.packages import PACKAGES

EVENTS = 2_000
#: Rows by table of the demo's first events, without the package that is named, if one is.
SCRIPT = f"""
import json, sys
from pathlib import Path
from bench.fold_without import take_out
if len(sys.argv) > 1:
    take_out(sys.argv[1], Path(sys.argv[2]))
from bench.fold import DEMO, SETTINGS, Lane, events_of
from lane_rows import lane_rows
from collections import Counter
lane = Lane(SETTINGS)
lane.offer(lane_rows(events_of(DEMO)[:{EVENTS}]))
rows = Counter()
for some in lane.finish():
    rows[some.table] += some.count
print(json.dumps(rows))
"""


def rows_by_table(*arguments: str) -> dict[str, int]:
    """Of a process of its own, uncompiled: nothing else compiles the fold without a package."""
    environ = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    found: dict[str, int] = json.loads(
        subprocess.run([sys.executable, "-c", SCRIPT, *arguments], env=environ, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    return found


def test_only_the_tables_of_the_package_are_missing(tmp_path: Path) -> None:
    """Every other table has as many rows as with it."""
    tables = {table.name for package in PACKAGES if package.name == "cause" for table in package.tables}
    complete, without = rows_by_table(), rows_by_table("cause", str(tmp_path))
    assert complete.keys() & tables
    assert without == {table: count for table, count in complete.items() if table not in tables}


def test_a_package_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A wrong name would compare the fold with itself."""
    with pytest.raises(SystemExit, match="no package of rules causes"):
        take_out("causes", tmp_path)


def test_a_fold_that_is_loaded_is_not_taken_for_another(tmp_path: Path) -> None:
    """What has asked for the fold keeps the one with all packages."""
    __import__("pipeline.rules.fold")
    with pytest.raises(SystemExit, match="loaded already"):
        take_out("cause", tmp_path)
