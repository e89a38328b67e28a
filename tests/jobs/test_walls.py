"""What may be imported without what."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from jobs import VERSION
from jobs.environment.packages import RULES_NEED

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
        "jobs.environment.__main__",
    ],
)
def test_arguments_are_read_without_anything_installed(command: str) -> None:
    assert loaded_after(command) & {"pyspark", "pandas", "pyarrow", "numba", "numpy", "great_expectations"} == set()


def pins(name: str) -> dict[str, str]:
    """Package → version of a lock; any other line than a comment or a pin is refused."""
    lines = (line for line in (ROOT / "requirements" / f"{name}.lock").read_text().splitlines() if not line.startswith("#"))
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("name", ["run", "quality", "tests"])
def test_a_lock_holds_every_dependency_of_its_set_and_one_version(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"].get(name, [])]
    names = [item.replace("<", "=").replace(">", "=").partition("=")[0].partition(",")[0] for item in asked]
    assert [one for one in names if one not in pins(name)] == []


@pytest.mark.parametrize("later", ["quality", "tests"])
def test_what_runs_stays_as_it_is_when_a_later_set_comes(later: str) -> None:
    assert pins("run").items() <= pins(later).items()


def test_the_later_sets_agree_where_they_meet() -> None:
    both = pins("quality").keys() & pins("tests").keys()
    assert {name for name in both if pins("quality")[name] != pins("tests")[name]} == set()


def test_what_runs_holds_nothing_of_the_later_sets() -> None:
    assert pins("run").keys() & {"great-expectations", "scipy", "pytest", "ruff", "mypy"} == set()


def test_the_rules_compile_with_the_packages_that_are_installed_first() -> None:
    program = "import pipeline.machines.warm_up, sys; print(*(m.__file__ or '' for m in [*sys.modules.values()] if hasattr(m, '__file__')))"
    files = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    packages = {file.partition("site-packages/")[2].partition("/")[0] for file in files if "site-packages/" in file}
    assert packages - {"_distutils_hack"} == set(RULES_NEED)


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in VERSION.split(".")] == [True, True, True]
