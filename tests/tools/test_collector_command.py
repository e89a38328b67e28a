"""The command `collector` with programs that only note how they were called: which Maven, when offline, what an absent JDK looks like."""

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from console.command_line import main
from pipeline.faults import BadConfig
from tools import collector_jar as collector
from tools import maven
from tools.environment.place import Place
from tools.maven import MavenProject


def program(path: Path, script: str) -> Path:
    """A shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with the shell and a compiler of the right version, and nothing else."""
    folder = tmp_path / "bin"
    program(folder / "javac", "echo javac 17.0.15")
    for name in ("sh", "cat", "touch", "mkdir"):
        (folder / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> MavenProject:
    """A folder with a pom.xml."""
    folder = tmp_path / "collector"
    folder.mkdir()
    (folder / "pom.xml").write_text("<project/>")
    return MavenProject(folder, Place(tmp_path))


#: Ivy is given last where to put what, as a pattern of names; it fails for one without the name of the artifact.
IVY = 'for last; do :; done; folder="${last%/*}"; case "$last" in */[[]artifact]-[[]revision].[[]ext]) ;; *) exit 1 ;; esac;'


def noting(calls: Path, status: int = 0) -> str:
    return f'echo "$*" >> {calls}; exit {status}'


def test_what_was_fetched_for_this_pom_is_not_fetched_again(project: MavenProject, tools: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    program(tools / "mvn", noting(calls))
    assert [project.run("package"), project.run("package")] == [0, 0]
    (project.folder / "pom.xml").write_text("<project>changed</project>")
    assert project.run("package") == 0
    repository = f"-Dmaven.repo.local={project.folder}/.maven/repository"
    always = "-B -ntp -q -Dstyle.color=never"
    online, offline = f"{always} {repository} package", f"{always} -o {repository} package"
    assert calls.read_text().splitlines() == [online, offline, online]


def test_a_build_that_fails_goes_online_the_next_time(project: MavenProject, tools: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    program(tools / "mvn", noting(calls, 1))
    assert [project.run("package"), project.run("package")] == [1, 1]
    assert not any(" -o " in line for line in calls.read_text().splitlines())


def test_maven_is_fetched_once_where_there_is_none(
    project: MavenProject, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = tmp_path / "calls"
    archive = tmp_path / "maven.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(f"apache-maven-{maven.VERSION}/bin/mvn", f"#!/bin/sh\n{noting(calls)}\n")
    monkeypatch.setattr(maven, "SHA256", maven.digest(archive))
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars").mkdir(parents=True)
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars/ivy-2.jar").touch()
    program(tools / "java", f'{IVY} cat {archive} > "$folder/apache-maven-{maven.VERSION}.zip"; echo "$*" >> {tmp_path}/ivy')
    assert [project.run("package"), project.run("package")] == [0, 0]
    assert len((tmp_path / "ivy").read_text().splitlines()) == 1
    assert len(calls.read_text().splitlines()) == 2
    assert capsys.readouterr().out == f"no Maven found: fetching Maven {maven.VERSION}, once\n"


def test_a_maven_that_is_another_one_is_refused(project: MavenProject, tools: Path, tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars").mkdir(parents=True)
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars/ivy-2.jar").touch()
    program(tools / "java", f'{IVY} echo other > "$folder/apache-maven-{maven.VERSION}.zip"')
    with pytest.raises(BadConfig, match="is not 3"):
        project.run("package")
    assert not (project.kept / f"apache-maven-{maven.VERSION}").exists()


def test_no_network_is_one_line(project: MavenProject, tools: Path, tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars").mkdir(parents=True)
    (tmp_path / ".venv/lib/python3.11/site-packages/pyspark/jars/ivy-2.jar").touch()
    program(tools / "java", "echo apache-maven: not found; exit 1")
    with pytest.raises(BadConfig, match=r"cannot get Maven \(no network\?\): apache-maven: not found"):
        project.run("package")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo javac 1.8.0_392", "javac 1.8.0_392 is too old"),
        ("echo javac 11.0.1 >&2", "javac 11.0.1 is too old"),
        ("echo nothing", "javac -version does not say its version"),
    ],
)
def test_an_old_jdk_is_one_line(project: MavenProject, tools: Path, script: str, words: str) -> None:
    program(tools / "javac", script)
    with pytest.raises(BadConfig, match=words):
        project.run("package")


def test_a_jdk_may_say_which_options_it_took_from_the_environment(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    program(tools / "javac", "echo javac 17.0.15; echo 'Picked up JAVA_TOOL_OPTIONS: -Dx=11' >&2")
    maven.check_jdk()
    program(tools / "javac", "echo javac 11.0.1; echo 'Picked up JAVA_TOOL_OPTIONS: -Dx=17' >&2")
    with pytest.raises(BadConfig, match=r"^javac 11\.0\.1 is too old"):
        maven.check_jdk()


def test_a_missing_jdk_is_one_line(project: MavenProject, tools: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tools / "javac").unlink()
    with pytest.raises(BadConfig, match="no javac in the PATH: install a JDK 17"):
        project.run("package")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadConfig, match=f"no javac in JAVA_HOME={tmp_path}"):
        project.run("package")


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command looks for the jar, and makes it."""
    folder = tmp_path / "collector"
    (folder / "target").mkdir(parents=True)
    (folder / "pom.xml").write_text("<project/>")
    made = folder / "target" / "dispatch-collector.jar"
    monkeypatch.setattr(collector, "PROJECT", folder)
    monkeypatch.setattr(collector, "JAR", made)
    monkeypatch.setattr(collector, "ROOT", tmp_path)
    return made


def test_build_ends_with_what_it_made_or_with_1(jar: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(tools / "mvn", f"echo jar > {jar}")
    assert main(["collector", "build"]) == 0
    assert "made collector/target/dispatch-collector.jar" in capsys.readouterr().out
    program(tools / "mvn", "exit 1")
    assert main(["collector", "build"]) == 1
    assert not jar.exists(), "an older jar is not taken for the new one"


@pytest.mark.parametrize(("status", "lib"), [(0, True), (1, False)])
def test_points_looks_into_the_jars_of_a_broker(jar: Path, tools: Path, tmp_path: Path, status: int, lib: bool) -> None:
    jar.touch()
    broker = tmp_path / "pulsar"
    jars = broker / "lib" if lib else broker
    jars.mkdir(parents=True)
    program(tools / "java", noting(tmp_path / "calls", status))
    assert main(["collector", "points", "--broker", str(broker)]) == status
    assert (tmp_path / "calls").read_text() == f"-jar {jar} {jars}\n"


def test_points_without_the_jar_names_the_command(jar: Path, tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collector", "points", "--broker", str(tmp_path)]) == 2
    assert "make it by ./spark-submit.sh collector build" in capsys.readouterr().err


def test_the_folder_of_the_real_one_has_what_is_built() -> None:
    assert (collector.PROJECT / "pom.xml").exists()
    assert os.path.relpath(collector.JAR, collector.ROOT) == "collector/target/dispatch-collector.jar"
