"""A warehouse in which all is right though its log had troubles: part of the demo's, lines damaged, repeated and late."""

import gzip
import json
import random
from pathlib import Path

import pytest
from loaded import load_into
from planted_room import PlantedRoom

from pipeline.warehouse.layout import Warehouse

DEMO = Path(__file__).resolve().parents[2] / "demo/y_incident/events.jsonl.gz"
#: Until after its first round of checks that exceeds a quota, the third of all.
EVENTS = 8_700


def damaged_log() -> list[bytes]:
    """Lines with tombstones (wrong type), losses (cut) and repeats; and one that is late: it comes after the end of its epoch."""
    with gzip.open(DEMO, "rb") as lines:
        log = [next(lines).rstrip(b"\n") for _ in range(EVENTS)]
    small = [position for position, line in enumerate(log) if json.loads(line)["type"] in ("ack", "request")]
    damaged = sorted(random.Random(3).sample(small, 20))
    last = json.loads(log[-1])
    for position in damaged[10:]:
        log[position] = json.dumps({**json.loads(log[position]), "ts": "now", "topic": 7}).encode()
    for position in damaged[:5]:
        log[position] = log[position][:40]
    for position in damaged[5:10]:
        log[position] = json.dumps({**json.loads(log[position]), "topic": 7}).encode()
    head = {name: last[name] for name in ("v", "broker", "epoch", "ts", "ns")}
    ends = [{**head, "seq": last["seq"] + 1, "type": "broker_stop"}, {**head, "seq": last["seq"] + 2, "type": "heartbeat", "dropped": 0}]
    return [*log, *log[100:130], *(json.dumps(event).encode() for event in ends)]


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The log's tables."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "events").mkdir()
    (folder / "events" / "a.jsonl").write_bytes(b"\n".join(damaged_log()) + b"\n")
    return load_into(folder / "events", folder / "warehouse", lanes__window_ms="5000")


@pytest.fixture(scope="module")
def room(sound: Warehouse) -> PlantedRoom:
    """A room of it."""
    return PlantedRoom(sound, consistent=True)
