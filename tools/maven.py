"""Maven for the collector: the machine's own, or one that Spark's Ivy gets, once."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.faults import BadConfig
from tools.environment.ivy import cause_of, ivy_command
from tools.environment.place import Place, digest
from tools.environment.tool import Tools

VERSION = "3.9.11"
SHA256 = "0d7125e8c91097b36edb990ea5934e6c68b4440eef4ea96510a0f6815e7eeadb"
_DEPENDENCY = (
    f'<dependency org="org.apache.maven" name="apache-maven" rev="{VERSION}" transitive="false" conf="default->master">'
    '<artifact name="apache-maven" type="zip" ext="zip" m:classifier="bin"/></dependency>'
)
_VERSION = re.compile(r"^javac (\d+)\S*", re.MULTILINE)
_OLDEST_JAVA = 17


@dataclass(frozen=True)
class MavenProject:
    """A folder with a pom.xml, and what Maven keeps for it in `.maven`: a repository of its own, maybe Maven itself.

    Its own, because poms without jars in the user's repository stop Spark's Ivy.
    """

    folder: Path
    place: Place = field(default_factory=Place)

    @property
    def kept(self) -> Path:
        """What may be deleted: it is fetched again."""
        return self.folder / ".maven"

    def run(self, *arguments: str) -> int:
        """Run Maven, its output on ours; returns its exit status. Offline if everything was fetched for this very pom.xml before."""
        check_jdk()
        maven = shutil.which("mvn") or str(self._fetched())
        self.kept.mkdir(exist_ok=True)
        stamp, content = self.kept / "fetched.stamp", digest(self.folder / "pom.xml")
        offline = ["-o"] if stamp.exists() and stamp.read_text(encoding="utf-8") == content else []
        # Colour only where somebody sees it.
        colour = "auto" if sys.stdout.isatty() else "never"
        quiet = ("-B", "-ntp", "-q", f"-Dstyle.color={colour}")
        command = [maven, *quiet, *offline, f"-Dmaven.repo.local={self.kept / 'repository'}", *arguments]
        status = subprocess.run(command, cwd=self.folder, check=False, stdin=subprocess.DEVNULL).returncode
        if status == 0:
            stamp.write_text(content, encoding="utf-8")
        return status

    def _fetched(self) -> Path:
        home = self.kept / f"apache-maven-{VERSION}"
        if not home.exists():
            print(f"no Maven found: fetching Maven {VERSION}, once", flush=True)
            self._fetch()
        return home / "bin" / "mvn"

    def _fetch(self) -> None:
        work = self.kept / "fetching"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        command = ivy_command(self.place, work, [_DEPENDENCY], f"{work}/[artifact]-[revision].[ext]")
        if not Tools().run(command, work / "ivy.log", os.environ, lambda line: None):
            raise BadConfig(f"cannot get Maven (no network?): {cause_of(work / 'ivy.log')}; install Maven, or repeat")
        packed = work / f"apache-maven-{VERSION}.zip"
        if digest(packed) != SHA256:
            raise BadConfig(f"the Maven that was fetched is not {VERSION}: its SHA-256 is {digest(packed)}; install Maven")
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(work)
        (work / f"apache-maven-{VERSION}" / "bin" / "mvn").chmod(0o755)
        # It appears whole or not at all.
        (work / f"apache-maven-{VERSION}").rename(self.kept / f"apache-maven-{VERSION}")
        shutil.rmtree(work)


def java_tool(name: str) -> str:
    """A program of the Java in use: of JAVA_HOME, else of the PATH. BadConfig if it is not there."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=f"{home}/bin") if home else shutil.which(name)
    if found is None:
        where = f"JAVA_HOME={home}" if home else "the PATH"
        raise BadConfig(
            f"no {name} in {where}: install a JDK {_OLDEST_JAVA} or newer (Debian, Ubuntu: apt install openjdk-17-jdk-headless)"
        )
    return found


def check_jdk() -> None:
    """BadConfig if there is no compiler, or one that is too old."""
    version = subprocess.run([java_tool("javac"), "-version"], capture_output=True, text=True, check=False)
    # Other lines may be there: Java tells which options it took from the environment.
    found = _VERSION.search(version.stdout + version.stderr)
    if found is None:
        raise BadConfig(f"javac -version does not say its version: install a JDK {_OLDEST_JAVA} or newer, or set JAVA_HOME")
    if int(found[1]) < _OLDEST_JAVA:
        raise BadConfig(f"{found[0]} is too old: the collector needs a JDK {_OLDEST_JAVA} or newer; set JAVA_HOME")
