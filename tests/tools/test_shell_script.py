"""spark-submit.sh before it starts anything: help, wrong arguments, a machine that lacks something. Seconds, no network, no Spark."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import CODE

ROOT = Path(__file__).parent.parent.parent
TOOLS = ("bash", "dirname", "env", "head", "sed", "cut", "cat", "cksum", "tail", "mkdir", "tr")


def run(arguments: list[str], cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a user would from `cwd`; PYTHON is ours."""
    keep = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "JAVA_HOME", "PYTHON", "PYTHONPATH", "PYSPARK_SUBMIT_ARGS")}
    return subprocess.run(
        [ROOT / "spark-submit.sh", *arguments], cwd=cwd, env={**keep, **environ}, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def bare_tools(tmp_path: Path) -> Path:
    """A PATH with the tools of any Unix and our Python, but no Java."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, tool
        (folder / tool).symlink_to(found)
    (folder / "python3.11").symlink_to(os.path.realpath(sys.executable))
    return folder


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["demo", "--help"], ["stream", "-h"], ["sql", "--help"], ["rebuild", "--help"], ["quality", "--help"]]
)
def test_help_comes_from_any_folder_and_without_java(arguments: list[str], tmp_path: Path, bare_tools: Path) -> None:
    done = run(arguments, tmp_path, PATH=str(bare_tools))
    assert (done.returncode, done.stderr) == (0, "")
    assert "examples:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["stream"], "--events, --warehouse"),
        (["stream", "--events", "x", "--warehouse", "y", "--twice"], "--twice"),
        (["sql", "SELECT 1"], "--warehouse"),
        (["rebuild", "some", "--warehouse", "y"], "'some'"),
        (["status", "--warehouse", "y", "--checkpoint", "z"], "'z'"),
        (["demo", "--master"], "--master needs a value"),
        (["demo", "--conf", "spark.x"], "expected key=value"),
        (["demo", "--properties-file", "/none"], "cannot be read"),
        (["set-up", "everything"], "set-up knows no everything"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = run(arguments, tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_java_is_one_line(tmp_path: Path, bare_tools: Path) -> None:
    done = run(["demo"], tmp_path, PATH=str(bare_tools))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: no Java found")


def test_old_java_is_one_line(tmp_path: Path, bare_tools: Path) -> None:
    java = bare_tools / "java"
    java.write_text("#!/usr/bin/env bash\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    done = run(["demo"], tmp_path, PATH=str(bare_tools))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Java 1.8.0_392 is too old" in done.stderr


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    done = run(["demo"], tmp_path, JAVA_HOME=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(tmp_path) in done.stderr


def test_a_spark_home_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch(mode=0o755)
    done = run(["demo"], tmp_path, SPARK_HOME=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is not Spark 4.2.0" in done.stderr


def test_executors_have_as_many_pools_of_memory_as_the_driver() -> None:
    script, conf = ((ROOT / name).read_text(encoding="utf-8") for name in ("spark-submit.sh", "conf/spark-defaults.conf"))
    driver = re.findall(r"^export MALLOC_ARENA_MAX=\$\{MALLOC_ARENA_MAX:-(\d+)\}$", script, re.M)
    assert len(driver) == 1
    assert driver == re.findall(r"^spark\.executorEnv\.MALLOC_ARENA_MAX\s+(\d+)$", conf, re.M)


def copied_project(folder: Path) -> Path:
    """The script and the code without an environment."""
    project = folder / "project"
    for name in (*CODE, "conf", "requirements"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "spark-submit.sh", project / "spark-submit.sh")
    return project


def test_a_wrong_python_is_one_line(tmp_path: Path, bare_tools: Path) -> None:
    old = bare_tools / "python3.11"
    old.unlink()
    (bare_tools / "python3").write_text("#!/usr/bin/env bash\n[[ $1 == --version ]] && echo Python 3.8.10\nexit 1\n")
    (bare_tools / "python3").chmod(0o755)
    done = subprocess.run(
        [copied_project(tmp_path) / "spark-submit.sh", "demo"], env={"PATH": str(bare_tools)}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "found: Python 3.8.10" in done.stderr


@pytest.mark.slow(reason="makes an environment without network: a quarter of a minute; the script's other refusals run by default")
def test_no_network_is_told_in_one_line_after_the_progress(tmp_path: Path) -> None:
    project = copied_project(tmp_path)
    environ = {
        **os.environ,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "0",
        "PIP_NO_CACHE_DIR": "1",
        "PYTHON": os.path.realpath(sys.executable),
    }
    environ.pop("PIP_FIND_LINKS", None)
    done = subprocess.run([project / "spark-submit.sh", "demo"], env=environ, capture_output=True, text=True, timeout=120)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2
    assert last.startswith("error: cannot install the Python packages (no network?): ERROR")
    assert "Traceback" not in done.stderr
    assert list((project / ".venv").glob("*.stamp")) == []
