"""Old compiled rules go, beside other processes; those in use stay."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tools.compiled_rules import remove_unused, tidy_compiled_rules

ROOT = Path(__file__).parent.parent.parent
NOW_S = 1_800_000_000.0
DAY_S = 86_400
OURS = "0123456789abcdef"
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a folder of compiled rules that was last used so many days ago."""

    def folder(name: str, days: float, file: str = "walk.walk-16.py311.nbi", written_days: float | None = None) -> Path:
        made = tmp_path / name
        (made / "throttle_ab12").mkdir(parents=True)
        (made / "throttle_ab12" / file).touch()
        for path, age in (
            (made / "throttle_ab12" / file, days if written_days is None else written_days),
            (made / "throttle_ab12", days),
            (made, days),
        ):
            os.utime(path, (NOW_S - age * DAY_S,) * 2)
        return made

    return folder


def remove(ours: Path) -> list[str]:
    """Run it; what it said."""
    said: list[str] = []
    remove_unused(ours, NOW_S, said.append)
    return said


@pytest.mark.parametrize(
    ("sibling", "stays"),
    [
        ({"name": "fedcba9876543210", "days": 8}, False),
        ({"name": "fedcba9876543210", "days": 6}, True),
        ({"name": "fedcba9876543210", "days": 8, "written_days": 6}, True),
        ({"name": "fedcba9876543210", "days": 8, "file": "walk.walk-16.py311.1.nbc.tmp.4f00aa"}, False),
        ({"name": "fedcba9876543210", "days": 8, "file": "notes.txt"}, True),
        ({"name": "fedcba9876543210", "days": 8, "file": "../complete"}, False),
        ({"name": "somebody_elses", "days": 8}, True),
    ],
    ids=["unused for a week", "used lately", "compiled lately", "half written", "with a foreign file", "complete", "not one of ours"],
)
def test_what_goes_and_what_stays(make: Make, sibling: dict[str, Any], stays: bool) -> None:
    ours, other = make(OURS, days=1), make(**sibling)
    assert remove(ours) == []
    assert (ours.exists(), other.exists()) == (True, stays)


def test_rules_in_use_stay_for_the_version_that_comes_next(make: Make) -> None:
    before, after = make(OURS, days=30), make("fedcba9876543210", days=0)
    remove(before)
    remove(after)
    assert before.exists()


def test_a_link_to_rules_elsewhere_is_left_alone(make: Make, tmp_path: Path) -> None:
    elsewhere = make("elsewhere/fedcba9876543210", days=30)
    (tmp_path / "aaaabbbbccccdddd").symlink_to(elsewhere)
    assert remove(make(OURS, days=0)) == []
    assert elsewhere.exists()


def test_before_anything_was_compiled_nothing_is_said(make: Make, tmp_path: Path) -> None:
    old = make("fedcba9876543210", days=30)
    assert remove(tmp_path / OURS) == []
    assert not old.exists()


def test_a_cache_that_does_not_exist_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "none"))
    tidy_compiled_rules(NOW_S, pytest.fail)


def test_many_processes_may_tidy_at_once(make: Make) -> None:
    ours = make(OURS, days=0)
    old = [make(f"{number:016x}", days=30) for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(lambda _: remove(ours), range(8)))
    assert said == [[]] * 8
    assert [folder.name for folder in old if folder.exists()] == []


def test_a_process_whose_rules_vanish_goes_on(tmp_path: Path) -> None:
    code = """
import os, shutil, numpy as np
from pipeline.rules import integers
from pipeline.rules_cache import rules_cache
first = integers.add(1, 2)
shutil.rmtree(rules_cache(os.environ["NUMBA_CACHE_DIR"]))
print(first, integers.subtract(7, 2), integers.add(np.int32(1), 2))
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 5 3\n", "")
    assert list((tmp_path / "cache").rglob("integers.subtract*.nbi"))
