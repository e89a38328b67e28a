"""What may be imported without what."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from console.command_line import COMMANDS, WITHOUT_SPARK
from pipeline import VERSION
from tools.environment.packages import RULES_NEED

ROOT = Path(__file__).parent.parent.parent


def loaded_after(imports: str) -> set[str]:
    """Top-level names of modules that a fresh interpreter has after `import …`."""
    program = f"import {imports}; import sys; print(' '.join(name.partition('.')[0] for name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())


def modules_of(room: str) -> str:
    """All modules of a room, as the arguments of an import statement."""
    files = sorted((ROOT / room).rglob("*.py"))
    return ", ".join(".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for f in files)


def test_the_rules_import_without_spark_and_frames() -> None:
    assert loaded_after(modules_of("pipeline/rules")) & {"pyspark", "delta", "py4j", "pandas", "pyarrow"} == set()


def test_the_parser_imports_without_spark() -> None:
    assert loaded_after(modules_of("pipeline/sources/parse")) & {"pyspark", "delta", "py4j"} == set()


def on_a_bare_python(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` as spark-submit.sh does before set-up: -S hides whatever packages this Python has."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-S", "-P", *words], env=environ, capture_output=True, text=True, check=False)


def test_no_package_is_found_on_a_bare_python() -> None:
    """Else the tests below would hold whatever the commands import."""
    assert "ModuleNotFoundError: No module named 'pydantic'" in on_a_bare_python("-c", "import pydantic").stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_are_checked_before_anything_is_installed(command: str) -> None:
    """Of a command without Spark console.needs builds no parser: such a command checks its arguments itself, after set-up."""
    done = on_a_bare_python("-m", "console.needs", command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == ("ship" if command == "ship" else "packages" if command in WITHOUT_SPARK else "usage:")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "validate"])
def test_help_comes_before_anything_is_installed(command: str) -> None:
    """But that of `validate`, for which spark-submit.sh installs the packages: its arguments need the parser of logs."""
    done = on_a_bare_python("-m", "jobs", command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: spark-submit.sh {command} ")


def test_set_up_itself_needs_nothing_installed() -> None:
    done = on_a_bare_python("-c", "import tools.environment.__main__")
    assert (done.returncode, done.stderr) == (0, "")


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
    program = "import pipeline.rules.warm_up, sys; print(*(m.__file__ or '' for m in [*sys.modules.values()] if hasattr(m, '__file__')))"
    files = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    packages = {file.partition("site-packages/")[2].partition("/")[0] for file in files if "site-packages/" in file}
    # The sets of quality and of the tests bring scipy, which numba loads where it is there.
    assert packages - {"_distutils_hack", "scipy"} == set(RULES_NEED)


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in VERSION.split(".")] == [True, True, True]
