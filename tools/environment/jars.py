"""Jars, as the locks in requirements/ name them: Spark's own Ivy gets them; then they are compared with their checksums."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from tools.environment.board import Board
from tools.environment.ivy import cause_of, ivy_command
from tools.environment.place import Place, SetUpFailed, digest
from tools.environment.tool import Tools


@dataclass(frozen=True)
class JarSet:
    """A lock of requirements/ and the folder of .venv with its jars."""

    part: str
    words: str
    lock: str
    folder: str


DELTA = JarSet("jars", "Delta's jars", "jars.lock", "jars")
#: Only where a topic is read.
KAFKA = JarSet("kafka", "Kafka's jars", "kafka-jars.lock", "kafka-jars")
#: Only where a log or a warehouse is in S3.
S3 = JarSet("s3", "S3's jars", "s3-jars.lock", "s3-jars")
#: The same for Google's store, and for Azure's.
GOOGLE = JarSet("google", "Google's connector", "google-jars.lock", "google-jars")
AZURE = JarSet("azure", "Azure's connector", "azure-jars.lock", "azure-jars")
_RETRIEVED = "[organisation]_[artifact]-[revision].[ext]"


@dataclass(frozen=True)
class Jar:
    """A jar of a Maven repository. `classifier` is that of one beside the main jar."""

    sha256: str
    group: str
    artifact: str
    version: str
    classifier: str = ""

    @property
    def file(self) -> str:
        """Its name in our folder: two groups may use one name."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"

    @property
    def dependency(self) -> str:
        """As a line of an ivy.xml: the jar itself, without what it asks for."""
        name = f"org={quoteattr(self.group)} name={quoteattr(self.artifact)} rev={quoteattr(self.version)}"
        if not self.classifier:
            return f'<dependency {name} transitive="false" conf="default->master"/>'
        jar = f'<artifact name={quoteattr(self.artifact)} type="jar" ext="jar" m:classifier={quoteattr(self.classifier)}/>'
        return f'<dependency {name} transitive="false" conf="default->master">{jar}</dependency>'


def jars_of(text: str) -> list[Jar]:
    """The jars of a lock."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [Jar(sha256, *name.split(":")) for sha256, name in lines]


def content(place: Place, wanted: JarSet) -> str:
    """What a complete folder of jars was made of."""
    return digest(place.requirements(wanted.lock))


def make_jars(wanted: JarSet, place: Place, board: Board, tools: Tools) -> None:
    """Get all; the folder appears whole or not at all. Needs the packages. Raises SetUpFailed."""
    jars = jars_of(place.requirements(wanted.lock).read_text(encoding="utf-8"))
    folder = place.venv / wanted.folder
    work, log = place.venv / f"{wanted.folder}.work", place.log(wanted.part)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    board.at(wanted.part, f"0 of {len(jars)}")
    done = 0

    def follow(line: str) -> None:
        nonlocal done
        done += "[SUCCESSFUL ]" in line
        board.at(wanted.part, f"{done} of {len(jars)}")

    command = ivy_command(place, work, [jar.dependency for jar in jars], f"{work / 'jars'}/{_RETRIEVED}")
    if not tools.run(command, log, os.environ, follow):
        raise SetUpFailed(f"cannot get {wanted.words} (no network?): {cause_of(log)}; all of it: {log}")
    check(wanted, jars, work / "jars")
    shutil.rmtree(folder, ignore_errors=True)
    (work / "jars").rename(folder)
    shutil.rmtree(work)
    place.stamp(wanted.part, content(place, wanted))
    board.done(wanted.part)


def check(wanted: JarSet, jars: list[Jar], folder: Path) -> None:
    """Raise SetUpFailed for a jar that is not the one that is meant."""
    for jar in jars:
        found = digest(folder / jar.file) if (folder / jar.file).exists() else "none: it is missing"
        if found != jar.sha256:
            raise SetUpFailed(f"the jar {jar.file} is not the one of requirements/{wanted.lock}: its SHA-256 is {found}")
