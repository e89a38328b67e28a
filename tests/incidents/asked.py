"""Loaded incidents, and what its checks find wrong: the answers of `explain`, `why` and `sql`, without a process for each."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from loaded import load_into

from console.shown import visible
from incidents.corpus import INCIDENTS
from incidents.incident import Check
from incidents.scene import START
from jobs.explain import BEHIND, WELL
from pipeline.diagnosis.answer import answer
from pipeline.diagnosis.words import text_lines
from pipeline.query.room import ReadingRoom
from pipeline.times import time_of


@dataclass(frozen=True)
class Asked:
    """The tables of all incidents. Each question is asked once: several checks look at one answer."""

    room: ReadingRoom
    _documents: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    def document(self, check: Check) -> dict[str, Any]:
        """What `explain` answers."""
        assert check.explain is not None
        asked = (check.explain, check.at, check.window)
        if asked not in self._documents:
            at = None if check.at is None else time_of("--at", START) + timedelta(seconds=check.at)
            self._documents[asked] = answer(self.room, *check.explain, None, at, timedelta(seconds=check.window))
        return self._documents[asked]

    def why(self, topic: str, subscription: str) -> dict[str, Any]:
        """Its row of `why`."""
        (row,) = (row for row in self._why if (row["topic"], row["subscription"]) == (topic, subscription))
        return row

    @cached_property
    def _why(self) -> list[dict[str, Any]]:
        return self.room.rows("SELECT * FROM why")

    def differences(self, check: Check) -> list[str]:
        """What is wrong."""
        if check.sql is not None:
            rows = [list(row.values()) for row in self.room.rows(check.sql)]
            return [] if rows == [list(row) for row in check.rows] else [f"is {rows}, not {check.rows}"]
        if check.why is not None:
            return _values(check, self.why(*check.why))
        found = self.document(check)
        status = BEHIND if found["behind"] else WELL
        wrong = [f"exit status is {status}, not {check.exit}: {found['verdict']}"] if check.exit not in (None, status) else []
        return [*wrong, *_values(check, found), *_words(check, text_of(found))]


def _values(check: Check, found: Mapping[str, Any]) -> list[str]:
    got = {path: look_up(found, path) for path in (*check.document, *check.within, *check.unlike)}
    wrong = [f"{path} is {got[path]!r}, not {value!r}" for path, value in check.document.items() if got[path] != value]
    wrong += [f"{path} is {value!r}" for path, value in check.unlike.items() if got[path] == value]
    return wrong + [
        f"{path} is {got[path]!r}, not within {least} to {most}"
        for path, (least, most) in check.within.items()
        if got[path] is None or not least <= got[path] <= most
    ]


def _words(check: Check, text: str) -> list[str]:
    flat = " ".join(text.split()).lower()
    wrong = [f"does not have {words!r}" for words in check.says if words.lower() not in flat]
    return wrong + [f"has {words!r}" for words in check.never if words.lower() in flat]


def text_of(document: dict[str, Any]) -> str:
    """What a person sees."""
    return "\n".join(map(visible, text_lines(document)))


def look_up(document: Any, path: str) -> Any:
    """`catch_up.allowed`, `limits[0].rate`: a key of a key, a place of a list; None where there is none."""
    for part in re.findall(r"\w+", path):
        if document is None:
            return None
        key = int(part) if isinstance(document, list) else part
        document = None if isinstance(key, int) and key >= len(document) else document[key]
    return document


def write_log(name: str, folder: Path) -> Path:
    """The log of an incident: a file per broker."""
    incident = INCIDENTS[name]
    for scene in incident.scenes():
        scene.write(folder, incident.until)
    return folder


@cache
def loaded_incidents() -> Asked:
    """All incidents, each with brokers and topics of its own, loaded once for all tests of a process; no line of a log is rejected."""
    folder = Path(mkdtemp(prefix="incidents-"))
    for name in INCIDENTS:
        write_log(name, folder / "log")
    room = ReadingRoom(load_into(folder / "log", folder / "warehouse"))
    assert room.rows("SELECT * FROM quarantine") == []
    return Asked(room)


def checks() -> Iterable[tuple[str, Check]]:
    """Every check with the name of its incident."""
    return ((name, check) for name, incident in INCIDENTS.items() for check in incident.checks)
