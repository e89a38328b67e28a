"""What spark-submit.sh hands to Spark: on this machine, on a cluster, and where the driver runs on the cluster, too. Starts no Spark."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CLUSTER = "spark://h:7077"
#: Stands for the environment's Python: an environment in which everything is there, and a job that shows what it got.
PYTHON = """#!/usr/bin/env bash
case $3 in
console.needs) echo packages jars rules ;;
tools.environment) ;;
tools.code_zip) mkdir -p "$4" && touch "$4/abc.zip" && echo "$4/abc.zip" ;;
jobs) echo "$PYSPARK_SUBMIT_ARGS" ;;
esac
"""
SUBMIT = "#!/usr/bin/env bash\nprintf '%q ' \"$@\"\n"
JAVA = "#!/usr/bin/env bash\necho 'openjdk version \"17.0.9\"' >&2\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The script with its settings, and an environment that only looks like one."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "conf", project / "conf")
    shutil.copy(ROOT / "spark-submit.sh", project / "spark-submit.sh")
    for name, text in (("python", PYTHON), ("spark-submit", SUBMIT), ("java", JAVA)):
        program = project / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    (project / ".venv" / "jars").mkdir()
    (project / ".venv" / "jars" / "delta.jar").touch()
    return project


def options(project: Path, *arguments: str) -> dict[str, list[str]]:
    """Option → its values, in order; of --conf the keys are options."""
    keep = {key: value for key, value in os.environ.items() if not re.match("SPARK_|PYSPARK_|JAVA_HOME|PYTHON", key)}
    environ = {**keep, "PATH": f"{project / '.venv' / 'bin'}:{os.environ['PATH']}"}
    command = [project / "spark-submit.sh", "stream", *arguments]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60)
    words, found = iter(shlex.split(done.stdout)), dict[str, list[str]]()
    for word in words:
        if word.startswith("--"):
            value = next(words)
            key, _, value = value.partition("=") if word == "--conf" else (word, "", value)
            found.setdefault(key, []).append(value)
    return found


def test_workers_of_this_machine_need_nothing_sent(project: Path) -> None:
    found = options(project)
    assert found["spark.python.daemon.module"] == ["driver.python_daemon"]
    assert found.keys().isdisjoint({"--archives", "--py-files", "spark.executorEnv.PYTHONPATH"})


@pytest.mark.parametrize("master", [CLUSTER, "yarn", "k8s://https://h:6443", "local-cluster[2,1,1024]"])
def test_executors_get_code_and_rules_where_their_daemons_import(project: Path, master: str) -> None:
    found = options(project, "--master", master)
    assert found["--master"] == [master]
    assert found["--archives"] == [f"{project}/.venv/shipped/abc.zip#dispatch_analytics"]
    assert found["spark.executorEnv.PYTHONPATH"] == ["dispatch_analytics"]
    assert found["spark.python.daemon.module"] == ["driver.python_daemon"]
    assert "--py-files" not in found


def test_a_master_of_a_properties_file_counts(project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.conf").write_text(f"spark.master {CLUSTER}\n")
    assert "--archives" in options(project, "--properties-file", str(tmp_path / "mine.conf"))


def test_archives_paths_and_files_of_the_user_come_after_ours(project: Path) -> None:
    theirs = ("--archives", "env.zip#env", "--conf", "spark.executorEnv.PYTHONPATH=/opt/more", "--py-files", "a.py,b.py")
    found = options(project, "--master", CLUSTER, *theirs)
    assert found["--archives"] == [f"{project}/.venv/shipped/abc.zip#dispatch_analytics,env.zip#env"]
    assert found["spark.executorEnv.PYTHONPATH"] == ["dispatch_analytics:/opt/more"]
    assert found["--py-files"] == ["a.py,b.py"]
    found = options(project, *theirs)
    assert found["--archives"] == ["env.zip#env"]
    assert found["spark.executorEnv.PYTHONPATH"] == ["/opt/more"]
    assert options(project, "--conf", "spark.archives=x.zip")["--archives"] == ["x.zip"]


def test_a_driver_on_the_cluster_gets_the_code_under_another_name(project: Path) -> None:
    found = options(project, "--master", "yarn", "--deploy-mode", "cluster")
    shipped = project / ".venv" / "shipped"
    assert found["--archives"] == [f"{shipped}/abc.zip#dispatch_analytics"]
    assert found["--py-files"] == [f"{shipped}/abc-driver.zip"]
    assert sorted(path.name for path in shipped.iterdir()) == ["abc-driver.zip", "abc.zip"]
