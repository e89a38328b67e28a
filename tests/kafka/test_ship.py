"""The shipper beside a real Kafka: a collector's folder reaches the topic whole, also when the shipper was killed."""

import gzip
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation
from kafka_broker import JOB, SHIPPER, KafkaBroker
from test_kafka_source import ROOT, assert_same_tables, beats, demo_lines, seqs

from pipeline.warehouse.layout import Warehouse

PATIENCE_S = 180.0


def shipper(folder: Path, to: str, *more: str) -> "subprocess.Popen[str]":
    """Started as a user starts it, in a process group of its own."""
    command = [str(ROOT / "spark-submit.sh"), "ship", "--events", str(folder), "--to", to, *more]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    said, _ = process.communicate(timeout=PATIENCE_S)
    return process.returncode, said


def ship_once(folder: Path, to: str, *more: str) -> tuple[int, str]:
    return ended(shipper(folder, to, *more))


def kill(process: "subprocess.Popen[str]") -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def put(folder: Path, name: str, lines: list[bytes]) -> None:
    """As the collector does: written under another name, and renamed when it is whole."""
    folder.mkdir(exist_ok=True)
    unfinished = folder / f"_unfinished-{name}"
    unfinished.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines), 1))
    unfinished.rename(folder / name)


def collectors_folder(folder: Path, files: int) -> list[bytes]:
    """A real broker's log in so many files; its lines."""
    lines = demo_lines()
    size = -(-len(lines) // files)
    for start in range(0, len(lines), size):
        put(folder, f"b-1-{start + 1}.jsonl.gz", lines[start : start + size])
    return lines


def test_a_shipped_folder_gives_the_tables_of_its_files_also_when_the_shipper_was_killed(
    kafka: KafkaBroker, stream_once: Callable, tmp_path: Path
) -> None:
    folder, address = tmp_path / "log", kafka.make("shipped", 3)
    lines = collectors_folder(folder, 8)
    process = shipper(folder, address, "--follow")
    # Two files are noted; the third is on its way.
    wait_until(lambda: (folder / "_shipped-shipped.json").exists() and (folder / "_shipped-shipped.json").read_text().count(".gz") >= 2)
    kill(process)
    code, said = ship_once(folder, address)
    assert code == 0, said
    # The kill may have come between two files: a note that lacks one makes sure that something is repeated.
    note = folder / "_shipped-shipped.json"
    noted = json.loads(note.read_text())
    del noted["shipped"]["b-1-1.jsonl.gz"]
    note.write_text(json.dumps(noted))
    assert ship_once(folder, address)[0] == 0

    there = Counter(kafka.lines("shipped"))
    assert set(there) == set(lines)
    assert sum(there.values()) >= len(lines) + len(lines) // 8
    of_files, of_topic = Warehouse(str(tmp_path / "files")), Warehouse(str(tmp_path / "topic"))
    for events, warehouse in ((folder, of_files), (address, of_topic)):
        done = stream_once(events, warehouse, "--drain")
        assert done.code == 0, done.said
    assert set(seqs(of_topic)) == set(seqs(of_files))
    assert_same_tables(of_files, of_topic, repeats=True)


def test_who_follows_ships_what_appears(kafka: KafkaBroker, tmp_path: Path) -> None:
    folder, address = tmp_path / "log", kafka.make("followed")
    put(folder, "b-1-1.jsonl.gz", beats(1, 10))
    process = shipper(folder, address, "--follow")
    try:
        wait_until(lambda: len(kafka.lines("followed")) == 10)
        growing = folder / "_unfinished-b-1-11"
        flushed = [gzip.compress(b"".join(line + b"\n" for line in part)) for part in (beats(11, 20), beats(21, 30))]
        growing.write_bytes(flushed[0] + flushed[1][:9])
        wait_until(lambda: len(kafka.lines("followed")) == 20)
        growing.write_bytes(flushed[0] + flushed[1])
        growing.rename(folder / "b-1-11.jsonl.gz")
        wait_until(lambda: len(kafka.lines("followed")) == 30)
    finally:
        kill(process)
    assert kafka.lines("followed") == beats(1, 30)


def test_all_lines_of_a_broker_are_in_one_partition(kafka: KafkaBroker, tmp_path: Path) -> None:
    address = kafka.make("keyed", 4)
    put(tmp_path / "log", "b-1-1.jsonl.gz", beats(1, 200))
    assert ship_once(tmp_path / "log", address)[0] == 0
    assert kafka.lines("keyed") == beats(1, 200)  # partition by partition, and still in order


def test_a_line_that_no_record_can_hold_is_reported_until_somebody_has_read_it(kafka: KafkaBroker, tmp_path: Path) -> None:
    """The client refuses the line before Kafka sees it."""
    folder, address = tmp_path / "log", kafka.make("large")
    put(folder, "b-1-1.jsonl.gz", [*beats(1, 2), b"x" * 1_100_000, *beats(3, 4)])
    fault = "b-1-1.jsonl.gz, line 3: longer than a record may be (message.max.bytes, max.message.bytes): not shipped"
    code, said = ship_once(folder, address)
    assert (code, f"ship: warning: {fault}" in said) == (1, True), said
    assert kafka.lines("large") == beats(1, 4)
    code, said = ship_once(folder, address)
    assert (code, f"warning: not shipped, 1 in all: {fault}" in said) == (1, True), said
    assert (folder / "_not-shipped-large.txt").read_text() == fault + "\n"
    (folder / "_not-shipped-large.txt").unlink()
    assert ship_once(folder, address)[0] == 0
    assert kafka.lines("large") == beats(1, 4)


def test_an_absent_topic_is_one_line_and_is_not_made(kafka: KafkaBroker, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    code, said = ship_once(tmp_path / "log", kafka.address("not-made"))
    assert (code, "there is no topic not-made" in said.splitlines()[-1]) == (2, True), said
    assert "not-made" not in kafka.admin.list_topics(timeout=5).topics


@pytest.mark.parametrize("line", ["security.protokol=SSL", "message.max.bytes=soon"])
def test_a_setting_that_the_client_does_not_know_is_named(kafka: KafkaBroker, tmp_path: Path, line: str) -> None:
    (tmp_path / "log").mkdir()
    client = tmp_path / "client"
    client.write_text(line)
    code, said = ship_once(tmp_path / "log", kafka.address("any"), "--client-file", str(client))
    assert (code, line.partition("=")[0] in said.splitlines()[-1]) == (2, True), said


def test_tls_and_a_password_on_both_sides(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    kafka.make("secret")
    kafka.allow(SHIPPER, "secret", AclOperation.WRITE)
    kafka.allow(JOB, "secret", AclOperation.READ)
    address, warehouse = f"kafka://{kafka.secure_servers}/secret", Warehouse(str(tmp_path / "w"))
    put(tmp_path / "log", "b-1-1.jsonl.gz", beats(1, 40))
    files = {name: tmp_path / name for name in ("ship", "ship-wrong", "job", "job-wrong")}
    files["ship"].write_text(kafka.shipper_client())
    files["ship-wrong"].write_text(kafka.shipper_client("wrong"))
    files["job"].write_text(kafka.java_client())
    files["job-wrong"].write_text(kafka.java_client("wrong"))
    code, said = ship_once(tmp_path / "log", address, "--client-file", str(files["ship-wrong"]))
    assert (code, "uthentication" in said.splitlines()[-1]) == (2, True), said
    code, said = ship_once(tmp_path / "log", address, "--client-file", str(files["ship"]))
    assert code == 0, said
    refused = stream_once(address, warehouse, "--set", f"kafka.client_file={files['job-wrong']}")
    assert (refused.code, "uthentication" in refused.error) == (2, True), refused.said
    done = stream_once(address, warehouse, "--set", f"kafka.client_file={files['job']}")
    assert done.code == 0, done.said
    assert seqs(warehouse) == list(range(1, 41))


def test_a_right_on_the_topic_is_all_that_each_needs(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    kafka.make("guarded")
    address, warehouse = f"kafka://{kafka.secure_servers}/guarded", Warehouse(str(tmp_path / "w"))
    put(tmp_path / "log", "b-1-1.jsonl.gz", beats(1, 40))
    ship, job = tmp_path / "ship", tmp_path / "job"
    ship.write_text(kafka.shipper_client())
    job.write_text(kafka.java_client())
    code, said = ship_once(tmp_path / "log", address, "--client-file", str(ship))
    assert (code, "or this client may not see it" in said.splitlines()[-1]) == (2, True), said
    kafka.allow(SHIPPER, "guarded", AclOperation.WRITE)
    code, said = ship_once(tmp_path / "log", address, "--client-file", str(ship))
    assert code == 0, said
    refused = stream_once(address, warehouse, "--set", f"kafka.client_file={job}")
    assert (refused.code, "authoriz" in refused.error) == (2, True), refused.said
    kafka.allow(JOB, "guarded", AclOperation.READ)
    done = stream_once(address, warehouse, "--set", f"kafka.client_file={job}")
    assert done.code == 0, done.said
    assert seqs(warehouse) == list(range(1, 41))
