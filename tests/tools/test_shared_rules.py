"""Compiled rules belong to the content of the sources: wherever these lie, nothing is compiled twice, and nothing stale is used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
#: Of a checkout: what compiles a rule and finds it again. The rules are two, one calls the other.
SHARED = (
    "pipeline/__init__.py",
    "pipeline/rules_cache.py",
    "pipeline/rules/__init__.py",
    "pipeline/rules/compiled.py",
    "schemas/__init__.py",
)
INNER = "from pipeline.rules.compiled import compiled_part\n\n\n@compiled_part\ndef inner(number):\n    return number + {}\n"
OUTER = """from pipeline.rules.compiled import compiled
from pipeline.rules.a.inner import inner


@compiled
def outer(number):
    return inner(number) * 10
"""
#: What it computes, how many of both were found, and how many were compiled.
USE = """
from pipeline.rules.b.outer import inner, outer
result = outer(1)
print(result, *(sum(sum(getattr(rule.stats, name).values()) for rule in (inner, outer)) for name in ("cache_hits", "cache_misses")))
"""


def checkout(folder: Path, added: int = 1) -> Path:
    """A small one, whose inner rule adds a number."""
    for name in SHARED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    for name, text in (("a/inner.py", INNER.format(added)), ("b/outer.py", OUTER)):
        file = folder / "pipeline" / "rules" / name
        file.parent.mkdir()
        (file.parent / "__init__.py").touch()
        file.write_text(text)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def use(folder: Path, cache: Path) -> str:
    """A process that runs the rules of a checkout."""
    environ = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-P", "-c", USE], env=environ, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_checkout_compiles_nothing(tmp_path: Path, cache: Path) -> None:
    assert use(checkout(tmp_path / "one"), cache) == "20 0 2"
    other = checkout(tmp_path / "farther" / "two")
    for file in other.rglob("*.py"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    # The outer rule holds a copy of the inner one, which nobody loads.
    assert use(other, cache) == "20 1 0"


def test_a_changed_rule_and_its_callers_are_compiled_anew_and_the_others_stay(tmp_path: Path, cache: Path) -> None:
    one, two = checkout(tmp_path / "one"), checkout(tmp_path / "two", added=2)
    assert use(one, cache) == "20 0 2"
    assert use(two, cache) == "30 0 2"
    assert use(one, cache) == "20 1 0"
    (one / "pipeline" / "rules" / "a" / "inner.py").write_text(INNER.format(2))
    assert use(one, cache) == "30 1 0"


def test_functions_of_others_are_cached_as_ever(tmp_path: Path, cache: Path) -> None:
    """Their locators are numba's own."""
    program = """
import numba
from pipeline.rules.b.outer import outer
print(numba.config.CACHE_LOCATOR_CLASSES == "", numba.config.CACHE_DIR, outer.stats.cache_path)
"""
    folder = checkout(tmp_path / "one")
    environ = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-P", "-c", program], env=environ, cwd=folder, capture_output=True, text=True, check=True)
    is_unset, others, ours = done.stdout.split()
    assert (is_unset, others) == ("True", str(cache))
    assert Path(ours).parent.parent == cache
    assert Path(ours).name == "pipeline.rules.b"
