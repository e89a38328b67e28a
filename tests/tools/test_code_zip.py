"""The archive for a cluster's executors: code, defaults and compiled rules, used as an executor uses them."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipeline.rules.fold import fold
from pipeline.rules.warm_up import warm_up
from tools.code_zip import write_archive
from tools.compiled_rules import UNUSED_AFTER_DAYS
from tools.shipped_rules import SHIPPED

NOW_S = 1_800_000_000.0
DAY_S = 86_400
#: A daemon of Python workers starts; then: where the code came from, how many rules were compiled, how often the fold was in the cache.
DAEMON = """
import sys
from driver import python_daemon
python_daemon.preload()
modules = [module for name, module in sys.modules.items() if name.startswith("pipeline.rules")]
rules = {id(rule): rule for module in modules for rule in vars(module).values() if hasattr(rule, "py_func")}
fold = sys.modules["pipeline.rules.fold"].fold
print(python_daemon.__file__)
print(len(rules) > 100, sum(sum(rule.stats.cache_misses.values()) for rule in rules.values()), sum(fold.stats.cache_hits.values()))
"""
#: One small rule, on a processor that the shipped rules were not compiled for.
OTHER_PROCESSOR = """
from tools.shipped_rules import use_shipped_rules
use_shipped_rules()
from pipeline.rules.integers import add
print(add(2, 3), sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))
"""


@pytest.fixture(scope="module")
def cache_parent() -> str:
    """NUMBA_CACHE_DIR of this process, with the compiled rules."""
    warm_up()  # where set-up has not compiled them for this folder
    # Not numba's setting: it is read anew from the environment when a test changes that.
    return str(Path(fold.stats.cache_path).parents[1])


@pytest.fixture
def executor(tmp_path: Path, cache_parent: str) -> Path:
    """The folder in which an executor runs, with the archive unpacked."""
    archive = write_archive(tmp_path / "shipped", cache_parent, NOW_S)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "executor" / "dispatch_analytics")
    return tmp_path / "executor"


def run(program: str, executor: Path, **environ: str) -> list[str]:
    """Lines that a Python process of an executor prints. It knows of the driver nothing but what the archive brought."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    environ = {**keep, "PYTHONPATH": "dispatch_analytics", "HOME": str(executor), **environ}
    done = subprocess.run([sys.executable, "-P", "-c", program], env=environ, cwd=executor, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below, with its content; what Python compiled of sources is left out."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_the_same_content_gives_the_same_bytes_and_name(tmp_path: Path, cache_parent: str) -> None:
    first, second = (write_archive(tmp_path / name, cache_parent, NOW_S) for name in ("a", "b"))
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())


def test_an_executor_compiles_nothing(executor: Path) -> None:
    shipped = files_of(executor)
    place, counts = run(DAEMON, executor)
    assert place == str(executor / "dispatch_analytics/driver/python_daemon.py")
    assert counts == "True 0 1"
    assert files_of(executor) == shipped


def test_another_processor_compiles_for_itself(executor: Path) -> None:
    assert run(OTHER_PROCESSOR, executor) == ["5 1 0"]
    assert run(OTHER_PROCESSOR, executor, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == ["5 0 1"]
    # What one process compiled the next one finds.
    assert run(OTHER_PROCESSOR, executor, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == ["5 1 0"]


def test_defaults_and_sql_travel_too(executor: Path) -> None:
    program = (
        "import pipeline.settings as s, pipeline.query.views.catalog as c; print(s.default_settings().lanes.window_ms, len(c.VIEWS) > 20)"
    )
    assert run(program, executor) == ["60000 True"]


def test_without_compiled_rules_there_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(write_archive(tmp_path / "shipped", str(tmp_path / "none"), NOW_S)) as packed:
        assert [name for name in packed.namelist() if name.startswith(SHIPPED)] == []
    assert "every executor will compile them" in capsys.readouterr().err


def test_archives_of_other_versions_go_when_they_are_not_used(tmp_path: Path, cache_parent: str) -> None:
    for name, days in (("old.zip", UNUSED_AFTER_DAYS + 1), ("lately.zip", UNUSED_AFTER_DAYS - 1)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (NOW_S - days * DAY_S,) * 2)
    ours = write_archive(tmp_path, cache_parent, NOW_S)
    assert {path.name for path in tmp_path.iterdir()} == {"lately.zip", ours.name}
    os.utime(ours, (NOW_S - 30 * DAY_S,) * 2)
    assert write_archive(tmp_path, cache_parent, NOW_S) == ours
    assert ours.stat().st_mtime == NOW_S
