"""`python -m tools.environment PART…`: make what is missing of these parts of the environment. spark-submit.sh calls it.

packages: those of the product. jars: those of Delta. classes: those of Spark, for Java to share. kafka: jars that read a topic.
s3, google, azure: jars that open s3a://, gs://, abfss://.
rules: compiled.
quality: packages of the quality job.
tests: packages of the tests. broker: a client that loads a real broker. serve: an HTTP server. dashboards: a builder of them.
browser: a driver of a browser.
ship: a client that writes records to Kafka.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from typing import Any

from tools.environment import classes, jars, packages, rules
from tools.environment.board import Board
from tools.environment.place import Place, SetUpFailed
from tools.environment.tool import Tools

PACKAGES, JARS, CLASSES, RULES = "packages", jars.DELTA.part, classes.PART, rules.PART
KAFKA, S3 = jars.KAFKA.part, jars.S3.part
GOOGLE, AZURE = jars.GOOGLE.part, jars.AZURE.part
JAR_SETS = (jars.DELTA, jars.KAFKA, jars.S3, jars.GOOGLE, jars.AZURE)
#: Sets of packages beside what runs; each is asked for by its name.
LATER = (packages.QUALITY, packages.TESTS, packages.BROKER, packages.SERVE, packages.DASHBOARDS, packages.BROWSER, packages.SHIP)
#: All that is made on request only.
REQUESTED = (KAFKA, S3, GOOGLE, AZURE, *LATER)
PARTS = (PACKAGES, JARS, CLASSES, RULES, *REQUESTED)
#: How much is said of each before it is made: seconds on two quiet cores with a fast network, and MB.
WORDS = {
    PACKAGES: "Python packages, 40 s, 1,300 MB",
    JARS: "Delta's jars, 10 s, 13 MB",
    CLASSES: "Spark's classes for Java to share, less than a minute, 150 MB",
    KAFKA: "Kafka's jars, 5 s, 7 MB",
    S3: "S3's jars, 10 s, 12 MB",
    GOOGLE: "Google's connector, 5 s, 37 MB",
    AZURE: "Azure's connector, 3 s, 1 MB",
    RULES: "compiled rules, two minutes, 28 MB",
    packages.QUALITY: "packages of the quality job",
    packages.TESTS: "packages of the tests",
    packages.BROKER: "a client of Pulsar, 2 s, 25 MB",
    packages.SERVE: "an HTTP server, 2 s, 3 MB",
    packages.DASHBOARDS: "a builder of Grafana's dashboards, 2 s, 3 MB",
    packages.BROWSER: "a driver of a browser, 5 s, 130 MB",
    packages.SHIP: "a client of Kafka, 6 s, 50 MB",
}


def missing_parts(place: Place, asked: Sequence[str]) -> list[str]:
    """Those of the parts that are not complete, in the order of PARTS."""
    return [part for part in PARTS if part in asked and not (place.python.exists() and _is_complete(place, part))]


def _is_complete(place: Place, part: str) -> bool:
    if part == RULES:
        return rules.are_complete(place)
    if part == CLASSES:
        return classes.are_complete(place)
    return place.is_stamped(part, _content(place, part))


def _content(place: Place, part: str) -> str:
    for wanted in JAR_SETS:
        if part == wanted.part:
            return jars.content(place, wanted)
    return packages.content(place, packages.RUN if part == PACKAGES else part)


def make(place: Place, missing: Sequence[str], board: Board) -> None:
    """Make these parts, beside each other where they can be. Raises SetUpFailed for the first that cannot be made."""
    if not packages.has_python(place):
        packages.make_venv(place, board)
    tools = Tools()
    with ThreadPoolExecutor(max_workers=len(PARTS)) as threads:
        try:
            for work in as_completed(_begun(place, missing, board, tools, threads)):
                work.result()
        except BaseException:
            tools.stop()
            raise
    for name in LATER:
        if name in missing:
            packages.install(place, f"packages for {name}", packages.pins_of(place.requirements(f"{name}.lock")), board, tools)
            place.stamp(name, _content(place, name))


def _begun(place: Place, missing: Sequence[str], board: Board, tools: Tools, threads: ThreadPoolExecutor) -> list[Future[None]]:
    """All that runs makes, begun. The rules compile as soon as what they import is there: they take one core longer than all else."""
    begun: list[Future[None]] = []

    def begin(function: Any, *arguments: Any) -> Future[None]:
        begun.append(threads.submit(function, *arguments))
        return begun[-1]

    for_rules = complete = None
    if PACKAGES in missing:
        place.forget(PACKAGES)
        pins = packages.pins_of(place.requirements("run.lock"))
        for_rules = begin(packages.install, place, "packages of the rules", [*filter(packages.is_for_rules, pins)], board, tools)
        rest = begin(packages.install, place, "packages", [pin for pin in pins if not packages.is_for_rules(pin)], board, tools)
        complete = begin(_finish_packages, [for_rules, rest], place, board, tools)
    if RULES in missing:
        for_tests = packages.TESTS in missing or _is_complete(place, packages.TESTS)
        begin(_after, for_rules, partial(rules.make_rules, for_tests=for_tests), place, board, tools)
    made = {
        wanted.part: begin(_after, complete, partial(jars.make_jars, wanted), place, board, tools)
        for wanted in JAR_SETS
        if wanted.part in missing
    }
    if CLASSES in missing:
        begin(_after, made.get(JARS, complete), classes.make_classes, place, board, tools)
    return begun


def _finish_packages(installed: list[Future[None]], place: Place, board: Board, tools: Tools) -> None:
    for one in installed:
        one.result()
    packages.import_all(place, board, tools)
    place.stamp(PACKAGES, _content(place, PACKAGES))


def _after(
    earlier: Future[None] | None, make_part: Callable[[Place, Board, Tools], None], place: Place, board: Board, tools: Tools
) -> None:
    if earlier is not None:
        earlier.result()
    make_part(place, board, tools)


@contextmanager
def alone(place: Place, board: Board) -> Iterator[None]:
    """One set-up at a time. The lock ends with the process, however that ends."""
    with place.lock_file.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            board.say(f"waiting for another set-up (process {lock.read() or '?'})")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def main(asked: Sequence[str]) -> int:
    """Exit code: 0 if everything is there now, 2 (with one line on stderr) if something cannot be made."""
    place, board = Place(), Board()
    unknown = [part for part in asked if part not in PARTS]
    if unknown:
        print(f"error: set-up knows no {unknown[0]}; it makes what runs, and on request: {', '.join(REQUESTED)}", file=sys.stderr)
        return 2
    if not missing_parts(place, asked):
        return 0
    # As Ctrl-C does: the programs that were started end, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    began_s = time.monotonic()
    try:
        with alone(place, board):
            missing = missing_parts(place, asked)
            if missing:
                board.say(f"setting up {place.venv} (once): {'; '.join(WORDS[part] for part in missing)}")
                with board.shown():
                    make(place, missing, board)
                board.say(f"set up in {time.monotonic() - began_s:.0f} s")
    except SetUpFailed as fault:
        board.say(f"error: {fault}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
