"""Pulsar's Java admin client and its command line 4.0.8, of jars that Maven fetches once."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tools.maven import MavenProject, java_tool

HERE = Path(__file__).parent
_PATIENCE_S = 120


def jars() -> str:
    """The class path of both."""
    project = MavenProject(HERE)
    folder = project.kept / "jars"
    if not folder.exists():
        fetched = project.run("dependency:copy-dependencies", f"-DoutputDirectory={project.kept / 'fetched-jars'}")
        assert fetched == 0, "Maven cannot fetch Pulsar's admin client"
        (project.kept / "fetched-jars").rename(folder)
    return f"{folder}/*"


def java_answers(*arguments: str) -> Any:
    """The JSON that AdminAnswers.java prints."""
    return json.loads(_run(str(HERE / "AdminAnswers.java"), *arguments))


def admin_tool(url: str, folder: Path, *command: str) -> str:
    """What `pulsar-admin --admin-url URL COMMAND…` prints. It reads a file of settings, which is empty."""
    settings = folder / "client.conf"
    settings.touch()
    return _run("org.apache.pulsar.admin.cli.PulsarAdminTool", str(settings), "--admin-url", url, *command)


def _run(*arguments: str) -> str:
    command = [java_tool("java"), "-cp", jars(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout
