"""Set-up compiles every rule, for the arguments that the fold gives it, and leaves what is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.rules.warm_up import rules_of_the_fold
from pipeline.rules_cache import parts_cache, rules_cache

ROOT = Path(__file__).parent.parent.parent
#: The fold, in a process of its own: how often it found itself in the cache, and how often it had to be compiled.
USE = """
from pipeline.rules.warm_up import warm_up
from pipeline.rules.fold import fold
warm_up()
print(sum(fold.stats.cache_hits.values()), sum(fold.stats.cache_misses.values()))
"""
#: As compiling.py ends; then each rule's types as the fold asked for them, beside those it was compiled for.
COMPILE = """
from tools.environment import compiling
if __name__ == "__main__":
    compiling.compile_all()
    print(sum(rule.signatures != [types] for rule, types in compiling.rules_of_the_fold()), "compiled for other types")
"""
#: Rules that the ends of windows and epochs call, and that were not called.
LEFT_OUT = """
import sys
from pipeline.rules.packages import PACKAGES
from pipeline.rules.warm_up import compile_ends
compile_ends()
modules = [sys.modules[type(package.ends).__module__] for package in PACKAGES]
called = {rule for module in modules for rule in vars(module).values() if hasattr(rule, "py_func")}
print(len(called), *(rule.__name__ for rule in called if not rule.signatures))
"""


def test_every_rule_that_an_end_calls_is_compiled_by_set_up() -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "0"}
    printed = subprocess.run([sys.executable, "-c", LEFT_OUT], env=environ, capture_output=True, text=True, check=True).stdout.split()
    assert int(printed[0]) > 10
    assert printed[1:] == []


def test_every_rule_of_a_package_that_an_event_reaches_is_listed_once() -> None:
    names = [f"{rule.__module__}.{rule.__name__}" for rule, _ in rules_of_the_fold()]
    assert len(names) == len(set(names)) > 50
    assert {"pipeline.rules.broker.rules.on_publish", "pipeline.rules.backlog.rules.when_due"} <= set(names)


@pytest.mark.slow(reason="compiles all rules anew: a minute of two cores; every set-up does it, and all tests run on its rules")
def test_after_set_up_nothing_is_left_to_compile(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    program = tmp_path / "compile.py"
    program.write_text(COMPILE)
    made = subprocess.run([sys.executable, str(program)], env=environ, capture_output=True, text=True, check=True).stdout.splitlines()
    count = len(rules_of_the_fold()) + 2
    assert made == [*(f"{done} of {count}" for done in range(1, count + 1)), "0 compiled for other types"]
    assert not Path(parts_cache(environ["NUMBA_CACHE_DIR"])).exists()
    size_bytes = sum(file.stat().st_size for file in Path(rules_cache(environ["NUMBA_CACHE_DIR"])).rglob("*") if file.is_file())
    assert 5_000_000 < size_bytes < 40_000_000
    used = subprocess.run([sys.executable, "-c", USE], env=environ, capture_output=True, text=True, check=True).stdout
    assert used == "1 0\n"
