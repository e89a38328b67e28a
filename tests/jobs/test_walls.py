"""What may be imported without what."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from jobs import VERSION

ROOT = Path(__file__).parent.parent.parent


def loaded_after(imports: str) -> set[str]:
    """Top-level names of modules that a fresh interpreter has after `import …`."""
    program = f"import {imports}; import sys; print(' '.join(name.partition('.')[0] for name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())


def modules_of(room: str) -> str:
    """All modules of a room, as the arguments of an import statement."""
    files = sorted((ROOT / room).rglob("*.py"))
    return ", ".join(".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for f in files)


def test_the_rules_import_without_spark_and_frames_and_numba_without_scipy() -> None:
    assert loaded_after(modules_of("pipeline/machines")) & {"pyspark", "delta", "py4j", "pandas", "pyarrow", "scipy"} == set()


def test_the_parser_imports_without_spark() -> None:
    assert loaded_after(modules_of("pipeline/parse")) & {"pyspark", "delta", "py4j"} == set()


@pytest.mark.parametrize(
    "command",
    [
        "jobs.cli, jobs.stream, jobs.sql, jobs.rebuild, jobs.quality, jobs.status, jobs.maintain, jobs.checkpoint, jobs.quarantine",
        "jobs.needs",
    ],
)
def test_arguments_are_read_without_anything_installed(command: str) -> None:
    assert loaded_after(command) & {"pyspark", "pandas", "pyarrow", "numba", "numpy", "great_expectations"} == set()


def test_the_lock_holds_every_dependency_with_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    locked = {line.partition("==")[0] for line in lines if "==" in line}
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = [item.replace("<", "=").replace(">", "=").partition("=")[0].partition(",")[0] for item in asked]
    assert [name for name in names if name not in locked] == []
    assert [line for line in lines if "==" not in line or "/" in line] == []


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in VERSION.split(".")] == [True, True, True]
